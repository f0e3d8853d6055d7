#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# dartctl probe: what is loaded is an entry, what is unloaded is none; histograms
# count what the kernel itself counts.
. "$(dirname "$0")/../lib.sh"

# holds NAME JQ: of the probe in the list
# shellcheck disable=SC2016 # $name is of jq
holds() {
	dartctl -j probe list | is_true --arg name "$1" \
		'.probes[] | select(.name == $name) | '"$2"
}

entries() {
	dartctl -j list | jq -c '.entries | map(.name)'
}

# between LOW VALUE HIGH
between() {
	echo "$1 <= $2 <= $3"
	[ "$1" -le "$2" ] && [ "$2" -le "$3" ]
}

# counted ENTRY FIELD: all counts of a histogram
counted() {
	dartctl -j show "$1" | jq ".entry.values.sum.$2 | add"
}

# As the service runs it.
confined_up() {
	modprobe dart_zero && rdma_up &&
		until_ready /run/dartd.log setpriv --bounding-set "-all$(sed -n \
		s/^CapabilityBoundingSet=//p "$tests/../agent/dartd.service" |
		sed 's/ *CAP_/,+/g' | tr '[:upper:]' '[:lower:]')" dartd
}

check "the agent starts" confined_up
chmod 666 /run/dart/dartd.sock
check "tcp is loaded from the start" holds tcp '.loaded and .entries == ["tcp"]'
before=$(entries)
for probe in tcpconn runqlat biolat cgroupnet; do
	check "$probe is loaded" dartctl probe load $probe
	check "$probe: its entries are registered" holds $probe \
		'.loaded and .entries[0] == .name'
	check "$probe: its values are shown" dartctl show $probe
	[ $probe != tcpconn ] ||
		refuse "it is not loaded twice" EEXIST dartctl probe load $probe
	check "$probe is unloaded" dartctl probe unload $probe
done
check "nothing of them is left in the table" [ "$(entries)" = "$before" ]
check "they are there to be loaded again" holds tcpconn '.loaded | not'
refuse "a probe is not unloaded twice" "not loaded" dartctl probe unload tcpconn
refuse "probes are for root only" "only root" setpriv --reuid 65534 \
	--clear-groups dartctl probe load tcpconn
refuse "no such probe" "no probe 'absent'" dartctl probe load absent
# Maps live as long as the leases of their entries; nobody is told of their end.
until [ "$(dartctl -j status | jq .status.leases)" -eq 0 ]; do
	sleep 0.5
done
check "their maps are gone" [ -z "$(bpftool map show | grep -E \
	'name (tcpconn|runqlat|biolat|cgroupnet|row_of|free_rows|issued)')" ]

bpftool map create /sys/fs/bpf/taken type array key 4 value 8 entries 1 \
	name taken flags 1024
dartctl register map /sys/fs/bpf/taken as runqlat >"$output"
refuse "an entry of that name is in the way" "already" dartctl probe load runqlat
check "and nothing of the probe was loaded" holds runqlat '.loaded | not'
dartctl unregister runqlat >"$output"

# Each CPU's 9th figure: how often a task that had waited got it.
scheduled() {
	awk '/^cpu/ { sum += $10 } END { print sum }' /proc/schedstat
}

dartctl probe load runqlat
low=$(scheduled)
first=$(counted runqlat latency)
first_high=$(scheduled)
load switches 5000 >"$output"
last_low=$(scheduled)
last=$(counted runqlat latency)
high=$(scheduled)
check "runqlat counts what /proc/schedstat counts" \
	between $((last_low - first_high)) $((last - first)) $((high - low))
check "runqlat: among it what was done" [ $((last - first)) -ge 5000 ]

# Requests that all devices have completed: reads are the 1st figure, writes the 5th.
completed() {
	cat /sys/block/*/stat | awk -v field="$1" '{ sum += $field } END { print sum }'
}

modprobe null_blk nr_devices=1
dartctl probe load biolat
load reads 10 /dev/nullb0 >"$output"
low=$(completed 1) && low_writes=$(completed 5)
first=$(counted biolat read) && first_writes=$(counted biolat write)
first_queued=$(counted biolat queued)
load reads 700 /dev/nullb0 >"$output"
load writes 300 /dev/nullb0 >"$output"
last=$(counted biolat read) && last_writes=$(counted biolat write)
check "biolat counts the reads that the kernel counts" \
	[ $((last - first)) -eq $(($(completed 1) - low)) ]
check "biolat: among them what was read" [ $((last - first)) -ge 700 ]
check "biolat counts the writes that the kernel counts" \
	[ $((last_writes - first_writes)) -eq $(($(completed 5) - low_writes)) ]
check "biolat: among them what was written" \
	[ $((last_writes - first_writes)) -ge 300 ]
check "biolat: each of them was handed to the device" \
	[ $(($(counted biolat queued) - first_queued)) -ge 1000 ]

# inside CGROUP COMMAND...: runs it there
inside() {
	(
		sh -c 'echo $PPID' >"/sys/fs/cgroup/$1/cgroup.procs"
		shift
		exec "$@"
	)
}

# net CGROUP: its figures, null if it has no row
net() {
	dartctl -j show cgroupnet | jq -c --argjson id "$1" '
		[.entry.values.rows[] | select(.cgroup == $id) |
		[.received_bytes, .received_packets, .sent_bytes, .sent_packets]][0]'
}

ip link set lo up
dartctl probe load cgroupnet
mkdir /sys/fs/cgroup/one /sys/fs/cgroup/two
one=$(stat -c %i /sys/fs/cgroup/one)
two=$(stat -c %i /sys/fs/cgroup/two)
inside one load datagrams 300 >"$output"
inside two load datagrams 20 >"$output"
inside one load datagrams 7 >"$output"
# 1000 bytes behind headers of UDP and IPv4
check "cgroupnet counts what one cgroup has sent and received" \
	[ "$(net "$one")" = "[$((307 * 1028)),307,$((307 * 1028)),307]" ]
check "and another" \
	[ "$(net "$two")" = "[$((20 * 1028)),20,$((20 * 1028)),20]" ]
rmdir /sys/fs/cgroup/one
check "a cgroup that was removed has no row" [ "$(net "$one")" = null ]
check "the other still has" [ "$(net "$two")" != null ]

# twins: a cgroup, and one of version 1 with the same number, $number
twins() {
	mkdir /run/v1 && mount -t cgroup -o none,name=other other /run/v1 || return
	count=0
	number_of_v1=0
	for attempt in $(seq 40); do
		twin=twin.$attempt
		mkdir "/sys/fs/cgroup/$twin"
		number=$(stat -c %i "/sys/fs/cgroup/$twin")
		while [ "$number_of_v1" -lt "$number" ]; do
			count=$((count + 1))
			mkdir "/run/v1/$count" || return
			number_of_v1=$(stat -c %i "/run/v1/$count")
		done
		[ "$number_of_v1" -ne "$number" ] || return 0
	done
	return 1
}
check "a cgroup, and one of version 1 with its number" twins
inside "$twin" load datagrams 5 >"$output"
rmdir "/run/v1/$count"
inside "$twin" load datagrams 3 >"$output"
check "are two: the row of the first outlives the second" \
	[ "$(net "$number")" = "[$((8 * 1028)),8,$((8 * 1028)),8]" ]

# The root cgroup may be sent something meanwhile.
rows() {
	dartctl -j show cgroupnet | jq '.entry.values.rows | length'
}
low=$(rows)
in_use=$(dartctl -j show cgroupnet.rows | jq '.entry.values.rows[0].in_use')
check "as many rows are in use as there are" between "$low" "$in_use" "$(rows)"

check "the agent ends" host_down
finish
