#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The controller refuses every kind of invalid agent with a reason, and goes on.
. "$(dirname "$0")/../lib.sh"

# refused AGENT MESSAGE
refused() {
	refuse "an agent that $1 is refused: $2" "cannot be scraped: .*$2" \
		dart-controller --once host
}

rdma_up
on host rdma_up
refuse "a host without an agent is refused" "no agent listens" dart-controller --once host

on host until_ready /run/hostile.log hostile_agent noise silence version older tiny \
	huge reject damaged unfinished growing rkey \
	noise reject unfinished rkey honest || exit 1
refused "sends a handshake of noise" "without the magic"
refused "sends an empty handshake" "without the magic"
refused "speaks another version" "version 5"
refused "speaks the version before" "version 3 .*upgrade dartd there"
refused "has a control region of 1 byte" "cannot be: 1 of"
refused "has a control region of 4 GiB" "cannot be: 4294967295 of"
refused "rejects the connection" "refused the connection"
refused "has a table of noise" "table refused: "
refused "never finishes its table" "table refused: "
refused "has a table longer than its region" "table refused: "
refused "gives a wrong rkey" "remote access error"

check "a controller tries on until an honest agent answers" \
	sh -c 'dart-controller -i 1s --json host | sed "/entries/q" >/run/lines'
# On a slow machine an interval also ends without values, which is a line with "up".
check "a controller reports an error for each hostile agent, and no values" \
	gojq -se '.[:-1] | all(has("error") and (has("entries") | not)) and
		(map(select(has("up") | not)) | length == 4)' /run/lines
check "the hostile agent stops" on host host_down TERM hostile_agent
finish
