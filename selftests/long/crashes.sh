#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartd is killed again and again, at random moments, while objects of all kinds are registered and
# in use: it loses nothing that it confirmed. selftests/crashes runs more rounds.
# shellcheck disable=SC2016 # variables of the host
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../restarts.sh"

rounds=${DART_CRASHES:-4}
reporter=10.77.0.1
most=${DART_CRASHES_MS:-60000}	# until everything is back, on a busy machine
controllers=(one two three)

now_ms() {
	awk '{ printf "%.0f\n", $1 * 1000 }' /proc/uptime
}

# host_registers: everything but the store, with objects that outlive dartd
host_registers() {
	on host sh -c '
		mount -t bpf bpf /sys/fs/bpf 2>/dev/null
		mount -t cgroup2 cgroup /sys/fs/cgroup 2>/dev/null
		mkdir -p /sys/fs/cgroup/a/b
		set -e
		ip netns add blue
		ip link add dummy7 type dummy
		bpftool map create /sys/fs/bpf/pinned type array key 4 value 8 \
			entries 4 name pinned flags 0x400
		until_ready /run/owner.log map_owner unpinned
		dartctl source add cpustat
		dartctl source add vmstat
		dartctl source add softnet
		dartctl source add snmp:tcp --netns blue
		dartctl source add netdev:stats --netdev dummy7
		dartctl source follow snmp:udp
		dartctl source follow cgroup:cpu --cgroup /a
		dartctl map add /sys/fs/bpf/pinned
		dartctl map add name unpinned
		dartctl counters add drops a b
		dartctl probe load runqlat
		dartctl store create still --slots 2^10 --value 20
		store_fill "$(find /proc/$(pidof dartd)/fd -lname "/memfd:dart-store*" |
			head -n 1)"'
}

# churn: registers and removes counters all the time, on the host, and writes dartd's
# confirmations to /run/confirmed: "+ NAME" or "- NAME".
churn() {
	on host sh -c '
		number=0
		while [ ! -e /run/end ]; do
			number=$((number + 1))
			name=churn-$number
			old=churn-$((number - 3))
			echo "? $name" >>/run/confirmed
			dartctl counters add $name x 2>/dev/null &&
				echo "+ $name" >>/run/confirmed
			echo "? $old" >>/run/confirmed
			dartctl entry remove $old 2>/dev/null &&
				echo "- $old" >>/run/confirmed
			sleep 1	# leave the processor to dartd
		done' >/dev/null
}

# lost_by_churn: names that dartd confirmed to have, and lacks, or the reverse.
# Requested but unconfirmed objects may exist or not.
lost_by_churn() {
	on host sh -c '
		cp /run/confirmed /run/confirmed.now
		dartctl -j list | jq -r ".[].name" | grep churn- | sort >/run/there
		for sign in + -; do
			awk -v sign=$sign "
				{ open[\$2] = \$1 == \"?\" }
				\$1 != \"?\" { is[\$2] = \$1 }
				END { for (name in is) if (is[name] == sign &&
					!open[name]) print name }" \
				/run/confirmed.now | sort >/run/confirmed$sign
		done
		# Objects that are requested meanwhile may exist or not.
		tail -n 20 /run/confirmed | cut -d" " -f2 >/run/busy
		{ comm -23 /run/confirmed+ /run/there
		  comm -12 /run/confirmed- /run/there; } | grep -vxFf /run/busy' || true
}

# listed: the registrations, without the churn and without members that may differ
listed() {
	on host sh -c 'dartctl -j registration list && dartctl -j list' |
		jq -c '.[] | select(.name | test("churn-") | not) |
			[.name, .owner, .origin, .missing]' | sort
}

is_listed() {
	listed >/run/listed.now && cmp -s /run/listed /run/listed.now
}

# scraped NAME: did this controller begin a scrape of dartd after the kill?
scraped() {
	tail -n 1 "/run/controller.$1" | jq -e \
		".entries and .start_ns > $killed_ms * 1000000"
}

all_scraped() {
	local controller

	for controller in "${controllers[@]}"; do
		scraped "$controller" >/dev/null 2>&1 || return
	done
}

# ms_until COMMAND...: prints how long it takes, from the kill, until it succeeds
ms_until() {
	until_true "$@" || return
	echo $(($(now_ms) - killed_ms))
}

# percentile P list|controllers|reports: of the times of all rounds
percentile() {
	sort -n "/run/times.$2" | awk -v p="$1" '{ times[NR] = $1 }
		END { print NR ? times[int((NR * p + 99) / 100)] : "no" }'
}

times() {
	echo "at most $(percentile 100 "$1") ms, half of the time" \
		"$(percentile 50 "$1") ms or less"
}

in_time() {
	[ "$(percentile 100 "$1")" -le "$most" ]
}

rdma_up
check "the agent starts under a service manager" up
check "sources, followers, maps, counters, a probe and a store are registered" \
	host_registers
check "an application of the host has 20 slices" on host until_ready \
	/run/writer.log slice_writer 0 20
check "a store for the reports of this host is created" create
follow_collectors 100000000 50
for controller in "${controllers[@]}"; do
	dart-controller --json --interval 500ms --entries cpustat,vmstat,softnet \
		host >"/run/controller.$controller" 2>/dev/null &
done
empty=$(checksum)
check "reports arrive before the first round" until_true differs "$empty"
killed_ms=0
check "all controllers scrape before the first round" until_true all_scraped
still=$(on host store_checksum still)
listed >/run/listed
churn &

failed=0
rm -f /run/times.*
touch /run/times.list /run/times.controllers /run/times.reports
for round in $(seq "$rounds"); do
	sleep 0.$((RANDOM % 10))
	kill_agent
	killed_ms=$(now_ms)
	if ! { listed_ms=$(ms_until is_listed) &&
		scraped_ms=$(ms_until all_scraped) &&
		reported_ms=$(ms_until differs "$sum"); }; then
		failed=$((failed + 1))
		echo "# round $round: list ${listed_ms:-never}, controllers" \
			"${scraped_ms:-never}, reports ${reported_ms:-never}"
		diff /run/listed /run/listed.now | sed 's/^/# /'
		continue
	fi
	[ "$(on host store_checksum still)" = "$still" ] || {
		echo "# round $round: the store has other bytes"
		failed=$((failed + 1))
	}
	lost=$(lost_by_churn)
	[ -z "$lost" ] || {
		echo "# round $round: lost: $(tr '\n' ' ' <<<"$lost")"
		failed=$((failed + 1))
	}
	echo "$listed_ms" >>/run/times.list
	echo "$scraped_ms" >>/run/times.controllers
	echo "$reported_ms" >>/run/times.reports
	truncate -s 0 /run/controller.*
done
: >/run/end
on host touch /run/end
check "in $rounds rounds the same is registered, and stores have the same bytes" \
	[ $failed -eq 0 ]
check "everything was listed again after $(times list)" in_time list
check "three controllers were back after $(times controllers)" in_time controllers
check "reports flowed again after $(times reports)" in_time reports
# It would end at another address or a lost value.
check "the slices had the same memory all the time" on host pidof slice_writer
check "the XDP reporter is detached" dartctl xdp detach eth0
check "the agent stops" on host host_down
on host sh -c 'pkill -x slice_writer
	pkill -x map_owner
	pkill -x dartctl
	rm /sys/fs/bpf/pinned
	ip link delete dummy7
	ip netns delete blue
	rmdir /sys/fs/cgroup/a/b /sys/fs/cgroup/a'
finish
