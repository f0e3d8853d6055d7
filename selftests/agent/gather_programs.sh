#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Without the module dartd gathers a whole host by eBPF programs, with the names and values that the
# module's way has; requests that need the module are refused in one sentence.
GATHERER=programs
export GATHERER
. "$(dirname "$0")/../lib.sh"

# value ENTRY PATH: in the values of an entry
value() {
	dartctl -j show "$1+100ms" | gojq ".values$2"
}

# has_values ENTRY: the table shows values of the entry
has_values() {
	dartctl -j show "$1+100ms" | is_true '[.. | numbers] | length > 0'
}

# faults: page faults, between two that the kernel shows
faults() {
	local before during after
	before=$(awk '/^pgfault/ { print $2 }' /proc/vmstat)
	passed
	during=$(value vmstat .sum.pgfault)
	after=$(awk '/^pgfault/ { print $2 }' /proc/vmstat)
	echo "$before <= $during <= $after"
	[ "$before" -le "$during" ] && [ "$during" -le "$after" ]
}

# arm64 does not count the interrupts of irqs.
[ "$(uname -m)" = x86_64 ] && absent='' || absent=irqs

# registers_host: all sources of the whole host, none left out that this machine has
registers_host() {
	dartctl -j register host --gather 100ms >/run/host.json &&
		gojq -c .left_out /run/host.json && is_true "[.left_out[].source] ==
			[\"$absent\" | select(. != \"\")]" </run/host.json
}

# entries_are COUNT NAME: the names of COUNT entries begin with NAME
entries_are() {
	[ "$(entry_names | prefix=$2 awk 'index($0, ENVIRON["prefix"]) == 1' | wc -l)" = "$1" ]
}

check "the module is not loaded" sh -c 'modprobe -r dart_zero; ! grep -q ^dart_zero /proc/modules'
check "the agent starts" host_up
check "status says that programs gather" \
	sh -c 'dartctl -j status | is_true ".gatherer == \"programs\" and (.windows | not)"'
check "the entry of dartd says so" \
	sh -c 'dartctl -j show dartd | is_true ".values.rows[0].gathering_modules == 0"'
refuse "a source without --gather is refused, with both remedies" \
	"eBPF programs.*--gather.*load the module" dartctl source add cpustat
refuse "counters of eBPF programs are refused with the remedy" "load the module dart_zero" \
	dartctl counters add some_counters one
check "a whole host is registered, and no source is left out" registers_host
# Maps that earlier tests of this machine pinned would be counted, too.
find /sys/fs/bpf -mindepth 1 -delete
check "no map of dartd itself is missing" \
	sh -c 'dartctl -j status | is_true ".coverage[] | select(.kind == \"maps\").missing == []"'
for entry in cpustat vmstat softnet softirqs load memory files clock cpus processes pressure tasks sockets \
	snmp:tcp snmp:tcpext netdev:link@lo node:memory node:zones gathering; do
	check "$entry has values" has_values $entry
done
check "the table has a row of memory for each node, and no more" \
	[ "$(dartctl -j list | gojq '.[] | select(.name == "node:memory+100ms").copies')" = \
		"$(find /sys/devices/system/node -name 'node[0-9]*' | wc -l)" ]
check "page faults lie between two readings of the kernel's" faults
# On a busy machine more passes are missed.
check "passes of the gathering are counted" \
	sh -c 'dartctl -j show gathering+100ms | is_true ".values.sum.passes > 0"'

mkdir /sys/fs/cgroup/gathered
check "a new cgroup has entries" soon entries_are 1 "cgroup:memory@/gathered"
rmdir /sys/fs/cgroup/gathered
check "the entries of a removed cgroup leave" soon entries_are 0 "cgroup:memory@/gathered"

ip netns add gathered
check "a new network namespace has entries" soon entries_are 1 "snmp:tcp@gathered"
ip netns delete gathered
check "the entries of a removed network namespace leave" soon entries_are 0 "snmp:tcp@gathered"

check "probes work" dartctl probe load runqlat
check "the agent stops" host_down
check "the agent starts again with all entries" host_up again
check "page faults are gathered again" soon faults
check "the agent stops again" host_down

rdma_up
check "the agent starts with page exposure" host_up --exposure page
for entry in memory load; do
	check "$entry is exposed by the page" dartctl source add $entry --gather 100ms
	check "$entry has values there" has_values $entry
done
check "the agent with page exposure stops" host_down

GATHERER=module
check "the module's way is chosen" sh -c 'echo "gatherer: module" >/etc/dart/dartd.d/gatherer.yaml'
refuse "without the module it is refused with the remedy" "modprobe dart_zero" timeout 120 dartd
finish
