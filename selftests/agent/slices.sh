#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Thousands of slices: shown while their owner lives, with a constant number of system calls for
# each, in one piece of memory region.
. "$(dirname "$0")/../lib.sh"

count=4200	# each with its own memory
shared=5000	# in one memory
as_many="is_true '.first_1000_calls >= 1000 and .last_1000_calls < 1.5 * .first_1000_calls'"

status() {
	dartctl -j status | gojq ".$1"
}

# entries_become COUNT: waits until the table lists COUNT entries
entries_become() {
	for _ in $(seq 1000); do
		[ "$(status entries)" -ne "$1" ] || return 0
		sleep 0.1
	done
	return 1
}

check "the agent starts" host_up
before=$(status entries)
regions=$(rdma resource show mr | wc -l)
check "a process gets $count slices from the agent" \
	until_ready /run/owner.log slice_owner $count "$(pidof dartd)"
figures=$(grep '^{' /run/owner.log)
echo "# $figures"
check "each of $count slices is an entry" [ "$(status entries)" -eq $((before + count)) ]
check "$count slices need one memory region" \
	[ "$(rdma resource show mr | wc -l)" -eq $((regions + 1)) ]
for slice in 0 4096 $((count - 1)); do
	check "slice $slice shows the value that its owner wrote" sh -c \
		"dartctl -j show slice-$slice |
			is_true '.values.rows[0].done == 1000 + $slice'"
done
check "the agent makes less than half as many system calls again for the last 1000 slices as for the first" \
	sh -c "echo '$figures' | $as_many"

check "the owner of the slices is killed" pkill -KILL slice_owner
check "the entries of slices whose owner was killed leave the table" \
	entries_become "$before"
check "a process gets $shared slices in one memory under the same names" \
	until_ready /run/owner.log slice_owner $shared "$(pidof dartd)" shared
figures=$(grep '^{' /run/owner.log)
echo "# in one memory: $figures"
check "each of $shared slices in one memory is an entry" \
	[ "$(status entries)" -eq $((before + shared)) ]
check "the process has fewer than 16 descriptors" \
	[ "$(find "/proc/$(pidof slice_owner)/fd" -type l | wc -l)" -lt 16 ]
check "the last slice in one memory shows the value that its owner wrote" sh -c \
	"dartctl -j show slice-$((shared - 1)) |
		is_true '.values.rows[0].done == 1000 + $shared - 1'"
check "the agent makes less than half as many system calls again for the last 1000 slices in one memory as for the first" \
	sh -c "echo '$figures' | $as_many"
check "the agent stops" host_down
check "the owner of slices outlives the agent" pkill -KILL slice_owner
finish
