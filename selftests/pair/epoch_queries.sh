#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Another host asks for a key's history: the answers are those of the collector itself, from memory
# and from files, also while the store rotates.
. "$(dirname "$0")/../lib.sh"

files=/var/lib/dart/epochs/paths
configuration=/run/dartd.yaml

# up CALLERS [READERS]: starts dartd with these ranges
up() {
	on host sh -c "rm -rf /var/lib/dart &&
		echo 'allow: {callers: [$1], readers: [${2-10.77.0.0/24}]}' >$configuration" &&
		on host host_up --config "$configuration"
}

# report MARK: 100 keys into the present epoch; prints when it began
report() {
	# shellcheck disable=SC2016 # for the shell of the host
	on host sh -c 'epoch_report "$(find /proc/$(pidof dartd)/fd -lname "/memfd:dart-store*" |
		head -n 1)" 12 100 '"$1"
}

rotate() {
	on host dartctl store rotate paths >/dev/null
}

# in_files COUNT
in_files() {
	on host dartctl -j store list | is_true ".[0].epochs | .written >= $1 and .lost == 0"
}

# query TIME_OPTION...: of the key with port 7
query() {
	dartctl -j query paths int-path --src 10.0.0.1 --dst 10.0.0.2 --sport 7 --dport 80 \
		--proto tcp "$@"
}

# same TIME_OPTION...: this host and the collector say the same
same() {
	query "$@" --from host >/run/there
	on host dartctl -j query paths int-path --src 10.0.0.1 --dst 10.0.0.2 --sport 7 \
		--dport 80 --proto tcp "$@" >/run/here
	[ -s /run/there ] && gojq -s -e '
		(.[0] | if type == "array" then map(.collector) else [.collector] end |
			unique - [null, "host"] == []) and
		(map(if type == "array" then map(del(.collector)) else del(.collector) end) |
			.[0] == .[1])' /run/there /run/here
}

# has_marks MARK...: the epochs with a value have these, in their order
has_marks() {
	query --since @1 --from host |
		is_true --argjson marks "[$(IFS=,; echo "$*")]" '
			[.[] | select(.outcome == "found") | .value.path[0]] == $marks and
			all(.[1:][]; .outcome != "missing" and .outcome != "damaged") and
			([.[2:][] | .since_ns] == [.[1:-1][] | .until_ns])'
}

rdma_up
check "the agent starts, and takes other callers than this machine" up 10.77.0.77
check "a store with epochs is created" on host dartctl store create paths --slots 2^12 --value 20 \
	--epoch 60min --schema int-path
refuse "this machine may not ask for epochs" "allow: callers" query --since @1 --from host
refuse "nor for one epoch" "allow: callers" query --at @1795804865 --from host
check "the agent stops" on host host_down

check "the agent starts, with this machine as a caller that may not READ stores" \
	up 10.77.0.1 10.77.0.77
refuse "it may not ask for epochs either" "not in allow: readers" query --since @1 --from host
check "the agent stops" on host host_down

check "the agent starts, and takes this machine as a caller and a reader" up 10.77.0.1
check "a store with epochs is created" on host dartctl store create paths --slots 2^12 --value 20 \
	--epoch 60min --schema int-path
check "so is one without epochs" on host dartctl store create plain --slots 2^4 --value 20
check "the present epoch has no reports yet" sh -c "dartctl -j query paths int-path --src 10.0.0.1 \
	--dst 10.0.0.2 --sport 7 --dport 80 --proto tcp --since '1min ago' --from host |
	gojq -e 'map(.outcome) - [\"missing\"] == [\"empty\"]'"
for mark in 1 2 3; do
	since[mark]=$(report $mark)
	check "an epoch ends with reports of its own ($mark)" rotate
	check "it is in a file ($mark)" soon in_files $mark
done
since[4]=$(report 4)
check "one more epoch ends, and stays in memory for some seconds" rotate
since[5]=$(report 5)
check "a remote query finds the value of each epoch, in files and in memory" has_marks 1 2 3 4 5
for mark in 1 3 4 5; do
	check "it finds epoch $mark by a time" is_true --argjson since "${since[mark]}" \
		".outcome == \"found\" and .value.path[0] == $mark and .since_ns == \$since" \
		<<<"$(query --at "@${since[mark]:0:-9}.${since[mark]: -9}" --from host)"
done
check "both hosts say the same about all epochs" same --since @1
check "and about a time before them" same --since @1000 --until @2000
check "and about one epoch" same --at "@${since[2]:0:-9}.${since[2]: -9}"
check "people read them" sh -c "dartctl query paths int-path --src 10.0.0.1 --dst 10.0.0.2 --sport 7 \
	--dport 80 --proto tcp --since @1 --from host |
	grep -A 1 -E '^20..-..-..T..:..:..\....Z to now found$' | grep -q '^path: 5$'"

# ---- rotations meanwhile

# history: the values of epochs 1 to 5, whatever else there is
history() {
	query --since @1 --from host >/run/history &&
		is_true '[.[] | select(.outcome == "found") | .value.path[0]][:5] == [1, 2, 3, 4, 5]
			and all(.[1:][]; .outcome != "missing" and .outcome != "damaged")' \
			</run/history && return
	gojq -c '.[] | del(.value.path[1:])' /run/history | sed 's/^/# /' >&2
	return 1
}
check "epoch 4 is in a file" soon in_files 4
on host sh -c 'for i in 1 2 3; do
	until dartctl store rotate paths >/dev/null 2>&1; do sleep 0.2; done; done' &
rotations=$!
asked=0
while kill -0 $rotations 2>/dev/null; do
	history >/dev/null || break
	asked=$((asked + 1))
done
check "queries find all values while the store rotates ($asked)" sh -c \
	"! kill -0 $rotations 2>/dev/null && [ $asked -gt 1 ]"
wait $rotations
check "and afterwards" history
check "both hosts say the same about all epochs again" same --since @1

# ---- faults

refuse "a store that does not exist is refused" "there is no store 'none'" \
	dartctl query none int-path --src 10.0.0.1 --dst 10.0.0.2 --sport 7 --dport 80 \
	--proto tcp --since @1 --from host
refuse "a store without epochs is refused" "store 'plain' has no epochs" \
	dartctl query plain int-path --src 10.0.0.1 --dst 10.0.0.2 --sport 7 --dport 80 \
	--proto tcp --at @1795804865 --from host
refuse "a host without an agent is refused" "cannot read the epochs of store 'paths' of 10.77.0.1" \
	query --since @1 --from 10.77.0.1
# damage NUMBER COMMAND: on the file of an epoch, $file
damage() {
	on host sh -c "file=\$(ls -d $files/* | sed -n $1p) && $2"
}
check "the first file gets another byte in its header" damage 1 \
	'printf x | dd of=$file bs=1 seek=100 conv=notrunc status=none'
check "the second file loses its end" damage 2 'truncate -s -100 $file'
check "the third file is gone" damage 3 'rm $file'
is_typed() {
	query --since "@${since[1]:0:-9}.${since[1]: -9}" --from host |
		is_true 'map(.outcome)[:4] as $first |
			$first[0] == "damaged" and ($first[1] | . == "damaged" or . == "found") and
			$first[2] == "missing" and $first[3] == "found"'
}
check "each has an outcome, and others are found" is_typed
check "which is the same on both hosts" same --since "@${since[1]:0:-9}.${since[1]: -9}"
damaged() {
	query --at "@${since[1]:0:-9}.${since[1]: -9}" --from host >/run/damaged
	[ $? = 5 ] && is_true '.outcome == "damaged" and
		(.reason | contains("not the whole file"))' </run/damaged
}
check "a query of a damaged epoch has a status of its own, and a reason" damaged
check "the agent has counted requests, and refused none" sh -c "on host dartctl -j status |
	gojq -e '.rpc_requests > 50 and .rpc_callers == []'"
check "the agent stops" on host host_down
finish
