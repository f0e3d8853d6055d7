#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Loaded probes have entries, and their counts agree with the kernel's.
. "$(dirname "$0")/../lib.sh"

# holds NAME JQ: for the probe in the list
# shellcheck disable=SC2016 # $name is a variable of jq
holds() {
	dartctl -j probe list | is_true --arg name "$1" \
		'.[] | select(.name == $name) | '"$2"
}

entries() {
	dartctl -j list | gojq -c 'map(.name)'
}

# between LOW VALUE HIGH
between() {
	echo "$1 <= $2 <= $3"
	[ "$1" -le "$2" ] && [ "$2" -le "$3" ]
}

# counted ENTRY FIELD: the sum of a histogram
counted() {
	dartctl -j show "$1" | gojq ".values.sum.$2 | add"
}

# With the capabilities of dartd.service only, or as this service.
confined_up() {
	if grep -qx systemd /proc/1/comm; then
		host_up
		return
	fi
	modprobe dart_zero && rdma_up &&
		until_ready /run/dartd.log setpriv --bounding-set "-all$(sed -n \
		s/^CapabilityBoundingSet=//p "$tests/../agent/dartd.service" |
		sed 's/ *CAP_/,+/g' | tr '[:upper:]' '[:lower:]')" dartd
}

# The service starts with this group; root must change to it.
grep -qx systemd /proc/1/comm || sed -i /^dart:/d /etc/group
check "the agent starts with the capabilities of its service" confined_up
chmod 666 /run/dart/dartd.sock
check "the probe tcp is loaded when the agent starts" \
	holds tcp '.loaded and .entries == ["tcp"]'
before=$(entries)
for probe in tcpconn runqlat biolat cgroupnet; do
	check "the probe $probe can be loaded" dartctl probe load $probe
	check "the probe $probe lists its entries once it is loaded" holds $probe \
		'.loaded and .entries[0] == .name'
	check "dartctl shows the values of the probe $probe" dartctl show $probe
	[ $probe != tcpconn ] || refuse "a loaded probe is refused a second time" \
		"already loaded" dartctl probe load $probe
	check "the probe $probe can be unloaded" dartctl probe unload $probe
done
check "unloaded probes leave no entry in the table" [ "$(entries)" = "$before" ]
check "an unloaded probe remains in the list of probes" holds tcpconn '.loaded | not'
refuse "a probe that is not loaded cannot be unloaded" "not loaded" \
	dartctl probe unload tcpconn
refuse "only root may load a probe" "only root" setpriv --reuid 65534 \
	--clear-groups dartctl probe load tcpconn
refuse "a probe that does not exist is refused" "no probe 'absent'" \
	dartctl probe load absent
# Maps live as long as the leases of their entries, which end without an event.
until [ "$(dartctl -j status | gojq .leases)" -eq 0 ]; do
	sleep 0.5
done
check "maps of unloaded probes no longer exist once their leases end" \
	[ -z "$(bpftool map show | grep -E \
	'name (tcpconn|runqlat|biolat|cgroupnet|row_of|free_rows|issued)')" ]

bpftool map create /sys/fs/bpf/taken type array key 4 value 8 entries 1 \
	name taken flags 1024
dartctl register map /sys/fs/bpf/taken as runqlat >"$output"
refuse "a probe is refused if its name is taken by another entry" "already" \
	dartctl probe load runqlat
check "a refused probe is not loaded" holds runqlat '.loaded | not'
dartctl unregister runqlat >"$output"

# Figure 9 of each CPU: how often a task that had waited got the CPU.
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
check "runqlat counts the same waits for a CPU as /proc/schedstat" \
	between $((last_low - first_high)) $((last - first)) $((high - low))
check "runqlat counts at least the 5000 switches of the test" \
	[ $((last - first)) -ge 5000 ]

# long_waits: waits of 262 ms or more
long_waits() {
	dartctl -j show runqlat | gojq '.values.sum.latency[18:] | add'
}
before=$(long_waits)
load moves 20 >"$output"
check "runqlat counts the whole wait of 20 tasks that are moved to another CPU" \
	[ $(($(long_waits) - before)) -ge 20 ]

# completed FIGURE: requests that all devices completed: 1 for reads, 5 for writes
completed() {
	cat /sys/block/*/stat | awk -v field="$1" '{ sum += $field } END { print sum }'
}

modprobe -r -q null_blk	# of other tests, perhaps without a device
modprobe null_blk nr_devices=1
dartctl probe load biolat
load reads 10 /dev/nullb0 >"$output"
low=$(completed 1) && low_writes=$(completed 5)
first=$(counted biolat read) && first_writes=$(counted biolat write)
first_queued=$(counted biolat queued)
load reads 700 /dev/nullb0 >"$output"
load writes 300 /dev/nullb0 >"$output"
last=$(counted biolat read) && last_writes=$(counted biolat write)
check "biolat counts the same reads as the kernel's disk statistics" \
	[ $((last - first)) -eq $(($(completed 1) - low)) ]
check "biolat counts at least the 700 reads of the test" [ $((last - first)) -ge 700 ]
check "biolat counts the same writes as the kernel's disk statistics" \
	[ $((last_writes - first_writes)) -eq $(($(completed 5) - low_writes)) ]
check "biolat counts at least the 300 writes of the test" \
	[ $((last_writes - first_writes)) -ge 300 ]
check "biolat counts the time in the queue of all 1000 requests" \
	[ $(($(counted biolat queued) - first_queued)) -ge 1000 ]

# inside CGROUP COMMAND...: runs it there
inside() {
	(
		sh -c 'echo $PPID' >"/sys/fs/cgroup/$1/cgroup.procs"
		shift
		exec "$@"
	)
}

# net CGROUP: its figures, or null without a row
net() {
	dartctl -j show cgroupnet | gojq -c --argjson id "$1" '
		[.values.rows[] | select(.cgroup == $id) |
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
# 1000 bytes after the headers of UDP and IPv4.
check "cgroupnet counts sent and received traffic of a cgroup in two turns" \
	[ "$(net "$one")" = "[$((307 * 1028)),307,$((307 * 1028)),307]" ]
check "cgroupnet counts a second cgroup separately" \
	[ "$(net "$two")" = "[$((20 * 1028)),20,$((20 * 1028)),20]" ]
rmdir /sys/fs/cgroup/one
check "cgroupnet has no row for a cgroup that was removed" [ "$(net "$one")" = null ]
check "the row of one cgroup survives the removal of another" [ "$(net "$two")" != null ]

# below COUNT FIRST COMMAND: runs it on COUNT names of cgroups of version 1, from FIRST on
below() {
	seq "$2" $(($2 + $1 - 1)) | (cd /run/v1 && xargs -r "$3")
}

# twins: makes a cgroup $twin and one of version 1, $last, both with the id $number.
# Cgroups of other tests used up ids of version 2 by the ten thousand: so version 1
# catches up in strides, one directory's ids at a time. A directory takes an id for itself and for
# each of its files. At the root, the files of controllers that other tests enabled there can make
# that a multiple of the stride: then the ids never meet. So the twins lie in a cgroup that enables
# no controllers.
twins() {
	mkdir /sys/fs/cgroup/twins || return
	mkdir /run/v1 && mount -t cgroup -o none,name=other other /run/v1 || return
	below 2 1 mkdir || return
	last=2
	number_of_v1=$(stat -c %i /run/v1/2)
	stride=$((number_of_v1 - $(stat -c %i /run/v1/1)))
	for attempt in $(seq 40); do
		twin=twins/$attempt
		mkdir "/sys/fs/cgroup/$twin" || return
		number=$(stat -c %i "/sys/fs/cgroup/$twin")
		missing=$(((number - number_of_v1) / stride))
		if [ "$missing" -gt 0 ]; then
			below "$missing" $((last + 1)) mkdir || return
			below "$missing" "$last" rmdir || return
			last=$((last + missing))
			number_of_v1=$(stat -c %i "/run/v1/$last")
		fi
		echo "attempt $attempt: $number, with version 1 $number_of_v1"
		[ "$number_of_v1" -ne "$number" ] || return 0
	done
	return 1
}
check "a cgroup of version 1 can have the id of a cgroup of version 2" twins
inside "$twin" load datagrams 5 >"$output"
rmdir "/run/v1/$last"
inside "$twin" load datagrams 3 >"$output"
check "the row of a cgroup survives the removal of a version 1 cgroup with its id" \
	[ "$(net "$number")" = "[$((8 * 1028)),8,$((8 * 1028)),8]" ]

# Packets to the root cgroup may add a row meanwhile.
rows() {
	dartctl -j show cgroupnet | gojq '.values.rows | length'
}
low=$(rows)
in_use=$(dartctl -j show cgroupnet.rows | gojq '.values.rows[0].in_use')
check "cgroupnet says as many rows in use as it shows" \
	between "$low" "$in_use" "$(rows)"

check "the agent stops" host_down
finish
