#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# 20 rounds, or 5 in a kernel that looks for faults, where a round takes minutes: the module is in
# use as long as an agent runs, and can be unloaded after the agent was killed, while objects of the
# host come and go.
. "$(dirname "$0")/../lib.sh"

ROUNDS=20
case $(uname -r) in
*-debug-*) ROUNDS=5 ;;
esac
TOP=/sys/fs/cgroup/unload

# come_and_go: namespaces, devices, cgroups, which also run something, disks and file systems
come_and_go() {
	for object in $(seq 6); do
		ip netns add "n$object"
		ip -n "n$object" link add "d$object" type dummy
		ip link add "v$object" type veth peer name "w$object" netns "n$object"
		mkdir -p "$TOP/u$object/below"
		sh -c "echo \$\$ >$TOP/u$object/below/cgroup.procs; :"
		mount -o loop /run/disk /run/mounted && umount /run/mounted
		ip netns delete "n$object"
		rmdir "$TOP/u$object/below" "$TOP/u$object"
	done
	: >/run/came_and_went
}

# gathers PASSES: the agent gathered PASSES times
gathers() {
	[ "$(dartctl -j show gathering+10ms | gojq .values.sum.passes)" -ge "$1" ]
}

# A kernel that looks for faults is slow.
eventually() {
	soon "$@" || soon "$@" || soon "$@" || soon "$@"
}

modprobe -a loop dummy veth 2>/dev/null
truncate -s 8M /run/disk
mkfs.ext4 -q /run/disk 2>/dev/null
mkdir -p /run/mounted "$TOP"
log=/run/dartd.log
started=0 gathered=0 refused=0 unloaded=0 ended=0
for _ in $(seq $ROUNDS); do
	host_up && started=$((started + 1))
	dartctl register host --gather 10ms >/dev/null
	rm -f /run/came_and_went
	come_and_go >/dev/null 2>&1 &
	eventually gathers 2 && gathered=$((gathered + 1))
	rmmod dart_zero 2>/dev/null || refused=$((refused + 1))
	host_down KILL
	eventually rmmod dart_zero && unloaded=$((unloaded + 1))
	wait
	[ -e /run/came_and_went ] && ended=$((ended + 1))
done
check "the agent starts $ROUNDS times" [ $started -eq $ROUNDS ]
check "it gathers all of the host each time" [ $gathered -eq $ROUNDS ]
check "the module cannot be unloaded as long as it runs" [ $refused -eq $ROUNDS ]
check "the module can be unloaded each time, soon after it was killed" [ $unloaded -eq $ROUNDS ]
check "namespaces, devices, cgroups and file systems came and went each time" \
	[ $ended -eq $ROUNDS ]
check "the module is not loaded any more" [ ! -e /sys/module/dart_zero ]
rmdir "$TOP"
finish
