#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Sources are gathered: the values lie between two readings of the kernel's files, with their time.
. "$(dirname "$0")/../lib.sh"

# value ENTRY PATH: in the values of an entry
value() {
	dartctl -j show "$1" | gojq ".values$2"
}

# lists_rows COUNT: of gathered cpustat
lists_rows() {
	[ "$(dartctl -j list | gojq '.[] | select(.name == "cpustat+100ms").copies')" = "$1" ]
}

# between WHAT: the gathered value is between two that the kernel shows
between() {
	local before after
	before=$(kernel "$1")
	passed
	value=$(gathered "$1")
	after=$(kernel "$1")
	echo "$before <= $value <= $after"
	[ "$before" -le "$value" ] && [ "$value" -le "$after" ]
}

# kernel WHAT, gathered WHAT: the value in the kernel's file, and the value in the record
kernel() {
	case $1 in
	vmstat) awk '/^pgfault/ { print $2 }' /proc/vmstat ;;
	softirqs) awk '$1 == "TIMER:" { print $2 }' /proc/softirqs ;;
	udp) awk '/^Udp:/ { value = $5 } END { print value }' /proc/net/snmp ;;
	cgroup) awk '/^user_usec/ { print int($2 / 1000) }' /sys/fs/cgroup/busy/cpu.stat ;;
	esac
}

gathered() {
	case $1 in
	vmstat) value vmstat+100ms .sum.pgfault ;;
	softirqs) value softirqs+100ms '.rows["0"].timer' ;;
	udp) value snmp:udp+100ms .sum.outdatagrams ;;
	cgroup) value cgroup:cpu@/busy+100ms '.sum.sum_exec_runtime / 1e6 | floor' ;;
	esac
}

# shown ENTRY, not_shown ENTRY: soon
shown() {
	for _ in $(seq 1000); do
		! dartctl show "$1" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	return 1
}

not_shown() {
	for _ in $(seq 1000); do
		dartctl show "$1" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	return 1
}

# send COUNT: datagrams
send() {
	for _ in $(seq "$1"); do
		echo x >/dev/udp/127.0.0.1/9
	done 2>/dev/null
}

# counts_records: the first passes had fewer, while the sources were added
counts_records() {
	dartctl -j show gathering+100ms >/run/first
	passed
	dartctl -j show gathering+100ms | cat /run/first - >/run/both
	gojq -c .values.sum /run/both
	is_true -s 'map(.values.sum) | .[1].passes - .[0].passes >= 10 and
		.[1].records - .[0].records >= 5 * (.[1].passes - .[0].passes) and
		.[1].time_ns > .[0].time_ns' /run/both
}

# deferrable_timers: did an unbound worker start a timer of a work item that does not
# wake a CPU, for 25 ticks of 4 ms at most?
deferrable_timers() {
	awk '$1 ~ /^kworker\/u/ && /function=delayed_work_timer_fn/ && $NF ~ /D/ &&
			match($0, /timeout=[0-9]+/) &&
			substr($0, RSTART + 8, RLENGTH - 8) <= 25 { print; found = 1 }
		END { exit !found }' /sys/kernel/tracing/trace
}

no_deferrable_timers() {
	! deferrable_timers
}

check "the agent starts" host_up
check "a source is registered directly" dartctl source add cpustat
for source in cpustat vmstat softnet softirqs snmp:udp gathering; do
	check "the source $source is gathered" dartctl source add $source --gather 100ms
done
check "the direct and the gathered source are two entries" is_true \
	'map(select(.name | startswith("cpustat"))) | length == 2' <<<"$(dartctl -j list)"
check "gathered cpustat has a row for each online CPU, with its number" is_true \
	".values.rows | [.[].cpu] == [range($(nproc))]" <<<"$(dartctl -j show cpustat+100ms)"
echo 0 >/sys/devices/system/cpu/cpu1/online
check "the row of a CPU that goes offline leaves the table" \
	soon lists_rows $(($(getconf _NPROCESSORS_CONF) - 1))
echo 1 >/sys/devices/system/cpu/cpu1/online
check "the row of a CPU that goes online is in the table" \
	soon lists_rows "$(getconf _NPROCESSORS_CONF)"
passed
check "the row of a CPU that goes online is gathered" is_true \
	".values.rows | [.[].cpu] == [range($(nproc))]" <<<"$(dartctl -j show cpustat+100ms)"
for what in vmstat softirqs udp; do
	send 3
	check "the gathered value of $what lies between two readings of the kernel's" \
		between $what
done
# shellcheck disable=SC2016 # jq's
check "the time of a record is between two that the host reads" bash -c \
	'before=$(cut -d " " -f 1 /proc/uptime)
	'"$(declare -f value passed number_in)"'
	passed; time=$(value vmstat+100ms .sum.time); after=$(cut -d " " -f 1 /proc/uptime)
	gojq -n -e "$before <= $time / 1e9 and $time / 1e9 <= $after + 0.01"'
check "the gathering counts its records" counts_records

echo 1 >/sys/kernel/tracing/events/timer/timer_start/enable
passed
check "no timer of the gathering is deferrable unless that is asked for" \
	no_deferrable_timers
check "a source is gathered without waking an idle CPU" \
	dartctl source add softirqs --gather 50ms --deferrable
check "the kernel starts a deferrable timer for it" soon deferrable_timers
echo 0 >/sys/kernel/tracing/events/timer/timer_start/enable
refuse "a direct source cannot be deferrable" "only gathering can be deferrable" \
	dartctl source add softirqs --deferrable

mkdir /sys/fs/cgroup/busy
check "cgroups are followed and gathered" \
	dartctl source follow cgroup:cpu --cgroup / --gather 100ms
(echo $BASHPID >/sys/fs/cgroup/busy/cgroup.procs; timeout 0.5 sh -c 'while :; do :; done')
passed
check "the gathered CPU time of a cgroup is that of its tasks" is_true \
	'.values.sum.sum_exec_runtime > 200000000' \
	<<<"$(dartctl -j show cgroup:cpu@/busy+100ms)"
mkdir /sys/fs/cgroup/later
check "a new cgroup has a record" shown cgroup:cpu@/later+100ms
rmdir /sys/fs/cgroup/later
check "the record of a removed cgroup leaves" not_shown cgroup:cpu@/later+100ms
ip netns add blue
check "namespaces are followed and gathered, deferrable" \
	dartctl source follow snmp:tcp --gather 100ms --deferrable
check "a namespace has a record" dartctl show snmp:tcp@blue+100ms
ip netns delete blue
check "the record of a namespace that ended leaves" not_shown snmp:tcp@blue+100ms

refuse "'gathering' cannot be read directly" "can only be gathered" \
	dartctl source add gathering
for interval in 1 0s 9ms 61min 1h -1s 1.5s ''; do
	refuse "the interval '$interval' is refused" "is not an interval" \
		dartctl source add softirqs --gather "$interval"
done
refuse "the same source at the same interval is refused" "there is an entry" \
	dartctl source add vmstat --gather 100ms
check "the same source at another interval is registered" \
	dartctl source add vmstat --gather 1s
check "whole seconds are the same interval as their milliseconds" sh -c \
	'! dartctl source add vmstat --gather 1000ms 2>/dev/null'
dartctl save >/run/saved.yaml
check "the agent stops" host_down
check "the agent starts again with its gathered entries" host_up again
check "all sources are gathered again" sh -c \
	'dartctl save | diff /run/saved.yaml - && dartctl show vmstat+1s'
check "a follower of gathered cgroups is removed by its name" \
	dartctl unregister 'cgroup:cpu@/**+100ms'
finish
