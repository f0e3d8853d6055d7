#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The XDP reporter turns packets with INT-MD, also mirrored ones, into WRITEs to a store.
. "$(dirname "$0")/../lib.sh"

collectors=$(mktemp)
flows=2000

# create STORE: in a file of the host, with this machine as its reporter
create() {
	on host dartctl store create "$1" --slots 2^16 --value 20 \
		--file "/run/store/$1" &&
		on host dartctl reporter add "$1" 10.77.0.1 &&
		on host dartctl store export "$1" >"$collectors"
}

# counter NAME INTERFACE
counter() {
	dartctl -j xdp status "$2" | gojq ".[0].$1"
}

# taken: packets that the host's soft-RoCE received
taken() {
	on host rdma -j statistic show link rxe0/1 | gojq '.[0].rcvd_pkts'
}

# Copies that were dropped between copies0 and copies1.
lost() {
	cat /sys/class/net/copies0/statistics/tx_dropped 2>/dev/null || echo 0
}

# report COUNT INTERFACE COMMAND...: COMMAND sends packets that become COUNT reports,
# less the lost copies. Most of them arrive soon; a virtual network drops some.
report() {
	count=$1 interface=$2
	shift 2
	before=$(taken)
	earlier=$(lost)
	"$@" --flows uniform --emit int || return
	count=$((count - $(lost) + earlier))
	for _ in $(seq 30); do
		arrived=$(($(taken) - before))
		[ "$arrived" -lt "$count" ] || break
		sleep 0.1
	done
	dartctl xdp status "$interface"
	echo "of $count reports $arrived have arrived"
	[ "$(counter reports "$interface")" -eq "$count" ] &&
		[ $((arrived * 2)) -gt "$count" ] && [ "$arrived" -le "$count" ]
}

# found STORE: a slot of 2^16 survives n later reports with probability e^(-n / 2^16).
# So (1 - e^-a) / a of the reports that arrived are found on average, where a = arrived
# / 2^16. The store contains this share within 5 sigma, and no wrong path.
# shellcheck disable=SC2016 # variables of jq
found() {
	on host flows_found "/run/store/$1" uniform "$flows" | tee /dev/stderr |
		is_true --argjson arrived "$arrived" '($arrived / 65536) as $a |
			((1 - (-$a | exp)) / $a) as $p |
			(($p * (1 - $p) * $arrived | sqrt) * 5) as $far |
			.wrong == 0 and (.correct - $p * $arrived | fabs) < $far'
}

on host mkdir -p /run/store
on host mount -t tmpfs tmpfs /run/store
rdma_up
check "the agent starts" on host host_up
on host dartctl register source cpustat

check "the host makes a store to which this machine may report" create turned
check "the reporter can be attached to the port that receives the packets" \
	dartctl xdp attach eth0 --collectors "$collectors"
check "each packet with INT becomes a report" report $flows eth0 \
	on host dart-report --interface eth0 --count $flows
check "the store has the paths of the packets, and no wrong path" found turned
check "packets without INT pass the reporter" dart-controller --once host
check "packets that pass the reporter are counted" [ "$(counter others eth0)" -gt 0 ]
check "the driver of the port runs the reporter" \
	[ "$(dartctl -j xdp status eth0 | gojq -r '.[0].mode')" = native ]
check "a reporter that sends one copy can be detached" dartctl xdp detach eth0

check "the host makes a store for reports with all copies" create both
check "the reporter can be attached with all copies" dartctl xdp attach eth0 \
	--copies all --collectors "$collectors"
check "with all copies each packet with INT becomes two reports" report 200 eth0 \
	on host dart-report --interface eth0 --count 100
# Few enough for the network to drop none; hardly any two share a slot.
check "with all copies the store has both copies of each path" sh -c '
	on host flows_found /run/store/both uniform 100 | tee /dev/stderr |
	is_true ".correct == 100 and .wrong == 0 and .copies > 195"'
check "a reporter that sends all copies can be detached" dartctl xdp detach eth0

# A port of a switch (lan1), a machine that sends to it (lan0), and a cable for copies.
ip link add lan0 type veth peer name lan1
ip link add copies0 type veth peer name copies1
for interface in lan0 lan1 copies0 copies1; do
	ip link set $interface up
done
tc qdisc add dev lan1 clsact
tc filter add dev lan1 ingress matchall action mirred egress mirror dev copies0
check "the host makes a store for reports from mirrored packets" create copied
ip link add more0 type veth peer name more1
check "a reporter can send through another interface" dartctl xdp attach \
	more1 --through eth0 --collectors "$collectors"
check "a second reporter can send through the same interface" \
	dartctl xdp attach copies1 --through eth0 --collectors "$collectors"
check "one of two reporters that share an interface can be detached" \
	dartctl xdp detach more1
received=$(cat /sys/class/net/lan1/statistics/rx_packets)
check "each mirrored packet with INT becomes a report" report $flows copies1 \
	dart-report --interface lan0 --source 192.0.2.1 --count $flows
check "the store has the paths of the mirrored packets, and no wrong path" found copied
check "mirrored packets also reach the port they were sent to" \
	[ $((received + flows)) -le "$(cat /sys/class/net/lan1/statistics/rx_packets)" ]
check "the agent stops" on host host_down
check "an interface with a reporter can be deleted" ip link delete copies0
check "the status says that the reporter's interface no longer exists" \
	[ "$(dartctl -j xdp status copies1 | gojq -r '.[0].mode')" = gone ]
check "a reporter can be detached after its interface was deleted" \
	dartctl xdp detach copies1
rm -f "$collectors"
finish
