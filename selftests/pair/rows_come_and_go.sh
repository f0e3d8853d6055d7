#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Rows with sequences, as a controller reads them while they are written, taken
# and given back: whole ones make sense, empty ones are left out, and the probe
# can be unloaded meanwhile.
. "$(dirname "$0")/../lib.sh"

scrapes=$(mktemp)

scrape() {
	dart-controller --json --entries tcpconn,tcpconn.rows --interval 20ms \
		--count "$1" host >"$scrapes"
}

# holds JQ: of the array of all scrapes
holds() {
	is_true -s "map(select(.entries) | .entries) | $1" "$scrapes" ||
		! head -c 2000 "$scrapes"
}

rdma_up
on host ip link set lo up
check "the agent starts" on host host_up
check "the probe is loaded" on host dartctl probe load tcpconn
check "connections are held" on host until_ready /run/held load connections 3 5000
check "and others opened and closed" on host setsid sh -c \
	'load opens 1000000 >/dev/null 2>&1 & load segments 1000000 >/dev/null 2>&1 &'
check "they are read meanwhile" scrape 40
check "the rows that are held are in every scrape" holds 'all(.[];
	[.tcpconn.rows[] | select(. and .received_bytes == 5000)] | length == 3)'
check "other rows come and go" holds \
	'map(.tcpconn.rows | map_values(.cookie?)) | unique | length > 10'
# What is torn would have bytes of one connection and the ends of another.
check "whole rows make sense" holds 'all(.[] | .tcpconn.rows[] | select(.);
	.local_address == "127.0.0.1" and .remote_address == "127.0.0.1" and
	.acked_bytes <= .sent_bytes + 2 and .cookie > 0 and .state <= 11 and
	(.received_bytes == 0 or .received_segments > 0))'
check "empty ones are not there" holds \
	'all(.[]; (.tcpconn.rows | length) < 1000)'
check "people see the rows that are in use" sh -c \
	'dart-controller --once --entries tcpconn host 2>&1 | tee /dev/stderr |
	grep "of 16384 rows"'
check "the probe is unloaded" on host dartctl probe unload tcpconn
refuse "the controller says that the entry is gone" "no entry" \
	dart-controller --once --entries tcpconn host
on host pkill -x load
check "the agent ends" on host host_down
finish
