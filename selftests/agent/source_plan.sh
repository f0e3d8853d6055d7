#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl source plan chooses the direct or the gathered way by the numbers of this host, and leaves
# the table as it was.
. "$(dirname "$0")/../lib.sh"

# plans FILTER SOURCE [OPTION...]: of the plan as JSON
plans() {
	filter=$1
	shift
	dartctl -j source plan "$@" >/run/plan && gojq -c . /run/plan && is_true "$filter" /run/plan
}

# says TEXT SOURCE [OPTION...]: the plan as text has a line that contains TEXT
says() {
	text=$1
	shift
	dartctl source plan "$@" | tee /dev/stderr | grep -q -e "$text"
}

# table: all entries without their age, and the generation of the table
table() {
	dartctl -j list | gojq -c 'map(del(.age_s))' && dartctl -j status | gojq .generation
}

# reads ENTRY: READs of a scrape, without that of the header
reads() {
	dartctl source add "${1%@/*}" --cgroup "${1#*@/}" &&
		dart-controller --json --once -e "$1" 10.77.0.1 >/run/scraped &&
		gojq '.reads - 1' /run/scraped
}

# The choice that the numbers of a plan demand above 10 ms, where both ways are possible.
choice='if .direct.reads <= .gathered.reads then "direct"
	elif .direct.reads_share > 0.1 then "gathered"
	elif .gathered.cpu_share > 0.01 then "direct" else "gathered" end'

check "the agent starts" host_up
mkdir /sys/fs/cgroup/mine
modprobe loop
ip netns add blue
before=$(table)

check "1,000 cgroups are gathered every minute" plans '.way == "gathered" and
	.gather == "60s" and .interval_ms == 60000 and .objects == 1000' \
	cgroup:cpu --cgroup mine --objects 1000 --interval 1min
check "each copy and run of a window is a READ" plans '.direct.copies > 0 and .direct.runs > 0 and
	.direct.reads == 1000 * .direct.copies * .direct.runs and (.direct | has("at_most") | not)' \
	cgroup:cpu --cgroup mine --objects 1000 --interval 1s
check "1,000 records are fetched with one READ" plans \
	'.gathered.reads == 1 and .gathered.bytes == 1000 * .gathered.row_bytes' \
	cgroup:cpu --cgroup mine --objects 1000 --interval 1s
check "the cost is a pass for each object" plans '(.gathered.cpu_share -
	1000 * .gathered.pass_ns / 1e9 | fabs) < 1e-9 and .gathered.pass_ns > 0' \
	cgroup:cpu --cgroup mine --objects 1000 --interval 1s
for interval in 10ms 100ms 1s 10s; do
	for arguments in "cgroup:cpu --cgroup mine --objects 1" \
		"cgroup:cpu --cgroup mine --objects 1000" "snmp:tcp" "vmstat" "softnet" \
		"snmp:tcpext --netns blue --objects 200" "disk:stats --disk loop0 --objects 20"; do
		# shellcheck disable=SC2086 # words
		check "the way of '$arguments' every $interval follows from its numbers" \
			plans ".way == ($choice)" $arguments --interval $interval
	done
done
check "below 10 ms counters are direct" plans \
	'.way == "direct" and (has("gather") | not) and (.reasoning | last | test("10 ms"))' \
	cgroup:cpu --cgroup mine --objects 1000 --interval 1ms
check "the last line says how to register the source directly" \
	says '^Register it without --gather\.$' cgroup:cpu --cgroup mine --objects 1000 --interval 9ms
check "the last line says how to gather the source" \
	says '^Register it with --gather 60s\.$' \
	cgroup:cpu --cgroup mine --objects 1000 --interval 1min
check "the sentences have the numbers" \
	says '^Gathered: 1000 objects, 1 row of 64 bytes for each: 1 READ, 64000 bytes\.$' \
	cgroup:cpu --cgroup mine --objects 1000 --interval 1min
check "a sample is gathered, because the kernel has no counters by CPU" plans '.way == "gathered" and
	.gather == "1s" and (has("direct") | not) and (.gathered | has("pass_ns") | not) and
	(.reasoning[0] | test("impossible: the kernel does not keep the values of memory by CPU"))' \
	memory --interval 1s
check "a sample is gathered every 10 ms if less is wanted" \
	plans '.way == "gathered" and .gather == "10ms"' memory --interval 2ms
check "rows by NUMA node and CPU are counted" plans '.gathered.rows == 2' cpus --interval 1s
check "a sample with a row for each disk has at least one" \
	plans '.gathered.at_least and .gathered.rows == 1' cgroup:disks --cgroup mine --interval 1s
while IFS='|' read -r arguments message; do
	# shellcheck disable=SC2086 # words
	refuse "'source plan $arguments' is refused with a sentence" "$message" \
		dartctl source plan $arguments
done <<'LINES'
snmp:tcp|'source plan' needs --interval
snmp:tcp --interval 0ms|'0ms' is not an interval from 1ms to 60min
snmp:tcp --interval 61min|'61min' is not an interval from 1ms to 60min
snmp:tcp --interval 1|'1' is not an interval
snmp:tcp --interval -1s|'-1s' is not an interval
snmp:tcp --interval 1s --objects 0|--objects
snmp:tcp --interval 1s --objects 65537|--objects
snmp:tcp --interval 1s --gather 1s|no option '--gather'
snmp:tcp --interval 1s --all-netns|no option '--all-netns'
cpustat --interval 1s --objects 2|there is one cpustat of a host
cgroup:cpu --interval 1s|cgroup:cpu needs a cgroup
absent --interval 1s|there is no source 'absent'
--interval 1s|'source plan' takes one SOURCE
LINES
# replies FILTER REQUEST
replies() {
	request "$2" | tee /dev/stderr | is_true "$1"
}
asked='"request": "source-plan", "source": "snmp:tcp", "interval": "1s"'
check "dartd checks the number of objects, too" \
	replies '.error == "EINVAL" and (.message | test("from 1 to 65536"))' \
	"{$asked, \"objects\": 65537}"
check "the request takes no gathering" \
	replies '.error == "EINVAL" and (.message | test("gather"))' "{$asked, \"gather\": \"1s\"}"
check "the table is as it was" [ "$(table)" = "$before" ]

# ---- counters that are in the table

dartctl -j source plan cgroup:cpu --cgroup mine --interval 1s | gojq .direct.reads >/run/planned
check "a controller makes as many READs as were planned" \
	[ "$(reads cgroup:cpu@/mine)" = "$(cat /run/planned)" ]
check "counters that are registered are planned as others" \
	plans ".direct.reads == $(cat /run/planned) and .gathered.pass_ns > 0" \
	cgroup:cpu --cgroup mine --interval 1s
dartctl unregister cgroup:cpu@/mine
check "counters on lease are planned as others" \
	plans ".direct.reads == $(cat /run/planned) and .gathered.pass_ns > 0" \
	cgroup:cpu --cgroup mine --interval 1s
check "counters that were planned can be registered" dartctl source add snmp:tcp --gather 1s
check "the agent stops" host_down

# ---- page exposure

check "the agent starts with page exposure" host_up --exposure=page
before=$(table)
check "with page exposure an object takes at most a READ" plans \
	'.direct.at_most and .direct.reads == 100 and .direct.bytes > .gathered.bytes' \
	cgroup:cpu --cgroup mine --objects 100 --interval 1s
check "the table is as it was, with page exposure" [ "$(table)" = "$before" ]
check "the agent stops again" host_down

# ---- without the module

modprobe -r dart_zero
GATHERER=programs
export GATHERER
check "the agent starts without the module" host_up
before=$(table)
check "without the module counters are gathered, because no page of the kernel is shown" plans \
	'.way == "gathered" and (.reasoning[0] |
	test("^Direct exposure is impossible: dartd gathers by eBPF programs and shows no page"))' \
	cgroup:cpu --cgroup mine --objects 1000 --interval 1s
check "the table is as it was, without the module" [ "$(table)" = "$before" ]
check "the agent stops, without the module" host_down
finish
