#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reports of dart-report land in a store of "host"; malformed ones do not.
. "$(dirname "$0")/../lib.sh"

count=10000	# malformed frames of each kind
flows="fat-tree 5000 1"
collectors=/run/paths.json
store=/run/paths.store

received() {
	on host cat /sys/class/net/eth0/statistics/rx_packets
}

# malformed KIND FRAMES: sends them; prints a checksum of the store, but for the
# slot of the good frame behind them.
malformed() {
	local slot before

	before=$(received)
	slot=$(malformed_frames eth0 $collectors "$1" "$2") || return
	# shellcheck disable=SC2086 # offset and bytes
	on host store_sum $store $slot || return
	[ $(($(received) - before)) -gt "$2" ] || echo "lost on the way"
}

rdma_up
on host host_up || exit 1
address=$(ip -json address show dev eth0 |
	jq -r '.[0].addr_info[] | select(.family == "inet").local')
check "a store" on host dartctl store create paths --slots 2^20 --value 20 \
	--file $store
check "which takes reports from here" \
	on host dartctl reporter add paths "$address"
on host dartctl store export paths >$collectors
on host sh -c "dartctl store export paths >$collectors"

# shellcheck disable=SC2086 # words
set -- $flows
check "flows are reported" dart-report --interface eth0 \
	--collectors $collectors --flows "$1" --count "$2" --seed "$3" \
	--copies all
# shellcheck disable=SC2086 # words
answers=$(on host store_flows $collectors $store $flows)
check "each is found, and nothing else has been written: $answers" [ "$answers" \
	= "{\"found\": $2, \"empty\": 0, \"wrong\": 0, \"same\": true}" ]

untouched=$(malformed none 0)
check "a good report arrives" [ "$untouched" ]
for kind in opcode length rkey icrc address source queue-pair partition; do
	check "another $kind is refused" \
		[ "$(malformed $kind $count)" = "$untouched" ]
done
check "any PSN is taken, and changes nothing but the slot" \
	[ "$(malformed psn $count)" = "$untouched" ]
# shellcheck disable=SC2086 # words
answers=$(on host store_flows $collectors $store $flows)
check "each flow is still found: $answers" \
	[ "$(jq -c '[.found, .wrong]' <<<"$answers")" = "[$2,0]" ]
sum=$(malformed nothing 1)
check "one that is not malformed lands" \
	[ "${sum:-$untouched}" != "$untouched" ]
check "the agent ends" on host host_down
finish
