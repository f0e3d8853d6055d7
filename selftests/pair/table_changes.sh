#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A large table that changes again and again adds nothing to the scrapes of other
# agents; tools/bench/growth says how late they are.
. "$(dirname "$0")/../lib.sh"

# work AGENT: the READs and bytes of each scrape of the agent
work() {
	gojq -s -c --arg agent "$1" 'map(select(.agent == $agent and has("entries")) |
		{reads, bytes}) | unique' /run/lines
}

rdma_up
check "the agent starts" on host host_up --port 4793
check "a source is registered" on host dartctl source add cpustat
check "a controller scrapes the agent alone" sh -c \
	'dart-controller --json -i 100ms -n 40 -e cpustat host:4793 >/run/lines'
alone=$(work host:4793)
check "each scrape takes the same READs: $alone" \
	sh -c "echo '$alone' | is_true 'length == 1 and .[0].reads > 0'"
check "an agent whose table of 10,000 entries changes four times a second starts" \
	on host until_ready /run/many.log hostile_agent many
check "a controller scrapes both agents" sh -c \
	'dart-controller --json -i 100ms -n 40 -e cpustat,entry-7 host:4793 host \
		>/run/lines'
check "the large table is fetched again and again" is_true -s \
	'map(select(.agent == "host:4792").generation // empty) | unique | length > 2' \
	/run/lines
both=$(work host:4793)
check "each scrape of the other agent takes the READs that it takes alone: $both" \
	[ "$both" = "$alone" ]
check "the other agent is scraped as often" is_true -s \
	'map(select(.agent == "host:4793" and has("entries"))) | length == 40' /run/lines
check "no scrape fails" is_true -s \
	'map(.summary // empty) | length == 2 and all(.failed == 0)' /run/lines
finish
