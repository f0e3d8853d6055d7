#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Scrapes of a host with 40 containers agree with the kernel, and the agent does not run.
. "$(dirname "$0")/../lib.sh"

report=$(mktemp)

# scrape COUNT INTERVAL: long enough in all for complete snapshots meanwhile
scrape() {
	dart-controller --interval "$2" --count "$1" --json host |
		compare host 4793 >"$report"
}

holds() {
	is_true "$1" "$report" || ! cat "$report"
}

rdma_up
check "a host starts 40 containers" on host containers 40
sections=()
for i in {0..39}; do
	sections+=("cpu.stat /containers/c$i=/sys/fs/cgroup/containers/c$i/cpu.stat")
done
for i in 0 1; do
	# shellcheck disable=SC2016 # expands in the other guest
	pid=$(on host sh -c 'cat /sys/fs/cgroup/containers/$0/cgroup.procs' c$i)
	sections+=("snmp c$i=/proc/$pid/net/snmp")
done
check "the host serves snapshots of its /proc files" \
	on host until_ready /run/snapshots.log \
	snapshots 4793 "${sections[@]}" true

for run in exact:100:100ms page:20:500ms; do
	IFS=: read -r exposure count interval <<<"$run"
	check "$exposure: the agent starts" \
		on host host_up --exposure "$exposure"
	for source in cpustat vmstat softnet "snmp:tcp --netns c0" \
		"snmp:tcp --netns c1" "cgroup:cpu --all-cgroups /containers"; do
		# shellcheck disable=SC2086 # a name and its selector
		check "$exposure: the source '$source' is registered" \
			on host dartctl register source $source
	done
	check "$exposure: the agent has nothing left to do" on host settled
	check "$exposure: every value lies between two snapshots of the kernel's" \
		scrape "$count" "$interval"
	figures=$(gojq -r '"\(.reads_per_scrape) READs, median " +
		"\(.controller.latency_ns.p50 / 1e4 | round / 100) ms"' "$report")
	figures+=$(on host dartctl -j status |
		gojq -r '", \(.used / '"$(getconf PAGE_SIZE)"') pages of \(.extents) extents"')
	check "$exposure: no scrape fails: $figures" \
		holds ".scrapes == $count and .failed_scrapes == 0"
	# shellcheck disable=SC2016 # expands in jq
	check "$exposure: values of each of 40 cgroups were compared" \
		holds '.comparisons as $compared |
		all(range(40); $compared["cgroup:cpu@/containers/c\(.)"] > 0)'
	check "$exposure: values of both namespaces were compared" holds \
		'.comparisons | .["snmp:tcp@c0"] > 0 and .["snmp:tcp@c1"] > 0'
	check "$exposure: values of the machine itself were compared" holds \
		'.comparisons | .cpustat > 0 and .vmstat > 0 and .softnet > 0'
	check "$exposure: scrapes cause no context switch of the agent" \
		holds '.agent_context_switches == 0'
	check "$exposure: scrapes take no CPU time of the agent" \
		holds '.agent_cpu_ns == 0'
	check "$exposure: the agent stops" on host host_down
done
on host sh -c 'echo 1 >/sys/fs/cgroup/containers/cgroup.kill
	ip -all netns delete'
on host pkill -x snapshots
finish
