#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Scrapes under load agree with the kernel in both exposures, and the agent does not run.
. "$(dirname "$0")/../lib.sh"

map=/sys/fs/bpf/follow
report=$(mktemp)

holds() {
	is_true "$1" "$report" || {
		cat "$report"
		return 1
	}
}

# The controller ends when compare has enough and closes the pipe.
scrape() {
	dart-controller --interval 150ms --json host |
		compare host 4793 60 6 >"$report"
}

rdma_up
on host bpftool map create $map type array key 4 value 8 entries 4 \
	name demo flags 1024
on host setsid sh -c 'while :; do
	dd if=/proc/kallsyms of=/dev/null; dd if=/dev/zero of=/dev/null count=999
done >/dev/null 2>&1 &'
check "the host serves snapshots of its /proc files and of a map" \
	on host until_ready /run/snapshots.log snapshots 4793 "$tests/demo/turn" $map

for exposure in exact page; do
	check "$exposure: the agent starts" on host host_up --exposure $exposure
	for source in cpustat vmstat softnet; do
		check "$exposure: the source $source is registered" \
			on host dartctl register source $source
	done
	check "$exposure: a map is registered" on host dartctl register map $map

	check "$exposure: the agent has nothing left to do" on host settled
	check "$exposure: every value lies between two snapshots of the kernel's" scrape
	for entry in cpustat vmstat softnet demo tcp; do
		check "$exposure: values of the entry $entry were compared" \
			holds ".comparisons.$entry > 0"
	done
	check "$exposure: scrapes cause no context switch of the agent" \
		holds '.agent_context_switches == 0'
	check "$exposure: scrapes take no CPU time of the agent" \
		holds '.agent_cpu_ns == 0'
	check "$exposure: the agent stops" on host host_down
done
on host pkill -f kallsyms
on host pkill snapshots
finish
