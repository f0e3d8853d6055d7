#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What one can say to select a source, and what its entry is called then.
. "$(dirname "$0")/../lib.sh"

# becomes NAME SOURCE [SELECTOR...]: registered, and taken back.
becomes() {
	entry=$1
	shift
	check "$* is $entry" dartctl register source "$@"
	check "by that name it is unregistered" dartctl unregister "$entry"
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

check "cgroups with a blank are followed" \
	dartctl register source cgroup:cpu --all-cgroups "/a b"
refuse "what is followed cannot be registered" "already" \
	dartctl register source cgroup:cpu --cgroup "a b/c"
refuse "nor followed again" "followed already" \
	dartctl register source cgroup:cpu --all-cgroups "a b"
check "the namespace is registered" \
	dartctl register source snmp:ip --netns blue
refuse "not a second time by another name" "already, as 'snmp:ip@blue'" \
	dartctl register source snmp:ip --netns $process
check "a follow takes the others" dartctl register source snmp:ip --all-netns
kill $process
check "one that was registered alone is unregistered alone" \
	dartctl unregister snmp:ip@blue
check "the others with the follow" dartctl unregister "snmp:ip@*"
check "the agent ends" host_down
finish
