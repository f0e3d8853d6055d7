#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Whatever an agent says, the controller refuses with a reason, and goes on.
. "$(dirname "$0")/../lib.sh"

# against KIND MESSAGE
against() {
	on host until_ready /run/hostile.log hostile_agent "$1" || exit 1
	refuse "$1: --once refuses" "cannot be scraped: .*$2" \
		dart-controller --once host
	# shellcheck disable=SC2016 # expands in the other shell
	check "$1: it is tried again, and again in vain" sh -c '
		! dart-controller -i 100ms -n 10 --json host >/run/lines &&
		jq -se "map(select(.entries)) == [] and .[-1].summary.failed >= 10" \
			/run/lines'
	on host pkill -x hostile_agent
	on host pidwait -x hostile_agent
}

rdma_up
on host rdma_up
refuse "nobody: --once refuses" "nobody listens" dart-controller --once host
against noise "without the magic"
against silence "without the magic"
against version "version 2"
against tiny "cannot be: 1 of"
against huge "cannot be: 4294967295 of"
against reject "refused the connection"
against damaged "table refused: "
against unfinished "table refused: "
against growing "table refused: "
against rkey "remote access error"

on host until_ready /run/hostile.log hostile_agent honest
check "an honest one is scraped" dart-controller --once host
finish
