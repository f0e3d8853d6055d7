#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reports of dart-report reach a store on another machine, and malformed ones change nothing.
. "$(dirname "$0")/../lib.sh"

count=10000	# malformed frames of each kind
flows="fat-tree 5000 1"
collectors=/run/paths.json
store=/run/paths.store

received() {
	on host cat /sys/class/net/eth0/statistics/rx_packets
}

# malformed KIND FRAMES: sends FRAMES and a good frame; prints a checksum of the store
# without the slot of the good frame.
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
	gojq -r '.[0].addr_info[] | select(.family == "inet").local')
check "the host creates a store in a file" on host dartctl store create paths \
	--slots 2^20 --value 20 --file $store
check "this machine is added as a reporter of the store" \
	on host dartctl reporter add paths "$address"
on host dartctl store export paths >$collectors
on host sh -c "dartctl store export paths >$collectors"

# shellcheck disable=SC2086 # words
set -- $flows
check "5000 flows are reported to the store" dart-report --interface eth0 \
	--collectors $collectors --flows "$1" --count "$2" --seed "$3" \
	--copies all
# shellcheck disable=SC2086 # words
answers=$(on host store_flows $collectors $store $flows)
check "every reported flow is found, and no other byte was written: $answers" \
	[ "$answers" = "{\"found\": $2, \"empty\": 0, \"wrong\": 0, \"same\": true}" ]

untouched=$(malformed none 0)
check "a good report reaches the store" [ "$untouched" ]
for kind in opcode length rkey icrc address source queue-pair partition; do
	check "$count reports with a wrong $kind change nothing in the store" \
		[ "$(malformed $kind $count)" = "$untouched" ]
done
check "$count reports with any PSN change only the slot of their key" \
	[ "$(malformed psn $count)" = "$untouched" ]
# shellcheck disable=SC2086 # words
answers=$(on host store_flows $collectors $store $flows)
check "every flow is found after all malformed reports: $answers" \
	[ "$(gojq -c '[.found, .wrong]' <<<"$answers")" = "[$2,0]" ]
sum=$(malformed nothing 1)
check "a report of the same tool that is not malformed changes the store" \
	[ "${sum:-$untouched}" != "$untouched" ]
check "the agent stops" on host host_down
finish
