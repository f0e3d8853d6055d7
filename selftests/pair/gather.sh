#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A controller reads all gathered records of a host in one READ, and whole rows only.
. "$(dirname "$0")/../lib.sh"

containers=40

# shellcheck disable=SC2016 # variables of the host
rdma_up
[ "$(uname -m)" = x86_64 ] && irqs=irqs || irqs=
for exposure in exact page; do
	check "$exposure: the agent starts" on host host_up --exposure $exposure
	check "$exposure: sources, $containers cgroups and all namespaces are gathered" \
		on host sh -ec '
		for i in $(seq '$containers'); do mkdir -p /sys/fs/cgroup/box$i; done
		[ -e /run/netns/blue ] || ip netns add blue
		for source in cpustat vmstat softnet softirqs '"$irqs"' gathering; do
			dartctl source add $source --gather 100ms
		done
		dartctl source follow cgroup:cpu --cgroup / --gather 100ms
		for source in ip tcp tcpext udp icmp ip6 udp6 icmp6; do
			dartctl source follow snmp:$source --gather 100ms
		done'
	check "$exposure: a controller scrapes them" sh -c \
		"dart-controller --json -i 100ms -n 20 -e '*+100ms' host >/run/lines"
	summaries /run/lines >/run/summary
	entries=$(head -n 1 /run/lines | gojq '.entries | length')
	summary=$(gojq -c '.summary | {reads_per_scrape, bytes_per_scrape}' /run/summary)
	check "$exposure: $entries entries with $containers cgroups take one READ, and one for the header: $summary" \
		is_true '.summary | .scrapes == 20 and .reads_per_scrape == 2' /run/summary
	check "$exposure: values grow from scrape to scrape" \
		is_true -s 'map(select(has("entries")).entries["gathering+100ms"].sum |
			select(.)) | length > 10 and .[-1].passes > .[0].passes + 3' /run/lines
	check "$exposure: all sums were whole in most scrapes" is_true -s \
		'[.[] | select(has("entries")).entries[] | select(.copies == "sum")] |
			(map(select(.sum == null)) | length) * 20 < length' /run/lines
	check "$exposure: the table for people has rates by the time of the record" sh -c \
		"COLUMNS=200 LINES=500 dart-controller -i 300ms -n 3 -e 'vmstat+100ms' \
			host | grep -q 'pgfault (events) .* [0-9]'"
	check "$exposure: the agent stops" on host host_down
done

# Values of the same counters, read both ways.  Within a scrape either can be read first.
check "the agent starts" on host host_up
check "vmstat is there both ways" on host sh -c \
	'dartctl source add vmstat && dartctl source add vmstat --gather 100ms'
on host rm -f /run/enough
on host sh -c 'until [ -e /run/enough ]; do sleep 0.1; done' &
check "a controller reads both while processes begin and end on the host" sh -c \
	"dart-controller --json -i 50ms -n 100 -e 'vmstat*' host >/run/lines"
on host touch /run/enough
wait
# jq knows integers up to 2^53 only: pgfault stays below.
gojq -c -s '[.[].entries | select(.) | {gathered: .["vmstat+100ms"].sum.pgfault,
		direct: .vmstat.sum.pgfault} | select(.gathered and .direct)] as $read |
	{read: $read | length, grown: ($read[-1].gathered - $read[0].gathered), exceeding:
		[[$read[:-1], $read[1:]] | transpose[] | select(.[0].gathered > .[1].direct)]}' \
	/run/lines >/run/compared
compared=$(cat /run/compared)
check "gathered values never exceed the values that the next scrape reads directly: $compared" \
	is_true '.read > 20 and .grown > 0 and .exceeding == []' /run/compared
check "the agent stops" on host host_down
finish
