#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Namespaces, devices, cgroups and disks that end, and follows that see others
# come: the controller is told, nobody waits, and the agent sleeps in between.
# shellcheck disable=SC2016 # what is in single quotes is for the host
. "$(dirname "$0")/../lib.sh"

work=$(mktemp -d)
cgroups=/sys/fs/cgroup

# has ENTRY, lacks ENTRY: reads lines of the controller until one does. Not with
# jq, which would fall behind.
has() {
	while read -r -t 30 line <&3; do
		[[ $line != *"\"$1\":"* ]] || return 0
	done
	return 1
}

lacks() {
	while read -r -t 30 line <&3; do
		[[ $line != *'"entries":'* || $line == *"\"$1\":"* ]] ||
			return 0
	done
	return 1
}

# The names of entries that begin with PREFIX, on one line.
names() {
	on host dartctl -j list | jq -r "[.entries[].name |
		select(startswith(\"$1\"))] | sort | join(\" \")"
}

# settled: nothing is on lease any more.
settled() {
	until on host dartctl -j status | is_true '.status.leases == 0'; do
		sleep 0.5
	done
}

pins() {
	on host sh -c 'echo 1 >/proc/sys/vm/stat_refresh
		awk "\$1 == \"nr_foll_pin_acquired\" { sum += \$2 }
		\$1 == \"nr_foll_pin_released\" { sum -= \$2 }
		END { print sum + 0 }" /proc/vmstat
		rdma resource show mr | wc -l'
}

# The context switches of the agent while nothing happens, once it has seen that
# its last peer has gone.
idle_switches() {
	on host sh -c 'switches() {
			awk "/ctxt_switches/ { sum += \$2 } END { print sum }" \
				"/proc/$(pidof dartd)/status"
		}
		sleep 1
		before=$(switches)
		sleep 3
		echo $(($(switches) - before))'
}

rdma_up
check "the agent starts" on host host_up
on host sh -c "ip netns add blue
	ip link add v0 type veth peer name v1 netns blue
	ip link add d0 type dummy
	mkdir -p $cgroups/pods/one $cgroups/other
	modprobe configfs
	modprobe null_blk nr_devices=0
	mount -t configfs none /sys/kernel/config
	mkdir /sys/kernel/config/nullb/n0
	echo 1 >/sys/kernel/config/nullb/n0/power"
before=$(pins)

mkfifo "$work/lines"
dart-controller --json --interval 500ms host >"$work/lines" \
	2>"$work/messages" &
controller=$!
exec 3<"$work/lines"
check "sources of all kinds are registered" on host sh -ec '
	dartctl register source snmp:tcp --netns blue
	dartctl register source netdev:stats --netdev v0
	dartctl register source netdev:core --netdev v1 --netns blue
	dartctl register source netdev:stats --netdev d0
	dartctl register source cgroup:cpu --cgroup /other
	dartctl register source disk:stats --disk n0'
check "the controller reads them" has disk:stats@n0

check "a dummy can be deleted at once" on host timeout 5 ip link del d0
check "the controller sees that it is gone" lacks netdev:stats@d0
check "a cgroup can be removed" on host rmdir $cgroups/other
check "the controller sees that it is gone" lacks cgroup:cpu@/other
check "a disk can be removed" on host timeout 10 \
	rmdir /sys/kernel/config/nullb/n0
check "the controller sees that it is gone" lacks disk:stats@n0
check "a namespace can be deleted at once" on host timeout 5 ip netns del blue
check "the controller sees that it is gone" lacks snmp:tcp@blue
check "and its device" lacks netdev:core@blue/v1
check "and the peer of that" lacks netdev:stats@v0
check "the list has shortened" [ "$(names snmp)$(names netdev)" = "" ]
check "all leases have run out" settled
check "as many pages are pinned and memory regions there as before" \
	[ "$(pins)" = "$before" ]

on host sh -c 'ip netns add red
	echo 8 >/proc/sys/fs/inotify/max_queued_events'
check "all namespaces are followed" \
	on host dartctl register source snmp:udp --all-netns
check "all cgroups of a subtree are followed" \
	on host dartctl register source cgroup:cpu --all-cgroups pods
check "those that were there are registered" \
	[ "$(names snmp)" = "snmp:udp snmp:udp@* snmp:udp@red" ]
check "each of them" [ "$(names cgroup:cpu@/pods)" = \
	"cgroup:cpu@/pods cgroup:cpu@/pods/** cgroup:cpu@/pods/one" ]
refuse "one of them cannot be unregistered alone" "is part of" \
	on host dartctl unregister snmp:udp@red
check "the controller reads them" has cgroup:cpu@/pods/one

generation=$(on host dartctl -j status | jq .status.generation)
on host mkdir -p $cgroups/pods/two/deep
check "cgroups that come are read" has cgroup:cpu@/pods/two/deep
check "what comes together is published together" \
	[ "$(on host dartctl -j status | jq .status.generation)" -le \
		$((generation + 2)) ]
on host ip netns add green
inode=$(on host stat -L -c %i /run/netns/green)
check "a namespace that comes is read" has "snmp:udp@net:$inode"
on host sh -c "rmdir $cgroups/pods/two/deep $cgroups/pods/two"
check "cgroups that go are not" lacks cgroup:cpu@/pods/two
on host ip netns del green
check "nor is a namespace that goes" lacks "snmp:udp@net:$inode"
check "all leases have run out" settled

kill -INT $controller
wait $controller
exec 3<&-
check "the controller has said what is gone" \
	grep -q "entry 'disk:stats@n0' no longer exists" "$work/messages"
check "the agent has not run while nothing changed" [ "$(idle_switches)" -eq 0 ]

# More than the queue of the follow holds.
check "40 cgroups come, and others go, while the agent does not look" \
	on host sh -c "kill -STOP \$(pidof dartd)
		rmdir $cgroups/pods/one
		for i in \$(seq 40); do mkdir $cgroups/pods/c\$i; done
		mkdir $cgroups/pods/one
		kill -CONT \$(pidof dartd)"
check "a follow is unregistered by its name" \
	on host dartctl unregister snmp:udp@*
check "and all of its entries with it" [ "$(names snmp)" = "" ]
check "40 cgroups are there" [ "$(names cgroup | wc -w)" -eq 43 ]
on host sh -c "rmdir $cgroups/pods/* 2>/dev/null; rmdir $cgroups/pods"
check "a follow ends with what it follows" [ "$(names cgroup)" = "" ]
check "all leases have run out" settled
check "as many pages are pinned and memory regions there as before" \
	[ "$(pins)" = "$before" ]

on host ip netns del red
check "the agent ends" on host host_down
check "the module can be unloaded" on host modprobe -r dart_zero
rm -r "$work"
finish
