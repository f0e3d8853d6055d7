#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Namespaces, devices, cgroups and disks end at once, although a controller reads them.
# shellcheck disable=SC2016 # single quotes: for the host
. "$(dirname "$0")/../lib.sh"

work=$(mktemp -d)
cgroups=/sys/fs/cgroup

# has ENTRY, lacks ENTRY: reads lines of the controller until a line does
has() {
	timeout 30 grep -q -F -m 1 "\"$1\":" <&3
}

lacks() {
	timeout 30 sed -n "/\"entries\":/{\\|\"$1\":|!q9}" <&3
	[ $? = 9 ]
}

# The names of entries that begin with PREFIX, on one line.
names() {
	on host dartctl -j list | gojq -r "[.[].name |
		select(startswith(\"$1\"))] | sort | join(\" \")"
}

pins() {
	on host sh -c 'echo 1 >/proc/sys/vm/stat_refresh
		awk "\$1 == \"nr_foll_pin_acquired\" { sum += \$2 }
		\$1 == \"nr_foll_pin_released\" { sum -= \$2 }
		END { print sum + 0 }" /proc/vmstat
		rdma resource show mr | wc -l'
}

# Context switches of the agent in 3 s without events, after it handled the end of its
# last connection.
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
check "sources of a namespace, devices, a cgroup and a disk are registered" on host sh -ec '
	dartctl register source snmp:tcp --netns blue
	dartctl register source netdev:stats --netdev v0
	dartctl register source netdev:core --netdev v1 --netns blue
	dartctl register source netdev:stats --netdev d0
	dartctl register source cgroup:cpu --cgroup /other
	dartctl register source disk:stats --disk n0'
check "a controller reads the registered sources" has disk:stats@n0

check "a registered network device can be deleted at once" \
	on host timeout 120 ip link del d0
check "a controller sees that a deleted network device left the table" \
	lacks netdev:stats@d0
check "a registered cgroup can be removed" on host rmdir $cgroups/other
check "a controller sees that a removed cgroup left the table" lacks cgroup:cpu@/other
check "a registered disk can be removed" on host timeout 120 \
	rmdir /sys/kernel/config/nullb/n0
check "a controller sees that a removed disk left the table" lacks disk:stats@n0
check "a registered namespace can be deleted at once" \
	on host timeout 120 ip netns del blue
check "a controller sees that a deleted namespace left the table" lacks snmp:tcp@blue
check "a controller sees that a device in a deleted namespace left the table" \
	lacks netdev:core@blue/v1
check "a controller sees that the veth peer of such a device left the table" \
	lacks netdev:stats@v0
check "the agent lists no source of removed objects" \
	[ "$(names snmp)$(names netdev)" = "" ]
check "all leases on removed entries end" on host settled
check "removed sources leave no pinned pages and no memory regions" \
	[ "$(pins)" = "$before" ]

on host sh -c 'ip netns add red
	echo 8 >/proc/sys/fs/inotify/max_queued_events'
check "a source can follow all namespaces" \
	on host dartctl register source snmp:udp --all-netns
check "a source can follow all cgroups of a subtree" \
	on host dartctl register source cgroup:cpu --all-cgroups pods
check "a follower registers the namespaces that exist" \
	[ "$(names snmp)" = "snmp:udp snmp:udp@* snmp:udp@red" ]
check "a follower registers the cgroups that exist" [ "$(names cgroup:cpu@/pods)" = \
	"cgroup:cpu@/pods cgroup:cpu@/pods/** cgroup:cpu@/pods/one" ]
refuse "a followed namespace cannot be unregistered alone" "is part of" \
	on host dartctl unregister snmp:udp@red
check "a controller reads followed cgroups" has cgroup:cpu@/pods/one

generation=$(on host dartctl -j status | gojq .generation)
on host mkdir -p $cgroups/pods/two/deep
check "a controller reads a cgroup that was made under a follower" \
	has cgroup:cpu@/pods/two/deep
check "two cgroups made together change the generation at most twice" \
	[ "$(on host dartctl -j status | gojq .generation)" -le \
		$((generation + 2)) ]
# ip-netns(8) names a namespace before or after the agent sees it; this one has no name.
inode=$(on host sh -c 'mkfifo /run/inode
	unshare --net sh -c "stat -L -c %i /proc/self/ns/net >/run/inode
		exec sleep infinity" >/dev/null 2>&1 &
	echo $! >/run/inside
	cat /run/inode
	rm /run/inode')
check "a controller reads a namespace that was made under a follower" \
	has "snmp:udp@net:$inode"
on host sh -c "rmdir $cgroups/pods/two/deep $cgroups/pods/two"
check "a controller sees that a removed cgroup left its follower" \
	lacks cgroup:cpu@/pods/two
on host sh -c 'kill $(cat /run/inside)'
check "a controller sees that an ended namespace left its follower" \
	lacks "snmp:udp@net:$inode"
check "all leases on followed entries end" on host settled

kill -INT $controller
exec 3<&-	# a controller that waits to write its line would not end
wait $controller
check "the controller's log names an entry that was removed" \
	grep -q "entry 'disk:stats@n0' no longer exists" "$work/messages"
check "the agent does not run while nothing changes" [ "$(idle_switches)" -eq 0 ]

# More than the follower's inotify queue holds.
check "40 cgroups are made and another is replaced while the agent is stopped" \
	on host sh -c "kill -STOP \$(pidof dartd)
		rmdir $cgroups/pods/one
		for i in \$(seq 40); do mkdir $cgroups/pods/c\$i; done
		mkdir $cgroups/pods/one
		kill -CONT \$(pidof dartd)"
check "a follower can be unregistered by its name" \
	on host dartctl unregister snmp:udp@*
check "an unregistered follower takes all its entries out of the table" \
	[ "$(names snmp)" = "" ]
check "a follower registers 40 cgroups after its queue overflowed" \
	[ "$(names cgroup | wc -w)" -eq 43 ]
on host sh -c "rmdir $cgroups/pods/* 2>/dev/null; rmdir $cgroups/pods"
check "a follower ends when its subtree is removed" [ "$(names cgroup)" = "" ]
check "all leases on entries of former followers end" on host settled
check "former followers leave no pinned pages and no memory regions" \
	[ "$(pins)" = "$before" ]

on host ip netns del red
check "the agent stops" on host host_down
check "the module can be unloaded after the agent stopped" on host modprobe -r dart_zero
rm -r "$work"
finish
