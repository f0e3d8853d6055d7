#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A store with epochs: a key's history over rotations, kills of the agent, a full disk and
# damaged files.
. "$(dirname "$0")/../lib.sh"

log=/run/dartd.log
files=/var/lib/dart/epochs

# up [OPTION...]: starts dartd under a service manager with these options
up() {
	rm -rf /var/lib/dart
	modprobe dart_zero && rdma_up &&
		until_ready "$log" service_manager "$@" dartd && dartd=$(pidof dartd)
}

# killed: kills dartd, and waits for the next one
killed() {
	dartd_again && dartd=$(pidof dartd)
}

# report MARK: 100 keys into the present epoch, whose time and mark go into the history
report() {
	local since

	until since=$(epoch_report \
		"$(find "/proc/$dartd/fd" -lname '/memfd:dart-store*')" 12 100 "$1"); do
		sleep 0.1
	done
	echo "$since $1" >>/run/history
}

# epochs FILTER: of the store
epochs() {
	dartctl -j store list | is_true ".[0].epochs | $1"
}

# another SINCE: the present epoch is another one
another() {
	epochs ".since_ns != $1"
}

# rotations COUNT MARK: reports into so many epochs
rotations() {
	local i since

	for ((i = 0; i < $1; i++)); do
		report $(($2 + i))
		since=$(tail -n 1 /run/history)
		soon another "${since% *}" || return
	done
}

# ask PORT [OPTION...]
ask() {
	dartctl "${@:2}" query paths int-path --src 10.0.0.1 --dst 10.0.0.2 --sport "$1" \
		--dport 80 --proto tcp
}

# has_history PORT [COUNT]: each epoch of the history, or of its last lines, has its mark
has_history() {
	local since mark

	while read -r since mark; do
		dartctl -j query paths int-path --src 10.0.0.1 --dst 10.0.0.2 --sport "$1" \
			--dport 80 --proto tcp --at "@${since:0:-9}.${since: -9}" |
			is_true --argjson since "$since" --argjson mark "$mark" '
				.outcome == "found" and .since_ns == $since and
				.value.path[0] == $mark' || return
	done < <(tail -n "${2:-1000}" /run/history)
}

# stop_between_files: stops dartd while it writes no file of an epoch
stop_between_files() {
	while
		kill -STOP "$dartd" || return
		# A thread may take a while to stop.
		while grep -L '^State:.T' "/proc/$dartd/task/"*/status | grep -q .; do
			sleep 0.01
		done
		find "$files/paths" -name '.*' | grep .
	do
		kill -CONT "$dartd"
		sleep 0.1
	done
}

# query TIME_OPTION...: of the key with port 7
query() {
	dartctl -j query paths int-path --src 10.0.0.1 --dst 10.0.0.2 --sport 7 --dport 80 \
		--proto tcp "$@"
}

check "the agent starts under a service manager" up
reach 10.77.0.2
while IFS='|' read -r arguments message; do
	# shellcheck disable=SC2086 # words
	refuse "'store create bad $arguments' is refused: $message" "$message" \
		dartctl store create bad --slots 2^4 --value 20 $arguments
done <<END
--epoch 1ms|1 s to 365 days
--epoch soon|a time such as 1min, or a number of reports
--keep 1min|only a store with epochs
--falling|only a store with epochs
--epoch 1min --keep 1day|a time such as 1440min
--epoch 1min --schema $(printf 's%.0s' $(seq 64))|at most 63
END
check "a store with epochs of a second is created" dartctl store create paths --slots 2^12 \
	--value 20 --epoch 1s --schema int-path
check "a reporter is added" dartctl reporter add paths 10.77.0.2
numbers() {
	dartctl store export paths | gojq -c ".collectors[0] | $1"
}
qpn=$(numbers '[.qpn, .first_psn, .epoch]')
memory=$(numbers '[.rkey, .base]')
check "reports go into five epochs" rotations 5 1
check "the reporter has the same queue pair" [ "$(numbers '[.qpn, .first_psn, .epoch]')" = "$qpn" ]
check "it has another key and base" [ "$(numbers '[.rkey, .base]')" != "$memory" ]
check "all but the last two epochs are in files" soon epochs '.written >= 3'
check "each epoch has the mark that was reported in it" has_history 7
is_empty() {
	ask 200 -j
	[ $? = 3 ]
}
check "a key that was not reported is in no epoch" is_empty
since=$(head -n 1 /run/history)
since=${since% *}
check "a query of a time answers for each of its epochs, in order" is_true '
	[.[] | select(.outcome == "found") | .value.path[0]] == [1, 2, 3, 4, 5] and
	all(.[]; .outcome != "missing" and .outcome != "damaged") and
	([.[1:][] | .since_ns] == [.[:-1][] | .until_ns]) and .[-1].until_ns == null' \
	< <(query --since "@${since:0:-9}.${since: -9}")
prints_history() {
	dartctl query paths int-path --src 10.0.0.1 --dst 10.0.0.2 --sport 7 --dport 80 \
		--proto tcp --since "@${since:0:-9}.${since: -9}" |
		grep -A 1 -E '^20..-..-..T..:..:..\....Z to .*Z found$' | grep -q '^path: 1$'
}
check "people read the times and values of epochs" prints_history
first=$(dartctl -j store epochs paths | gojq '.[0].since_ns')
# The first report came into the first epoch, or a later one.
check "before the first epoch nothing is kept" is_true --argjson first "$first" \
	--argjson reported "$since" '
	length == 2 and .[0].outcome == "missing" and .[0].until_ns == $first and
	.[1].outcome == (if $reported == $first then "found" else "empty" end)' \
	< <(query --since @1000000000 --until "@${first:0:-9}.${first: -9}")
missing() {
	query --at @1000000000
	[ $? = 5 ]
}
check "a query of a time without epoch has a status of its own" missing
refuse "a time of another form is refused" "is a time such as" query --at yesterday
refuse "--at and --since together are refused" "--at is one time" query --at @5 --since @4
check "store epochs lists files and memory" sh -c "
	dartctl store epochs paths | grep -q ' in file$' &&
	dartctl store epochs paths | tail -n 1 | grep -q ' to now in memory$'"
check "a file is a zstd stream of the slots" sh -c \
	"[ \$(zstdcat $files/paths/*.dart | head -c 98304 | wc -c) = 98304 ]"
check "a file belongs to root" [ "$(stat -c %a%U $files/paths)" = 700root ]

# ---- kills

for i in 1 2; do
	report $((10 * i))
	since=$(tail -n 1 /run/history)
	check "the agent is killed, and starts again ($i)" killed
	check "it goes on with another epoch ($i)" soon another "${since% *}"
done
check "reports go on into two epochs" rotations 2 50
check "no reported epoch is lost" has_history 7
# dartd writes another file each second.
check "nothing unfinished is left" soon sh -c "! ls -A $files/paths | grep -v '^[0-9]*-[0-9]*\.dart$'"

# ---- damage

since=$(head -n 1 /run/history)
since=${since% *}
file=$(find $files/paths -name "$since-*")
printf x | dd of="$file" bs=1 seek=100 conv=notrunc status=none
check "a damaged file is an outcome of its epoch, and others are found" is_true '
	[.[] | .outcome] | .[0] == "damaged" and index("found") > 0 and index("missing") == null' \
	< <(query --since "@${since:0:-9}.${since: -9}")

# ---- a full disk

# A file that is begun in the folder cannot be renamed below the mount.
check "dartd stops between two files" stop_between_files
mount -t tmpfs -o size=64k tmpfs $files/paths
head -c 65536 /dev/zero >$files/paths/full 2>/dev/null
kill -CONT "$dartd"
report 90
check "with a full disk the log tells once that an epoch is in no file" soon logged 1 \
	"an epoch is not in a file yet: .*No space left"
check "an epoch is lost when its memory is needed" soon epochs '.lost > 0'
rm $files/paths/full
written=$(dartctl -j store list | gojq '.[0].epochs.written')
check "with room again epochs are written" soon epochs ".written > $written"
umount -l $files/paths
check "the store is deleted" dartctl store delete paths

check "a store whose epochs end by reports is created" dartctl store create paths \
	--slots 2^12 --value 20 --epoch 150 --keep-bytes 1
: >/run/history
check "its epochs end after so many reports" rotations 1 70
check "only the youngest file is kept" soon sh -c "[ \$(ls $files/paths | wc -l) = 1 ]"
report 80
since=$(tail -n 1 /run/history)
check "a command ends an epoch" dartctl store rotate paths
check "another epoch has begun" another "${since% *}"
check "the store is deleted" dartctl store delete paths
check "a store is created whose redundancy falls" dartctl store create paths --slots 2^12 \
	--value 20 --epoch 60min --falling
check "a reporter is added" dartctl reporter add paths 10.77.0.2
redundancy() {
	[ "$(numbers '[.redundancy, .redundancy_max]')" = "$1" ]
}
check "an empty store takes all copies of a key" redundancy "[2,2]"
# 10,000 writes leave e^-2.4, 9 %, of 4,096 slots empty.
fill() {
	epoch_report "$(find "/proc/$(pidof dartd)/fd" -lname '/memfd:dart-store*')" 12 5000 1
}
check "5,000 keys are reported" fill
check "a store that is nearly full takes one copy" soon redundancy "[1,2]"
check "the store rotates" dartctl store rotate paths
check "the next epoch begins with all copies" redundancy "[2,2]"
refuse "a store without epochs does not rotate" "has no epochs" sh -c \
	"dartctl store create plain --slots 2^4 --value 20 && dartctl store rotate plain"
check "the agent stops" host_down
finish
