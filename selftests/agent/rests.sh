#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The module gathers counters per CPU that do not change in every eighth pass, if eight passes take
# less than a second; with the setting "rest: 1" in each pass.
. "$(dirname "$0")/../lib.sh"

configured=/etc/dart/dartd.d/rest.yaml

# rested INTERVAL: visits to records that the gathering at this interval was spared
rested() {
	dartctl -j show "gathering+$1" | number_in rested
}

# rests INTERVAL
rests() {
	[ "$(rested "$1")" -gt 0 ]
}

# passes_without_rest INTERVAL COUNT: waits for COUNT passes; true if no record was at rest in them
passes_without_rest() {
	local passes

	until passes=$(dartctl -j show "gathering+$1" | number_in passes) && [ "$passes" -ge "$2" ]; do
		sleep 0.1
	done
	[ "$(rested "$1")" = 0 ]
}

# gather INTERVAL
gather() {
	dartctl source add gathering --gather "$1" &&
		dartctl register source snmp:udp --all-netns --gather "$1"
}

# sent COUNT: datagrams of the namespace, as its row says
sent() {
	dartctl -j show snmp:udp@idle+100ms | is_true ".values.sum.outdatagrams == $1"
}

mkdir -p /etc/dart/dartd.d
trap 'rm -f "$configured"; ip netns delete idle' EXIT
ip netns add idle
ip -n idle link set lo up
check "the agent starts" host_up
check "the counters of namespaces are gathered each 100 ms" gather 100ms
check "counters that do not change rest" soon rests 100ms
check "their row is right" sent 0
before=$(rested 100ms)
ip netns exec idle bash -c 'for i in 1 2 3; do echo >/dev/udp/127.0.0.1/9; done'
check "a change is in the row" soon sent 3
goes_on_resting() {
	[ "$(rested 100ms)" -gt "$before" ]
}
check "the counters rest again" soon goes_on_resting
check "they are gathered each second, too" gather 1s
check "eight passes would take longer than a second: no counters rest" passes_without_rest 1s 6
check "the agent stops" host_down

echo "rest: 1" >"$configured"
check "the agent starts with rest: 1" host_up
check "the counters of namespaces are gathered" gather 100ms
check "no counters rest" passes_without_rest 100ms 30
check "the agent stops" host_down
finish
