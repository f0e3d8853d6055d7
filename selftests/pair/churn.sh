#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 50 containers a second come and go, each with a cgroup, a network namespace and a veth
# pair, while their counters are gathered and read every 100 ms. selftests/churn does so
# for a minute.
# shellcheck disable=SC2016 # jq and the other guest expand these
. "$(dirname "$0")/../lib.sh"

seconds=${DART_CHURN_SECONDS-5}
work=$(mktemp -d)

# held: the objects of the host's kernel, as JSON: KiB of slabs, of per-CPU memory and of
# vmalloc; cgroups that are being freed; network namespaces and devices; bytes of the region
# that are in use; pinned pages; memory regions; references to the module.  The kernel frees
# ended namespaces when the next namespace ends.
held() {
	on host sh -c 'ip netns add next
		ip netns delete next
		echo 1 >/proc/sys/vm/stat_refresh
		echo 3 >/proc/sys/vm/drop_caches
		awk "/^(SUnreclaim|Percpu|VmallocUsed):/ { print \$1, \$2 }" /proc/meminfo
		awk "/^nr_dying_descendants/ { print \$1 \":\", \$2 }" /sys/fs/cgroup/cgroup.stat
		echo 1 >/sys/kernel/slab/net_namespace/shrink
		read -r namespaces _ </sys/kernel/slab/net_namespace/objects
		echo namespaces: $namespaces
		echo devices: $(ls /sys/class/net | wc -l)
		dartctl -j status | gojq -r "\"used: \(.used)\""
		awk "\$1 == \"nr_foll_pin_acquired\" { sum += \$2 }
			\$1 == \"nr_foll_pin_released\" { sum -= \$2 }
			END { print \"pinned:\", sum + 0 }" /proc/vmstat
		echo regions: $(rdma resource show mr | wc -l)
		echo module: $(cat /sys/module/dart_zero/refcnt 2>/dev/null || echo none)' |
		gojq -R -n -c '[inputs / ": " | { (.[0]): (.[1] | tonumber? // .) }] | add'
}

# alone: the cgroups, devices and namespaces of all containers are gone from the table,
# and the leases are over
alone() {
	[ "$(on host dartctl -j list | gojq '[.[].name |
		select(test("/churn/c|@net:|:stats@c"))] | length')" = 0 ] &&
		on host dartctl -j status | is_true '.leases == 0'
}

# eventually CONDITION...: as soon, with more time.  The namespaces of all containers end
# in a work item of the kernel, many at once, and a debug kernel takes seconds for each.
eventually() {
	for _ in $(seq 30); do
		! soon "$@" || return 0
	done
	return 1
}

# ended: no container is in the table, and the kernel freed their namespaces
ended() {
	alone && [ "$(held | gojq .namespaces)" -le $((initial + 1)) ]
}

# as_before JQ: is the condition true for the output of held now, with the output of the
# first call in $before?
as_before() {
	held >"$work/after"
	is_true -n --slurpfile before "$work/before" --slurpfile after "$work/after" \
		'$before[0] as $before | $after[0] | '"$1"
}

holds() {
	is_true "$1" "$work/report" || ! cat "$work/report"
}

rdma_up
check "the agent starts" on host host_up
check "cgroups, devices and namespaces are followed, and gathered every 100 ms" \
	on host sh -ec '
	mkdir /sys/fs/cgroup/churn
	dartctl source add vmstat --gather 100ms
	dartctl source add gathering --gather 100ms
	dartctl source follow cgroup:cpu --cgroup /churn --gather 100ms
	dartctl source follow netdev:stats --gather 100ms
	dartctl source follow snmp:udp --gather 100ms'
initial=$(held | gojq .namespaces)
check "containers come and go once, so that caches have their size" \
	on host churn 50 1 500 4000
check "they leave the table, and the kernel frees their namespaces" eventually ended
held >"$work/before"

dart-controller --json --interval 100ms host >"$work/lines" 2>"$work/messages" &
controller=$!
grep -q -m 1 . < <(tail --pid $controller -n +1 -f "$work/lines")
check "50 containers a second, or as many as the host can, come and go for $seconds s" \
	sh -c "on host churn 50 $seconds 500 4000 >$work/lives"
check "the entries of all of them leave the table" eventually alone
kill -INT $controller
check "the controller reads all the time" wait $controller
python3 "$(dirname "$0")/../pair/churn.py" "$work/lives" "$work/lines" >"$work/report"
check "no value is torn, of another object, or gathered twice after the end of its object: $(
	gojq -c 'del(.faults)' "$work/report")" holds '.fault_count == 0'
check "scrapes have records of most containers" holds \
	'.cgroups > .containers / 2 and .devices > .containers / 2'
# Programs look for new namespaces once a second, which half of the others do not live to see.
check "of each container that lives for 4 s, scrapes have exact values" holds \
	'.long > 0 and .long_exact == .long'
if [ "${GATHERER-}" != programs ]; then
	check "and of most others" holds \
		'.namespaces > .containers / 2 and .exact > .containers'
fi
check "most records are whole" holds '.torn * 5 < .whole'

check "network namespaces, devices, memory regions, pinned pages, memory of the region and references to the module are as many as before" \
	eventually as_before '.namespaces <= $before.namespaces + 1 and
		([.devices, .used, .pinned, .regions, .module] ==
			($before | [.devices, .used, .pinned, .regions, .module]))'
# Allocators keep a part of the peak use, even without dartd.
check "slabs, per-CPU memory, vmalloc and cgroups are freed: $(cat "$work/before"), then $(
	cat "$work/after")" eventually as_before '.SUnreclaim < $before.SUnreclaim + 8192 and
		.Percpu < $before.Percpu + 4096 and
		.VmallocUsed < $before.VmallocUsed + 1024 and
		.nr_dying_descendants <= $before.nr_dying_descendants + 5'
check "the agent stops" on host host_down
if [ "${GATHERER-}" = programs ]; then
	check "the module was not loaded" on host test ! -e /sys/module/dart_zero
else
	check "the module can be unloaded" on host modprobe -r dart_zero
fi
rm -r "$work"
finish
