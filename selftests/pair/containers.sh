#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A host of 40 containers, all of it in one scrape, in both exposures: what the
# controller reads lies between what the kernel said before and after, and the
# agent does not run.
. "$(dirname "$0")/../lib.sh"

report=$(mktemp)

# In page exposure what was registered first is registered anew, and the agent
# runs once more. Nobody is told, so look now and then.
settled() {
	until on host dartctl -j status | tee /dev/stderr |
		is_true '.. | objects | select(has("leases")) | .leases == 0'; do
		sleep 0.5
	done
}

scrape() {
	dart-controller --interval 100ms --count "$1" --json host |
		compare host 4793 >"$report"
}

holds() {
	is_true "$1" "$report" || ! cat "$report"
}

rdma_up
check "40 containers" on host containers 40
sections=()
for i in {0..39}; do
	sections+=("cpu.stat /containers/c$i=/sys/fs/cgroup/containers/c$i/cpu.stat")
done
for i in 0 1; do
	# shellcheck disable=SC2016 # expands in the other guest
	pid=$(on host sh -c 'cat /sys/fs/cgroup/containers/$0/cgroup.procs' c$i)
	sections+=("snmp c$i=/proc/$pid/net/snmp")
done
check "snapshots are served" on host until_ready /run/snapshots.log \
	snapshots 4793 "${sections[@]}" true

for run in exact:100 page:20; do
	exposure=${run%:*}
	check "$exposure: the agent starts" \
		on host host_up --exposure "$exposure"
	for source in cpustat vmstat softnet "snmp:tcp --netns c0" \
		"snmp:tcp --netns c1" "cgroup:cpu --all-cgroups /containers"; do
		# shellcheck disable=SC2086 # a name and its selector
		check "$exposure: $source" on host dartctl register source $source
	done
	check "$exposure: all leases have run out" settled
	check "$exposure: every value lies between" scrape "${run#*:}"
	figures=$(jq -r '"\(.reads_per_scrape) READs, median " +
		"\(.controller.latency_ns.p50 / 1e4 | round / 100) ms"' "$report")
	check "$exposure: every scrape, of $figures" \
		holds ".scrapes == ${run#*:} and .failed_scrapes == 0"
	# shellcheck disable=SC2016 # expands in jq
	check "$exposure: of every cgroup" holds '.comparisons as $compared |
		all(range(40); $compared["cgroup:cpu@/containers/c\(.)"] > 0)'
	check "$exposure: of both namespaces" holds \
		'.comparisons | .["snmp:tcp@c0"] > 0 and .["snmp:tcp@c1"] > 0'
	check "$exposure: of the machine" holds \
		'.comparisons | .cpustat > 0 and .vmstat > 0 and .softnet > 0'
	check "$exposure: no context switch of the agent" \
		holds '.agent_context_switches == 0'
	check "$exposure: no CPU time of the agent" holds '.agent_cpu_ns == 0'
	check "$exposure: the agent ends" on host host_down
done
on host sh -c 'echo 1 >/sys/fs/cgroup/containers/cgroup.kill'
on host pkill -x snapshots
finish
