#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A large table that changes again and again does not delay the scrapes of other agents.
. "$(dirname "$0")/../lib.sh"

# latest: by how many milliseconds the latest scrape of dartd began behind its schedule
latest() {
	gojq -s 'map(select(.agent == "host:4793" and has("entries")).start_ns / 1e6) |
		. as $starts | [range(length) | $starts[.] - . * 100] |
		max - min | round' /run/lines
}

rdma_up
check "the agent starts" on host host_up --port 4793
check "a source is registered" on host dartctl source add cpustat
check "a controller scrapes the agent alone" sh -c \
	'dart-controller --json -i 100ms -n 100 -e cpustat host:4793 >/run/lines'
alone=$(latest)
check "an agent whose table of 10,000 entries changes four times a second starts" \
	on host until_ready /run/many.log hostile_agent many
check "a controller scrapes both agents" sh -c \
	'dart-controller --json -i 100ms -n 100 -e cpustat,entry-7 host:4793 host \
		>/run/lines'
both=$(latest)
check "the large table is fetched again and again" is_true -s \
	'map(select(.agent == "host:4792").generation // empty) | unique | length > 2' \
	/run/lines
late="the latest of 100 begins $both ms late, $alone ms without the large table"
check "no scrape of the other agent is later by more than 100 ms: $late" \
	[ "$both" -le $((alone + 100)) ]
check "no scrape fails" is_true -s \
	'map(.summary // empty) | length == 2 and all(.failed == 0)' /run/lines
finish
