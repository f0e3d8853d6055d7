#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A controller reads only whole, used rows of tcpconn while connections come and go.
. "$(dirname "$0")/../lib.sh"

scrapes=$(mktemp)

scrape() {
	dart-controller --json --entries tcpconn,tcpconn.rows --interval 20ms \
		--count "$1" host >"$scrapes"
}

# holds JQ: for the array of all scrapes
holds() {
	is_true -s "map(select(.entries) | .entries) | $1" "$scrapes" ||
		! head -c 2000 "$scrapes"
}

rdma_up
on host ip link set lo up
check "the agent starts" on host host_up
check "the probe tcpconn is loaded" on host dartctl probe load tcpconn
check "3 connections stay open on the host" \
	on host until_ready /run/held load connections 3 5000
check "other connections are opened and closed all the time" on host setsid sh -c \
	'load opens 1000000 >/dev/null 2>&1 & load segments 1000000 >/dev/null 2>&1 &'
check "a controller scrapes tcpconn 40 times meanwhile" scrape 40
check "every scrape has the rows of the connections that stay open" holds 'all(.[];
	[.tcpconn.rows[] | select(. and .received_bytes == 5000)] | length == 3)'
check "rows of other connections differ from scrape to scrape" holds \
	'map(.tcpconn.rows | map_values(.cookie?)) | unique | length > 10'
# A torn row would mix the bytes of one connection with the addresses of another.
check "no row mixes the fields of two connections" \
	holds 'all(.[] | .tcpconn.rows[] | select(.);
	.local_address == "127.0.0.1" and .remote_address == "127.0.0.1" and
	.acked_bytes <= .sent_bytes + 2 and .cookie > 0 and .state <= 11 and
	(.received_bytes == 0 or .received_segments > 0))'
check "scrapes leave out empty rows" holds \
	'all(.[]; (.tcpconn.rows | length) < 1000)'
check "output for people says how many of 16384 rows are in use" sh -c \
	'dart-controller --once --entries tcpconn host 2>&1 | tee /dev/stderr |
	grep "of 16384 rows"'
check "the probe tcpconn can be unloaded while connections come and go" \
	on host dartctl probe unload tcpconn
refuse "a controller reports that an unloaded probe has no entry" "no entry" \
	dart-controller --once --entries tcpconn host
on host pkill -x load
check "the agent stops" on host host_down
finish
