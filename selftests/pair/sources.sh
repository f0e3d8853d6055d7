#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Sources with selectors, of two namespaces and three cgroups at once and under
# load: what the controller reads lies between what the kernel said before and
# after, and the agent does not run.
. "$(dirname "$0")/../lib.sh"

report=$(mktemp)

register() {
	check "registered: $*" on host dartctl register source "$@"
}

# compared ENTRY N: at least N of its numbers in each scrape
compared() {
	check "$1 was compared" jq -e --arg entry "$1" \
		".comparisons[\$entry] >= $2 * .scrapes_compared
			and .scrapes_compared > 0" "$report"
}

# moves ENTRY FIELD: it counts something
moves() {
	check "$1 has counted $2" moved "$1" "$2"
}

moved() {
	on host dartctl -j show "$1" |
		jq -e --arg field "$2" '.entry.values.sum[$field] > 0'
}

families="ip ip6 tcp tcpext udp udp6 icmp icmp6"
rdma_up
check "the agent starts" on host host_up
for source in cpustat vmstat softnet softirqs irqs; do
	register $source
done
mapfile -t sections < <(on host busy_host)
check "the host is busy" [ ${#sections[@]} -gt 13 ]
check "snapshots are served" on host until_ready /run/snapshots.log \
	snapshots 4793 "${sections[@]}" true

for namespace in blue red; do
	for family in $families; do
		register snmp:$family --netns $namespace
	done
done
register netdev:stats --netns blue --netdev b0
register netdev:core --netns red --netdev r0
register disk:stats --disk loop0
for cgroup in net cpu disk; do
	register cgroup:cpu --cgroup /busy/$cgroup
done

check "every value lies between" sh -c \
	'dart-controller --interval 100ms --count 30 --json host |
		compare host 4793 >"$1"' sh "$report"
cat "$output"
for namespace in blue red; do
	compared snmp:ip@$namespace 30
	compared snmp:ip6@$namespace 25
	compared snmp:tcp@$namespace 10
	compared snmp:tcpext@$namespace 100
	compared snmp:udp@$namespace 9
	compared snmp:udp6@$namespace 8
	compared snmp:icmp@$namespace 5
	compared snmp:icmp6@$namespace 5
done
compared netdev:stats@blue/b0 2
compared disk:stats@loop0 14
compared softirqs 20
compared irqs 8
for cgroup in net cpu disk; do
	compared cgroup:cpu@/busy/$cgroup 2
	moves cgroup:cpu@/busy/$cgroup sum_exec_runtime
done
moves snmp:tcp@blue activeopens
moves snmp:tcp@red passiveopens
moves snmp:udp@red noports
moves snmp:udp6@red noports
moves snmp:icmp@blue inmsgs
moves snmp:icmp6@blue inmsgs
moves snmp:ip@red inoctets
moves netdev:stats@blue/b0 tx_bytes
moves disk:stats@loop0 sectors.write
moves disk:stats@loop0 nsecs.flush
moves softirqs net_rx
check "no context switch of the agent" \
	jq -e '.agent_context_switches == 0' "$report"
check "no CPU time of the agent" jq -e '.agent_cpu_ns == 0' "$report"

on host pkill snapshots
on host sh -c 'echo 1 >/sys/fs/cgroup/busy/cgroup.kill'
check "the agent ends" on host host_down
finish
