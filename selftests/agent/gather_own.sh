#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Without the module dartd samples drivers over interfaces of the kernel: network devices of other
# namespaces, their counters per CPU, ports of RDMA devices and hardware counters.  Values lie
# between two that the kernel shows.  Deferrable gathering wakes no idle CPU.
GATHERER=programs
export GATHERER
. "$(dirname "$0")/../lib.sh"

# blue_counts: the files of v0 in the namespace blue
blue_counts() {
	ip netns exec blue sh -c 'cd /sys/class/net/v0 &&
		grep -H . statistics/* carrier carrier_changes mtu' |
		gojq -n -R -c '[inputs | sub("statistics/"; "") / ":" |
			{(.[0]): (.[1] | tonumber)}] | add'
}

# loopback_counts: packets and bytes that lo received
loopback_counts() {
	awk '$1 == "lo:" { printf "{\"packets\": %d, \"bytes\": %d}\n", $3, $2 }' /proc/net/dev
}

# send NAMESPACE ADDRESS COUNT: datagrams
send() {
	ip netns exec "$1" bash -c "for _ in \$(seq $3); do echo x >/dev/udp/$2/9; done" 2>/dev/null
}

# number NAMESPACE: of a namespace in this one
number() {
	ip netns list | sed -n "s/^$1 (id: \([0-9]*\))/\1/p"
}

# perf_rows: of each CPU, with times in ns
perf_rows() {
	passed
	dartctl -j show perf+100ms | gojq -c '[.values.rows[]]'
}

# has_slack: the thread that gathers waited with an hour of slack
has_slack() {
	awk '$1 ~ /^gather-/ && match($0, / expires=[0-9]+/) {
			expires = substr($0, RSTART + 9, RLENGTH - 9)
			match($0, /softexpires=[0-9]+/)
			if (expires - substr($0, RSTART + 12, RLENGTH - 12) > 1e12) {
				print; found = 1
			}
		}
		END { exit !found }' /sys/kernel/tracing/trace
}

lacks_slack() {
	! has_slack
}

# has_newer UPTIME: softirqs were gathered later than that
has_newer() {
	dartctl -j show softirqs+50ms | is_true "any(.values.rows[]; .time > $1 * 1e9)"
}

check "the agent starts" host_up
check "the gathering is gathered" dartctl source add gathering --gather 100ms

ip netns add blue
ip -n blue link add v0 index 77 type dummy
ip -n blue address add 10.9.0.1/24 dev v0
ip -n blue neighbour replace 10.9.0.2 lladdr 02:00:00:00:00:01 dev v0
ip -n blue link set v0 up
refuse "a device that another namespace lacks is refused" "no interface" \
	dartctl source add netdev:link --netns blue --netdev v1 --gather 100ms
check "a device of another namespace is sampled" \
	dartctl source add netdev:link --netns blue --netdev v0 --gather 100ms
send blue 10.9.0.2 7
check "its values are the kernel's" soon compare_sample blue_counts netdev:link@blue/v0
check "datagrams are among them" is_true '.tx_packets >= 7' <<<"$(sampled netdev:link@blue/v0)"

# Another namespace takes the number, and a device the index, while dartd does not look.
blue=$(number blue)
kill -STOP "$(pidof dartd)"
ip netns delete blue
ip netns add red
ip -n red link add v0 index 77 type dummy
check "the kernel gives the number of the namespace to another one" soon ip netns set red "$blue"
check "and both have the same number" [ "$(number red)" = "$blue" ]
kill -CONT "$(pidof dartd)"
check "the entry of the namespace that ended leaves" soon lacks netdev:link@blue/v0+100ms
check "the other namespace is sampled by itself" \
	dartctl source add netdev:link --netns red --netdev v0 --gather 100ms
check "with its own values" is_true '.tx_packets == 0' <<<"$(sampled netdev:link@red/v0)"
ip netns delete red

if [ "$(printf '%s\n' 6.7 "$(uname -r)" | sort -V | head -n 1)" = 6.7 ]; then
	check "counters per CPU of a device are gathered" \
		dartctl source add netdev:stats --netdev lo --gather 100ms
	for _ in 1 2 3; do
		echo x >/dev/udp/127.0.0.1/9
	done
	check "their sums are the kernel's" soon compare_sample loopback_counts netdev:stats@lo
	check "datagrams are among them, too" is_true '.packets >= 3 and .bytes > 84' \
		<<<"$(sampled netdev:stats@lo)"
else
	refuse "counters per CPU need a kernel that tells their type" "no per-CPU statistics" \
		dartctl source add netdev:stats --netdev lo --gather 100ms
fi
refuse "a device without counters per CPU that the kernel knows is refused" \
	"no per-CPU statistics" dartctl source add netdev:stats --netdev eth0 --gather 100ms

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
rdma link delete rxe0
check "the entry of an RDMA device that was removed leaves" soon lacks rdma:ports@eth0+100ms

if [ "$(pmu_fields)" ]; then
	check "the hardware counters are sampled" dartctl source add perf --gather 100ms
	before=$(perf_rows)
	after=$(perf_rows)
	check "each CPU counted for the time between two rows" is_true \
		--argjson before "$before" 'length == 2 and
			([$before, .] | transpose | all((.[1].enabled - .[0].enabled) as $counted |
				(.[1].time - .[0].time) as $passed | $counted > 0.9 * $passed and
				$counted < 1.1 * $passed and .[0].cycles < .[1].cycles))' \
		<<<"$after"
else
	refuse "a machine without a PMU has no hardware counters" "needs a virtual PMU" \
		dartctl source add perf --gather 100ms
fi

echo 1 >/sys/kernel/tracing/events/timer/hrtimer_start/enable
passed
check "no wait for a pass has slack unless that is asked for" lacks_slack
check "a source is gathered without waking an idle CPU" \
	dartctl source add softirqs --gather 50ms --deferrable
check "the thread that gathers waits with slack for it" soon has_slack
echo 0 >/sys/kernel/tracing/events/timer/hrtimer_start/enable
check "its values are gathered" soon has_newer "$(cut -d " " -f 1 /proc/uptime)"
finish
