#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartd is killed DART_KILLS times, at instants around rotations of a store: each epoch that was
# reported is found, once, and each file is whole.
. "$(dirname "$0")/../lib.sh"

kills=${DART_KILLS:-200}
log=/run/dartd.log
files=/var/lib/dart/epochs/paths

memory() {
	find "/proc/$(pidof dartd)/fd" -lname '/memfd:dart-store*' 2>/dev/null
}

# answers PID: another dartd than this one
answers() {
	[ "$(pidof dartd)" != "$1" ] && dartctl status
}

# kill_all: 64 keys with another mark in each epoch, then a rotation, and a kill after 0 to 200 ms
kill_all() {
	local i old since

	for ((i = 1; i <= kills; i++)); do
		since=$(epoch_report "$(memory)" 14 64 "$i") || return
		echo "$since $i" >>/run/history
		old=$(pidof dartd)
		dartctl store rotate paths >/dev/null &
		sleep "0.$(printf %03d $((RANDOM % 200)))"
		pkill -KILL -x dartd
		wait $!
		soon answers "$old" >/dev/null || return
		# The rotation came before the kill, or comes now: each mark has an epoch of its own.
		while dartctl -j store list | is_true ".[0].epochs.since_ns == $since"; do
			dartctl store rotate paths >/dev/null || return
		done
	done
}

# whole: each file decompresses to the slots of a store
whole() {
	local file

	for file in "$files"/*; do
		[ "$(zstdcat "$file" | wc -c)" = $((24 << 14)) ] || return
	done
}

has_history() {
	dartctl -j query paths int-path --src 10.0.0.1 --dst 10.0.0.2 --sport 7 --dport 80 \
		--proto tcp --since @1 |
		is_true --slurpfile history <(sed 's/\(.*\) \(.*\)/[\1,\2]/' /run/history) '
			[.[] | select(.outcome == "found") | [.since_ns, .value.path[0]]] ==
				$history and
			all(.[1:][]; .outcome == "found" or .outcome == "empty")'
}

rm -rf /var/lib/dart /run/history
modprobe dart_zero && rdma_up
check "the agent starts under a service manager" until_ready $log service_manager dartd
check "a store with epochs is created" dartctl store create paths --slots 2^14 --value 20 \
	--epoch 1440min
check "the agent is killed $kills times" kill_all
check "the last epoch is in a file" soon sh -c \
	"dartctl -j store epochs paths | is_true '[.[] | select(.in == \"memory\")] | length == 1'"
check "each epoch has its mark, and no other epoch has one" has_history
check "each file is whole" whole
check "nothing unfinished is left" sh -c "! ls -A $files | grep -v '^[0-9]*-[0-9]*\.dart$'"
check "the agent stops" host_down
finish
