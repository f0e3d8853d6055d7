#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every way to select a namespace, device, disk or cgroup gives the entry its documented name.
. "$(dirname "$0")/../lib.sh"

# becomes NAME SOURCE [SELECTOR...]: registers it, and unregisters it by NAME
becomes() {
	entry=$1
	shift
	check "'register source $*' is accepted" dartctl register source "$@"
	check "'register source $*' has made the entry $entry" dartctl unregister "$entry"
}

check "the agent starts" host_up
ip netns add blue
inode=$(stat -L -c %i /run/netns/blue)
ip netns exec blue sleep infinity &
process=$!
ip -n blue link add br0 type bridge
mkdir -p "/sys/fs/cgroup/a b/c"
modprobe loop
ln -s loop3 /dev/disk3

becomes snmp:ip snmp:ip
becomes snmp:ip@blue snmp:ip --netns blue
becomes "snmp:ip@net:$inode" snmp:ip --netns /run/netns/blue
until [ "$(readlink "/proc/$process/ns/net")" = "net:[$inode]" ]; do
	sleep 0.1
done
becomes "snmp:ip@net:$inode" snmp:ip --netns $process
becomes netdev:stats@lo netdev:stats --netdev lo
becomes netdev:stats@blue/br0 netdev:stats --netdev br0 --netns blue
becomes disk:stats@loop3 disk:stats --disk loop3
becomes disk:stats@loop3 disk:stats --disk /dev/disk3
becomes cgroup:cpu@/a%20b/c cgroup:cpu --cgroup "a b/c"
becomes cgroup:cpu@/a%20b/c cgroup:cpu --cgroup "/sys/fs/cgroup/a b/c/"

check "a subtree of cgroups with a blank in its name can be followed" \
	dartctl register source cgroup:cpu --all-cgroups "/a b"
refuse "a cgroup that is followed cannot be registered by itself" "already" \
	dartctl register source cgroup:cpu --cgroup "a b/c"
refuse "a subtree of cgroups that is followed cannot be followed again" \
	"followed already" dartctl register source cgroup:cpu --all-cgroups "a b"
check "a namespace is registered by its name" \
	dartctl register source snmp:ip --netns blue
refuse "a registered namespace is refused by way of a process in it" \
	"already, as 'snmp:ip@blue'" dartctl register source snmp:ip --netns $process
check "all namespaces can be followed although one of them is registered" \
	dartctl register source snmp:ip --all-netns
kill $process
check "a namespace that was registered before the follower can be unregistered alone" \
	dartctl unregister snmp:ip@blue
check "the follower of all namespaces can be unregistered" dartctl unregister "snmp:ip@*"
check "the agent stops" host_down
finish
