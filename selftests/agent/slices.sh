#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Slices: what a process writes is shown as long as it lives, one more costs the
# agent the same however many there are, and all of them need one memory region.
. "$(dirname "$0")/../lib.sh"

count=10000

status() {
	dartctl -j status | jq ".status.$1"
}

# are there this many entries, at last? Each look is a request to the agent.
entries_become() {
	for _ in $(seq 100); do
		[ "$(status entries)" -ne "$1" ] || return 0
	done
	return 1
}

check "the agent starts" host_up
before=$(status entries)
regions=$(rdma resource show mr | wc -l)
check "$count slices are made" \
	until_ready /run/owner.log slice_owner $count "$(pidof dartd)"
figures=$(grep '^{' /run/owner.log)
echo "# $figures"
check "all are entries" [ "$(status entries)" -eq $((before + count)) ]
check "in one memory region" \
	[ "$(rdma resource show mr | wc -l)" -eq $((regions + 1)) ]
for slice in 0 4711 $((count - 1)); do
	check "slice $slice shows what its owner wrote" sh -c \
		"dartctl -j show slice-$slice |
			is_true '.entry.values.rows[0].done == 1000 + $slice'"
done
check "the last ones cost less than twice what the first ones did" sh -c \
	"echo '$figures' | is_true '.last_1000_us_each < 2 * .first_1000_us_each'"

check "their owner is killed" pkill -KILL slice_owner
check "all are withdrawn" entries_become "$before"
check "and can be had again" \
	until_ready /run/owner.log slice_owner 10 "$(pidof dartd)"
check "the agent ends" host_down
check "the owner of what is left ends" pkill -KILL slice_owner
finish
