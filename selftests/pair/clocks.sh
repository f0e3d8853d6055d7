#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The clocks of a host and of the controller are set during scrapes: samples carry the times of the
# controller, which measures the offset of the host from the rows that it READs.
# shellcheck disable=SC2016 # variables of jq
. "$(dirname "$0")/../lib.sh"

log=/run/gathered.log

# last FILE FILTER: of the last whole line with a sample
last() {
	grep -F '"time_ns"' "$1" | tail -n 2 | head -n 1 | gojq -e "$2"
}

# off FILE SECONDS: the last sample reports this offset of the host, give or take two seconds
off() {
	last "$1" ".clock_offset_ns | select(.) / 1e9 - $2 | . > -2 and . < 2"
}

# now FILE: has the controller sampled since $since, by this machine's clock? The measured offset of
# the host's clock is right within two seconds.
now() {
	sample=$(last "$1" .time_ns) || return
	[ "$sample" -ge $((since - 2000000000)) ] &&
		[ "$sample" -le $(($(date +%s%N) + 2000000000)) ]
}

# set_host STEP, set_here STEP: as date(1) takes it
set_host() {
	on host sh -c "date -s '$1' >/dev/null"
	since=$(date +%s%N)
}
set_here() {
	date -s "$1" >/dev/null
	since=$(date +%s%N)
}

rdma_up
check "the agent starts" on host host_up
check "the host gathers its load" on host dartctl source add load --gather 100ms
check "and shows the counts of its CPUs" on host dartctl source add cpustat
dart-controller --json -i 100ms -e load+100ms host >/run/gathered 2>/run/gathered.log &
gathered=$!
dart-controller --json -i 100ms -e cpustat host >/run/direct 2>/run/direct.log &
direct=$!

for lines in /run/gathered /run/direct; do
	check "$lines: both clocks agree" soon off $lines 0
done
check "the host's clock is set two days ahead" set_host '+2 days'
for lines in /run/gathered /run/direct; do
	log=$lines.log
	check "$lines: the offset follows" soon off $lines 172800
	check "$lines: samples have the time of this machine" soon now $lines
	check "$lines: that is said" soon logged 1 'clock of the host is 172[78][0-9][0-9]\..* s ahead of that of this machine'
done
check "the host's clock is set two hours slow" set_host '-50 hours'
for lines in /run/gathered /run/direct; do
	check "$lines: the offset follows" soon off $lines -7200
	check "$lines: samples have the time of this machine" soon now $lines
done
check "the host's clock is set right" set_host '+2 hours'
for lines in /run/gathered /run/direct; do
	log=$lines.log
	check "$lines: the offset follows" soon off $lines 0
	check "$lines: that is said" soon logged 1 'clock of the host is right again'
	check "$lines: it was connected once" logged 1 ': connected, '
done

check "this machine's clock is set an hour forward" set_here '+1 hour'
for lines in /run/gathered /run/direct; do
	log=$lines.log
	check "$lines: the offset follows" soon off $lines -3600
	check "$lines: so do the times of samples" soon now $lines
	check "$lines: that is said" soon logged 1 'clock of this machine was set forward by 3[56][0-9][0-9]\.'
done
check "this machine's clock is set back" set_here '-1 hour'
for lines in /run/gathered /run/direct; do
	log=$lines.log
	check "$lines: the offset follows" soon off $lines 0
	check "$lines: so do the times of samples" soon now $lines
	check "$lines: that is said" soon logged 1 'clock of this machine was set back by 3[56][0-9][0-9]\.'
done

kill $gathered $direct
wait $gathered $direct
# From one scrape to the next, except at the two steps.
check "no other time goes back or leaps" is_true -s \
	'[.[] | select(has("time_ns")).time_ns] | [.[:-1], .[1:]] | [transpose[] | .[1] - .[0] |
		select(. < 0 or . > 60e9)] | length == 2' /run/gathered
check "the agent stops" on host host_down
finish
