#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The registration socket refuses invalid requests with a reason, and they change nothing.
. "$(dirname "$0")/../lib.sh"

check "the agent starts" host_up
check "the source cpustat is registered" dartctl register source cpustat
check "a store for requests of reporters is created" \
	dartctl store create good --slots 2^4 --value 4
ip netns add red
check "malformed messages leave the lists unchanged" malformed_messages

unprivileged() {
	setpriv --reuid 65534 --clear-groups "$@"
}

while IFS='|' read -r source message; do
	# shellcheck disable=SC2086 # words
	refuse "'register source $source' is refused: $message" "$message" \
		dartctl register source $source
done <<END
netdev:stats|say which
disk:stats|say which
cgroup:cpu|say which
cpustat --netns red|not take a network namespace
snmp:tcp --netdev lo|not take a network device
snmp:tcp --netns absent|no network namespace
netdev:stats --netdev absent|no interface
netdev:stats --netdev eth0|no per-CPU statistics
disk:stats --disk null|is not a disk
cgroup:cpu --cgroup absent|no cgroup
cgroup:cpu --cgroup /|root cgroup
cgroup:cpu --cgroup ../..|not below
cgroup:cpu --all-cgroups absent|no cgroup
vmstat --all-netns|cannot be followed
END

chmod 666 /run/dart/dartd.sock
refuse "only root may register a source" "only root" \
	unprivileged dartctl register source vmstat
refuse "only its owner may unregister a source" "another user's" \
	unprivileged dartctl unregister cpustat
check "every user of the socket may list the entries" unprivileged dartctl list
check "the agent stops" host_down
refuse "without an agent dartctl asks whether dartd is running" "is dartd running" \
	dartctl list
finish
