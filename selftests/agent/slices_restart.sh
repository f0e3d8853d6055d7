#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Processes write slices with libdart before, while and after dartd is killed.
. "$(dirname "$0")/../lib.sh"

processes=10
each=10
count=$((processes * each))

slices_listed() {
	dartctl list | grep -c '^slice-'
}

# become COUNT: waits until as many slices are entries
are_listed() {
	[ "$(slices_listed)" = "$1" ] || { slices_listed && tail -n 3 /run/writer.*; false; }
}
become() {
	soon are_listed "$1"
}

value() {
	dartctl -j show "slice-$1" | sed -n "s/^ *\"$2\": \([0-9]*\).*/\1/p"
}

# alive NUMBER: the value of this slice grows, and is its own
grows() {
	[ "$(value "$1" "done")" -gt "$2" ]
}
alive() {
	[ "$(value "$1" number)" -eq $((1000 + $1)) ] && soon grows "$1" "$(value "$1" "done")"
}

all_alive() {
	for number in 0 $((each - 1)) $((each * 4 + 3)) $((count - 1)); do
		alive "$number" || return
	done
}

no_writer_complained() {
	! grep -H . /run/writer.* | grep -v -e ':registered ' -e ': cannot reach dartd'
}

start_writers() {
	for ((i = 0; i < processes; i++)); do
		until_ready "/run/writer.$i" slice_writer $((i * each)) "$each" ||
			return
	done
}

# pinned: the number of pages that are pinned
pinned() {
	echo 1 >/proc/sys/vm/stat_refresh
	awk '/^nr_foll_pin_acquired/ { pins += $2 }
		/^nr_foll_pin_released/ { pins -= $2 }
		END { print pins }' /proc/vmstat
}

# become_unpinned COUNT: the kernel does not tell when pages are unpinned
become_unpinned() {
	for _ in $(seq 1000); do
		[ "$(pinned)" -gt "$1" ] || return 0
		sleep 0.1
	done
	echo "$(pinned) pages are pinned, not $1"
	return 1
}

references() {
	cat /sys/module/dart_zero/refcnt
}

modprobe dart_zero
free=$(references)
check "$processes processes begin to write while no dartd has run yet" start_writers
check "dartd starts after them" host_up
check "all $count slices of $processes processes become entries" become $count
check "the slices show the values of the processes" all_alive
before=$(value 0 "done")
# memories PID: descriptors of slices' memory
memories() {
	find "/proc/$1/fd" -lname '*dart_slice*' | wc -l
}
check "the $each slices of a process take one descriptor" \
	[ "$(memories "$(pgrep -o -x slice_writer)")" -eq 1 ]
check "dartd is killed" host_down KILL
check "the next dartd starts" host_up
check "all slices are entries again" become $count
check "a slice shows the values that were written since dartd was killed" \
	[ "$(value 0 "done")" -gt "$before" ]
check "the slices show the values of the processes after the restart" all_alive

check "dartd is stopped and its directory removed, as systemd does" sh -c \
	"host_down && rm -rf /run/dart"
check "dartd starts and creates the directory" host_up
check "all slices are entries again, found in the new directory" become $count

for round in 1 3 5 7; do
	host_down KILL
	until_ready /run/dartd.log dartd
	# Kills dartd when some owners have asked and others have not.
	sleep 0.0$round
done
check "dartd, killed four times while slices ask for registration, runs" \
	dartctl status
check "all slices are entries after the last start" become $count
check "the slices show the values of the processes after four restarts" all_alive
check "no process was refused" no_writer_complained
check "every process still writes" [ "$(pgrep -c -x slice_writer)" -eq $processes ]

none_connected() {
	! ss --unix --no-header state established | grep dartd.sock
}
check "processes whose slices are registered have no connection to dartd" \
	none_connected

check "dartd is killed again" host_down KILL
check "half of the processes are killed while no dartd runs" \
	sh -c "pgrep -x slice_writer | head -n $((processes / 2)) | xargs kill -KILL"
check "dartd starts for the others" host_up
check "only slices of living processes are entries" become $((count / 2))
check "the slices of living processes show their values" alive $((count - 1))

check "dartd is killed for the last time" host_down KILL
check "all processes are killed while no dartd runs" host_down KILL slice_writer
check "no page stays pinned" become_unpinned 0
check "the module has no user left" [ "$(references)" -eq "$free" ]
check "the module can be removed" modprobe -r dart_zero
check "dartd starts without slices" host_up
check "no slice is an entry" [ "$(slices_listed)" -eq 0 ]
check "the agent stops" host_down
finish
