#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Scrapes of two namespaces, a disk and three cgroups under load agree with the kernel.
# shellcheck disable=SC2016 # single quotes: for the host
. "$(dirname "$0")/../lib.sh"

work=$(mktemp -d)

scrape() {
	dart-controller --interval 400ms --count 40 --json host |
		tee "$work/scrapes" | compare host 4793 >"$work/report"
}

# compared --arg ENTRY COUNT...: each scrape compared at least COUNT numbers of ENTRY
compared() {
	# gojq takes no such names of variables.
	jq -e '.comparisons as $compared | .scrapes_compared as $scrapes |
		$ARGS.named | to_entries | map(.value = (.value | tonumber)) |
		map(select(($compared[.key] // 0) < .value * $scrapes)) |
		$scrapes > 0 and (. == [] or (debug | false))' \
		"$@" "$work/report"
}

# counted "ENTRY FIELD..."...: one of the fields grew; otherwise the comparison would be
# of zeros. Later kernels name some fields differently.
counted() {
	gojq -se '[.[] | .entries // empty] | last | . as $entries |
		$ARGS.positional | map(split(" ")) |
		map(select(.[1:] - ($entries[.[0]].sum // {} | to_entries |
			map(select(.value > 0).key)) == .[1:])) |
		. == [] or (debug | false)' "$work/scrapes" --args "$@"
}

rdma_up
# The variable of irqs is one of x86.
[ "$(uname -m)" = x86_64 ] && irqs=irqs || irqs=
check "the agent starts" on host host_up
check "sources without a selector are registered" on host sh -ec '
	for source in cpustat vmstat softnet softirqs '"$irqs"'; do
		dartctl register source $source
	done'
mapfile -t sections < <(on host busy_host)
check "the host makes namespaces, cgroups and load for all sources" \
	[ ${#sections[@]} -gt 13 ]
check "all sources of two namespaces are registered" on host sh -ec '
	for family in ip ip6 tcp tcpext udp udp6 icmp icmp6; do
		dartctl register source snmp:$family --netns blue
		dartctl register source snmp:$family --netns red
	done
	dartctl register source netdev:stats --netns blue --netdev b0
	dartctl register source netdev:core --netns red --netdev r0'
check "sources of a disk and of three cgroups are registered" on host sh -ec '
	dartctl register source disk:stats --disk loop0
	for cgroup in net cpu disk; do
		dartctl register source cgroup:cpu --cgroup /busy/$cgroup
	done'

check "the host serves snapshots of its /proc files" \
	on host until_ready /run/snapshots.log snapshots 4793 "${sections[@]}" true
check "the agent has nothing left to do" on host settled
check "every value lies between two snapshots of the kernel's" scrape
on host sh -c 'echo 1 >/sys/fs/cgroup/busy/cgroup.kill'
on host pkill -x snapshots
enough=()
for namespace in blue red; do
	for least in ip:34 ip6:31 tcp:10 tcpext:125 udp:9 udp6:8 icmp:5 icmp6:5
	do
		enough+=(--arg "snmp:${least%:*}@$namespace" "${least#*:}")
	done
done
for cgroup in net cpu disk; do
	enough+=(--arg "cgroup:cpu@/busy/$cgroup" 2)
done
check "values of every source were compared in each scrape" compared "${enough[@]}" \
	--arg softirqs 20 ${irqs:+--arg irqs 4} --arg netdev:stats@blue/b0 2 \
	--arg disk:stats@loop0 14
check "the load made a counter of every source move" counted \
	"snmp:tcp@blue activeopens" "snmp:tcp@red passiveopens" \
	"snmp:udp@red noports" "snmp:udp6@red noports" \
	"snmp:icmp@blue inmsgs" "snmp:icmp6@blue inmsgs" \
	"snmp:ip@red inoctets" "snmp:ip6@red inoctets" \
	"snmp:tcpext@blue tcppureacks" "netdev:stats@blue/b0 tx_bytes" \
	"disk:stats@loop0 sectors.write" "disk:stats@loop0 nsecs.flush" \
	"softirqs net_rx" ${irqs:+"irqs apic_timer_irqs apic_timer"} \
	"cgroup:cpu@/busy/net sum_exec_runtime" \
	"cgroup:cpu@/busy/cpu sum_exec_runtime" \
	"cgroup:cpu@/busy/cpu ntime" "cgroup:cpu@/busy/cpu utime" \
	"cgroup:cpu@/busy/cpu stime" "cgroup:cpu@/busy/disk sum_exec_runtime"
check "scrapes cause no context switch of the agent" \
	is_true '.agent_context_switches == 0' "$work/report"
check "scrapes take no CPU time of the agent" \
	is_true '.agent_cpu_ns == 0' "$work/report"
check "the agent stops" on host host_down
rm -r "$work"
finish
