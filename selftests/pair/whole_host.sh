#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All of a host with 500 cgroups and 100 namespaces is read with a few READs a scrape, and
# its values are those of the kernel.
. "$(dirname "$0")/../lib.sh"

# On the host: some values of each kind, by the entries and fields that show them.
# shellcheck disable=SC2016 # variables of the host
kernel='
	for i in 5 250 500; do
		awk -v name="cgroup:cpu@/box$i" "/^usage_usec/ {
			print name, \"sum_exec_runtime\", \$2 * 1000 }" \
			/sys/fs/cgroup/box$i/cpu.stat
	done
	for i in 1 50 100; do
		ip netns exec ns$i awk -v name="snmp:udp@ns$i" "/^Udp:/ {
			value = \$5 } END { print name, \"outdatagrams\", value }" \
			/proc/net/snmp
	done
	awk "/^pgfault/ { print \"vmstat\", \$1, \$2 }" /proc/vmstat
	awk "\$3 == \"loop0\" { print \"disk:io@loop0\", \"read_ios\", \$4 }" \
		/proc/diskstats
	echo netdev:link@lo rx_packets $(cat /sys/class/net/lo/statistics/rx_packets)'

# kernel: as an object of objects
kernel() {
	on host sh -c "$kernel" | jq -R -n '[inputs / " "] |
		map({ key: "\(.[0])+1s", value: { (.[1]): (.[2] | tonumber) } }) |
		from_entries'
}

# Each value is between two of the kernel, which shows whole microseconds.
# shellcheck disable=SC2016 # jq's
between='.entries as $entries | $before | to_entries | map(.key as $entry |
	.value | to_entries[0] | .key as $field |
	{ $entry, before: .value, value: $entries[$entry].sum[$field],
	  after: $after[$entry][$field],
	  slack: (if $field == "sum_exec_runtime" then 1000 else 0 end) }) |
	if length == 9 and all(.value != null and .before <= .value and
		.value <= .after + .slack) and any(.value > 1000) then true
	else error(tojson) end'

rdma_up
check "the agent starts" on host host_up
# shellcheck disable=SC2016 # variables of the host
check "500 cgroups, 100 namespaces and a disk are made on the host" on host bash -ec '
	modprobe loop
	for i in $(seq 500); do echo /sys/fs/cgroup/box$i; done | xargs mkdir
	for i in $(seq 100); do echo netns add ns$i; done | ip -batch -
	for i in 1 50 100; do
		ip -n ns$i link set lo up
		ip netns exec ns$i bash -c "echo x >/dev/udp/127.0.0.1/9" || :
		(echo $BASHPID >/sys/fs/cgroup/box$((i * 5))/cgroup.procs
			for _ in $(seq 1000); do :; done)
	done'
check "the whole host is registered" on host dartctl register host --gather 1s
check "a controller scrapes it" sh -c \
	"dart-controller --json -i 1s -n 5 -e '*+1s' host >/run/lines"
entries=$(jq -s '.[0].entries | length' /run/lines)
summary=$(jq -c 'select(has("summary")).summary | {reads_per_scrape, bytes_per_scrape}' \
	/run/lines)
cost=$(jq -c -s '[.[] | select(has("entries")).entries["gathering+1s"].sum] | last |
	{records, passes, time_ns, longest_ns}' /run/lines)
# Of that, 270 kB are the counters of namespaces, 2.6 kB each, and 320 kB those of cgroups,
# 640 bytes each.
check "$entries entries of the host take at most 4 READs and 512 kB: $summary" is_true \
	'select(has("summary")).summary | .scrapes == 5 and .failed == 0 and
		.reads_per_scrape <= 4 and .bytes_per_scrape <= 512000' /run/lines
check "500 cgroups, 100 namespaces and the agent's own are in them: $cost" is_true -s \
	'.[0].entries | keys | (map(select(startswith("cgroup:cpu@/box"))) | length == 500)
		and (map(select(startswith("snmp:tcp@ns"))) | length == 100)
		and any(. == "snmp:tcp+1s")' /run/lines
before=$(kernel)
# Two passes: one has begun after the values were read.
check "the controller reads records of a later pass" sh -c \
	"dart-controller --json -i 1s -n 4 -e '*+1s' host | grep entries | tail -1 >/run/last"
check "each value is between what the kernel says before and after" is_true \
	--argjson before "$before" --argjson after "$(kernel)" "$between" /run/last
check "the host is unregistered" on host dartctl unregister host
check "the agent stops" on host host_down
finish
