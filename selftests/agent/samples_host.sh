#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Samples of the host's parts: each value is between two that the kernel's own files show.
. "$(dirname "$0")/../lib.sh"

# In bytes.  Lines of other memory than the node's pages are left out.
node_meminfo() {
	awk 'BEGIN { printf "{" }
		$3 !~ /^(MemUsed|NFS_Unstable|Bounce|WritebackTmp|HugePages_.*|Unaccepted|Balloon|GPU.*):$/ {
			name = tolower($3)
			sub(/^mem/, "", name)
			gsub(/[():_]/, "", name)
			printf "%s\"%s\": %.0f", separator, name, $4 * 1024
			separator = ", "
		} END { print "}" }' /sys/devices/system/node/node0/meminfo
}

zoneinfo() {
	awk 'BEGIN { printf "{" }
		/^Node/ { zone = $2 == "0," ? tolower($4) : "" }
		zone && $1 == "pages" { $1 = $2; $2 = $3 }
		zone && $1 ~ /^(free|min|low|high|present|managed)$/ {
			printf "%s\"%s.%s\": %.0f", separator, zone, $1, $2 * page
			separator = ", "
		} END { print "}" }' page="$(getconf PAGE_SIZE)" /proc/zoneinfo
}

# sysfs_cpus: the rows of cpus
sysfs_cpus() {
	local directory
	for directory in /sys/devices/system/cpu/cpu[0-9]*; do
		[ "$(cat "$directory/online" 2>/dev/null)" != 0 ] || continue
		cat "$directory/topology/physical_package_id"
		# Not on arm64.
		cat "$directory/topology/die_id" 2>/dev/null || echo 0
		cat "$directory/topology/core_id"
		find "$directory/" -maxdepth 1 -name 'node[0-9]*' -printf '%f\n' | tr -d node
		cat "$directory/cpufreq/scaling_cur_freq" 2>/dev/null || echo 0
	done | jq -n -c '[inputs] | _nwise(5)' | gojq -s -c 'map({package: .[0], die: .[1],
		core: .[2], node: .[3], frequency: (.[4] * 1000)})'
}

cpus() {
	passed
	dartctl -j show cpus+100ms | gojq -c '[.values.rows[] | del(.time, .cpu)]'
}

sys_fs() {
	cat /proc/sys/fs/file-nr /proc/sys/fs/inode-nr /proc/sys/fs/dentry-state |
		gojq -n -c '[inputs] | {open: .[0], openmax: .[2], inodes: .[3],
			inodesunused: .[4], dentries: .[5], dentriesunused: .[6],
			dentriesnegative: .[9]}'
}

# The descriptors and watches of inotify(7) of all processes.
inotify() {
	{
		cat /proc/[0-9]*/fdinfo/* 2>/dev/null | grep -c '^inotify wd:'
		find /proc/[0-9]*/fd -lname anon_inode:inotify 2>/dev/null | wc -l
	} | gojq -n -c '{inotifywatches: input, inotifyinstances: input}'
}

# sample_agrees KERNEL ENTRY [TOLERANCE]: for a sample of one row
sample_agrees() {
	compare_sample "$1" "$2" "${3:-0}" '.values |= with_entries(.key |= gsub("_"; ""))'
}

# By the letter of the state in /proc/PID/stat; processes that read it are running.
processes() {
	cat /proc/[0-9]*/stat 2>/dev/null | sed 's/.*) \(.\) .*/\1/' | sort | uniq -c |
		gojq -n -R -c '[inputs | [splits(" +")] | {(.[2]): (.[1] | tonumber)}] | add |
		{total: (map(.) | add), running: (.R // 0), sleeping: (.S // 0),
		disksleep: (.D // 0), stopped: (.T // 0), tracingstop: (.t // 0),
		dead: (.X // 0), zombie: (.Z // 0), parked: (.P // 0), idle: (.I // 0)}'
}

# is_counted STATE COUNT: at least COUNT processes are in the state
is_counted() {
	[ "$(dartctl -j show processes+100ms | gojq ".values.sum.$1")" -ge "$2" ]
}

# boot_time_agrees: the boot time and the entropy of the entry load agree with the kernel.
# shellcheck disable=SC2016 # variables of jq
boot_time_agrees() {
	dartctl -j show load+100ms | is_true --argjson btime \
		"$(sed -n 's/^btime //p' /proc/stat)" --argjson entropy \
		"$(cat /proc/sys/kernel/random/entropy_avail)" '.values.sum |
		(.boot_time / 1e9 | floor) == $btime and
		(.random_ready == 1) == ($entropy == 256)'
}

check "the agent starts" host_up
check "the cost of gathering is gathered" dartctl source add gathering --gather 100ms

refuse "the memory of nodes cannot be registered without an interval" \
	"source node:memory can only be gathered" dartctl source add node:memory
for source in node:memory node:zones; do
	check "the source $source is sampled" dartctl source add $source --gather 100ms
	# shellcheck disable=SC2016 # a variable of jq
	check "$source has a row for each online node" is_true --argjson nodes \
		"$(find /sys/devices/system/node -name 'node[0-9]*' | wc -l)" \
		'[.values.rows[].node] == [range($nodes)]' <<<"$(dartctl -j show $source+100ms)"
done
# Programs of the test, 7 MB each, begin and end between the snapshots and the gathering.
check "node:memory has the values of the meminfo of a node, to 12 MiB" \
	soon row_agrees node_meminfo node:memory 12582912
check "node:zones has the values of /proc/zoneinfo, to 12 MiB" \
	soon row_agrees zoneinfo node:zones 12582912
check "the size of a page is that of getconf" is_true \
	".values.rows[\"0\"].page_size == $(getconf PAGE_SIZE)" \
	<<<"$(dartctl -j show node:zones+100ms)"
check "the watermarks of each low zone that has pages are in their order" is_true \
	'.values.rows["0"] as $row | ["dma", "dma32"] |
		map(. as $zone | ["min", "low", "high", "managed", "present"] |
			map($row["\($zone).\(.)"])) |
		map(select(.[3] > 0)) | length > 0 and
		all(.[0] > 0 and .[0] < .[1] and .[1] < .[2] and .[3] <= .[4])' \
	<<<"$(dartctl -j show node:zones+100ms)"

check "the source cpus is sampled" dartctl source add cpus --gather 100ms
check "cpus has the topology and frequency of each CPU in sysfs: $(sysfs_cpus)" \
	[ "$(cpus)" = "$(sysfs_cpus)" ]
check "a CPU goes offline" sh -c 'echo 0 >/sys/devices/system/cpu/cpu1/online'
check "an offline CPU has no row" soon sh -c \
	'dartctl -j show cpus+100ms | is_true "[.values.rows[].cpu] == [0]"'
check "a CPU goes online" sh -c 'echo 1 >/sys/devices/system/cpu/cpu1/online'
check "an online CPU has its row again" soon sh -c \
	'dartctl -j show cpus+100ms | is_true "[.values.rows[].cpu] == [0, 1]"'

# counts FIELD: does it grow on each CPU?
counts() {
	local before
	before=$(dartctl -j show perf+100ms) &&
		soon sh -c 'dartctl -j show perf+100ms | gojq --slurp --argjson before "$0" \
			"[\$before, .[0]] | map([.values.rows[].$1]) | transpose |
				length == 2 and all(.[0] < .[1])" | is_true .' "$before" "$1"
}

fields=$(pmu_fields)
if [ "$fields" ]; then
	check "the hardware counters are sampled" dartctl source add perf --gather 100ms
	for field in $fields; do
		check "perf counts $field of each CPU" counts "$field"
	done
else
	refuse "a machine without a PMU has no hardware counters" "needs a virtual PMU" \
		dartctl source add perf --gather 100ms
fi

refuse "a network device without an RDMA device has no RDMA ports" \
	"no RDMA device with counters that dart_zero knows works on this device" \
	dartctl source add rdma:ports --netdev lo --gather 100ms
check "the ports of an RDMA device are sampled" \
	dartctl source add rdma:ports --netdev eth0 --gather 100ms
check "a controller reads the host over RDMA" dart-controller --once 10.77.0.1
check "rdma:ports has every counter of hw_counters" \
	soon row_agrees hw_counters rdma:ports@eth0
check "packets and sends are among them" is_true '.values.rows["0"] | .port == 1 and
	.sent_pkts > 10 and .rdma_sends > 0' <<<"$(dartctl -j show rdma:ports@eth0+100ms)"
ip link add other0 type dummy
ip link set other0 up
rdma link add other type rxe netdev other0
check "the ports of another RDMA device are sampled" \
	dartctl source add rdma:ports --netdev other0 --gather 100ms
rdma link delete other
check "their entry leaves with the device" soon lacks rdma:ports@other0+100ms
refuse "the network device of an RDMA device that was removed is refused" \
	"no RDMA device" dartctl source add rdma:ports --netdev other0 --gather 100ms
ip link del other0

for source in load processes files clock; do
	check "the source $source is sampled" dartctl source add $source --gather 100ms
done
check "load has btime of /proc/stat, and whether the random numbers are ready" \
	boot_time_agrees
check "processes has the states in /proc/PID/stat, to 5" \
	soon sample_agrees processes processes 5
for _ in 1 2 3 4 5 6 7; do
	sleep 1000 &
	kill -STOP $!
done
check "processes that are stopped are counted" soon is_counted stopped 7
mapfile -t stopped < <(jobs -p)
kill -KILL "${stopped[@]}"
wait "${stopped[@]}" 2>/dev/null
check "files has the values of file-nr, inode-nr and dentry-state, to 200" \
	soon sample_agrees sys_fs files 200
check "dartd watches cgroups" bash -c 'mkdir -p /sys/fs/cgroup/watched/{a,b,c} &&
	dartctl source follow cgroup:cpu --cgroup watched'
check "files has the instances and the watches of inotify(7) that processes have" \
	soon sample_agrees inotify files
check "processes of the new cgroups are among them" is_true \
	'.values.sum | .inotify_watches > 3 and .inotify_instances > 0' \
	<<<"$(dartctl -j show files+100ms)"
synchronise_clock no
check "the clock is not synchronized" is_true '.status == 64 and .tai == 0' \
	<<<"$(sampled clock)"
check "clock has the values of adjtimex(2)" soon sample_agrees clock_state clock 1
clock_state disturb
check "clock has them with signs, too: $(clock_state)" soon sample_agrees clock_state clock 1
check "the offset to be corrected, the frequency, TAI and the tick are seen" is_true \
	'.offset < 0 and .frequency < -3000000 and .tai == 37 and .esterror == 42000 and
		.tick == 10007 and .time_constant > 2' \
	<<<"$(sampled clock)"

check "the agent stops" host_down
rmdir /sys/fs/cgroup/watched/{a,b,c} /sys/fs/cgroup/watched
finish
