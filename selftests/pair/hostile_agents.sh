#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Whatever an agent says, the controller refuses with a reason, and goes on.
. "$(dirname "$0")/../lib.sh"

# refused KIND MESSAGE
refused() {
	refuse "$1: is refused" "cannot be scraped: .*$2" \
		dart-controller --once host
}

rdma_up
on host rdma_up
refuse "nobody: is refused" "nobody listens" dart-controller --once host

on host until_ready /run/hostile.log hostile_agent noise silence version tiny \
	huge reject damaged unfinished growing rkey \
	noise reject unfinished rkey honest || exit 1
refused noise "without the magic"
refused silence "without the magic"
refused version "version 3"
refused tiny "cannot be: 1 of"
refused huge "cannot be: 4294967295 of"
refused reject "refused the connection"
refused damaged "table refused: "
refused unfinished "table refused: "
refused growing "table refused: "
refused rkey "remote access error"

check "one run goes on until an honest one comes" \
	sh -c 'dart-controller -i 1s --json host | sed "/entries/q" >/run/lines'
check "with a reason for each lie, and no values before" \
	jq -se '.[:-1] | length == 4 and all(has("error"))' /run/lines
check "the agent ends" on host host_down TERM hostile_agent
finish
