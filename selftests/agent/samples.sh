#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Samples: the module asks the kernel for values; they are between two of the kernel's own.
. "$(dirname "$0")/../lib.sh"

# Names without underscores and prefixes, times in seconds, load in tasks.
plain='.values |= with_entries(.key |= gsub("_"; "") |
	if .key | startswith("load") then .value /= 2048
	elif .key == "uptime" then .value /= 1e9 else . end)'

# agrees KERNEL ENTRY [TOLERANCE]
agrees() {
	compare "$1" "$2" "${3:-0}" "$plain"
}

# In bytes.  The kernel exports the lines that are left out to no module.
meminfo() {
	awk -F '[: ]+' 'BEGIN { printf "{" }
		$1 !~ /^(SwapTotal|Zswap|Zswapped|CommitLimit|Vmalloc.*|Percpu|Huge.*|DirectMap.*|Cma.*|NFS_Unstable|Bounce|WritebackTmp|HardwareCorrupted|Unaccepted|Balloon)$/ {
			name = tolower($1)
			sub(/^mem/, "", name)
			gsub(/[()_]/, "", name)
			printf "%s\"%s\": %.0f", separator, name, $2 * 1024
			separator = ", "
		} END { print "}" }' /proc/meminfo
}

loadavg() {
	awk '{ getline uptime <"/proc/uptime"; split(uptime, up, " ")
		printf "{\"load1\": %.2f, \"load5\": %.2f, \"load15\": %.2f, \"uptime\": %.0f, \"onlinecpus\": %d}\n",
			$1, $2, $3, up[1], cpus }' cpus="$(nproc)" /proc/loadavg
}

# In ms, for each CPU.
proc_stat() {
	awk 'BEGIN { split("user nice system idle iowait irq softirq steal", names, " ")
			printf "{" }
		/^cpu[0-9]/ { for (i = 1; i <= 8; i++) {
			printf "%s\"%s.%s\": %d", separator, substr($1, 4), names[i],
				$(i + 1) * 10
			separator = ", "
		} } END { print "}" }' /proc/stat
}

# The values of cpustat, in the same form.
cpustat() {
	dartctl -j show cpustat+100ms | jq -c '[.values.rows | to_entries[] |
		.key as $cpu | .value | to_entries[] |
		{key: "\($cpu).\(.key)", value: (.value / 1e6)}] | from_entries'
}

cpustat_agrees() {
	local before values after
	before=$(proc_stat)
	passed
	values=$(cpustat)
	after=$(proc_stat)
	agree "$before" "$values" "$after" 20
}

check "the agent starts" host_up
check "the cost of gathering is gathered" dartctl source add gathering --gather 100ms
for source in memory load; do
	refuse "the source $source cannot be registered without an interval" \
		"source $source can only be gathered" dartctl source add $source
	check "the source $source is sampled" dartctl source add $source --gather 100ms
done
check "memory has at least 30 fields, in bytes" sh -c 'dartctl -j show memory+100ms |
	is_true ".schema.fields | map(select(.unit == \"bytes\")) | length >= 30"'
check "memory has the values of /proc/meminfo, to 4 MiB" \
	soon agrees meminfo memory 4194304
check "load has the values of /proc/loadavg and /proc/uptime" \
	soon agrees loadavg load 0.1
check "cpustat is gathered" dartctl source add cpustat --gather 100ms
check "gathered, cpustat has the times of /proc/stat to two ticks, idle and iowait, too" \
	soon cpustat_agrees
refuse "a sample takes no selector" "source memory does not take a" \
	dartctl source add memory --gather 1s --netdev lo
check "the agent stops" host_down
finish
