#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel kills a service for memory, and its cgroup is removed at once: a controller gets the
# last events of the service and of its slice, although both are gathered each 30 s only, by the
# module and by eBPF programs.
. "$(dirname "$0")/../lib.sh"
lib=$(cd "$(dirname "$0")/../lib" && pwd)

slice=/sys/fs/cgroup/shop.slice
service=$slice/till.service
log=/run/log

# page SERIES: the controller's page shows the series with this value
page() {
	python3 "$lib/fetch.py" /metrics >/run/page 2>/dev/null
	grep "$1" /run/page
}

# makes_service: a service with a memory limit
makes_service() {
	mkdir "$service" &&
		echo 4M >"$service/memory.max" &&
		{ [ ! -e "$service/memory.swap.max" ] || echo 0 >"$service/memory.swap.max"; }
}

# dies: a process of the service exceeds its memory limit, and its cgroup ends
dies() {
	sh -c "echo 0 >$service/cgroup.procs && exec tail /dev/zero"
	until rmdir $service; do
		:
	done
}

# kills: processes that the kernel killed for memory
kills() {
	awk '$1 == "oom_kill" { print $2 }' /proc/vmstat
}

# sees_kill WAY NUMBER: the last values of the service contain its kill, the slice's NUMBER-th
sees_kill() {
	local before controller

	check "the memory of all cgroups is gathered each 30 s by $1" \
		dartctl register source cgroup:memory --all-cgroups / --gather 30s
	dart-controller --json --listen -i 1s localhost >/run/lines 2>$log &
	controller=$!
	check "the service has no events" \
		soon page '^container_oom_events_total{.*id="/shop.slice/till.service".* 0 '
	before=$(kills)
	dies
	check "its process is killed for memory" [ "$(kills)" = $((before + 1)) ]
	check "its cgroup has ended" [ ! -e $service ]
	check "a scrape has the kill" soon is_true -s \
		'map(.entries["cgroup:memory@/shop.slice/till.service+30s"].sum.events_oom_kill // 0) | max == 1' \
		/run/lines
	check "the page has it once more" \
		soon page '^container_oom_events_total{.*id="/shop.slice/till.service".* 1 '
	check "the counter of its slice has it, and stays" \
		soon page "^container_oom_events_total{.*id=\"/shop.slice\".* $2 "
	kill $controller
	wait $controller
	check "the agent stops" host_down
}

echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir $slice
echo +memory >$slice/cgroup.subtree_control
check "a service runs" makes_service
check "dartd starts" host_up
sees_kill "${GATHERER-the module}" 1
if [ -z "${GATHERER-}" ]; then
	check "a service runs again" makes_service
	check "dartd starts without the module" env GATHERER=programs host_up
	sees_kill "eBPF programs" 2
	rm -f /etc/dart/dartd.d/gatherer.yaml
fi
rmdir $slice
finish
