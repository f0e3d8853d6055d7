#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# This machine is a switch: packets with INT-MD become WRITEs into a store of the
# host's, which then knows their paths; turned back where they came from, and
# from copies that the kernel mirrors.
. "$(dirname "$0")/../lib.sh"

collectors=$(mktemp)
flows=2000

# create STORE: in the memory of the host, and this machine reports to it
create() {
	on host dartctl store create "$1" --slots 2^16 --value 20 \
		--file "/run/store/$1" &&
		on host dartctl reporter add "$1" 10.77.0.1 &&
		on host dartctl store export "$1" >"$collectors"
}

# counter NAME INTERFACE
counter() {
	dartctl -j reporter status "$2" | jq ".reporters[0].$1"
}

# taken: packets that the host's soft-RoCE has had
taken() {
	on host rdma -j statistic show link rxe0/1 | jq '.[0].rcvd_pkts'
}

# Copies that found no room between copies0 and copies1.
lost() {
	cat /sys/class/net/copies0/statistics/tx_dropped 2>/dev/null || echo 0
}

# report COUNT INTERFACE COMMAND...: sends packets, which become COUNT reports, less
# the copies that are lost. Most arrive, soon; a virtual network drops what comes
# faster than it gets to it.
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
	dartctl reporter status "$interface"
	echo "of $count reports $arrived have arrived"
	[ "$(counter reports "$interface")" -eq "$count" ] &&
		[ $((arrived * 2)) -gt "$count" ] && [ "$arrived" -le "$count" ]
}

# found STORE: a slot survives n reports to others in 2^16 with the chance
# e^(-n / 2^16), so of those that arrived (1 - e^-a) / a are found on average, where
# a = arrived / 2^16; within 5 sigma, and nothing is wrong.
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

check "a store, and this machine may report to it" create turned
check "the reporter is attached" \
	dartctl reporter attach eth0 --collectors "$collectors"
check "each packet with INT becomes a report" report $flows eth0 \
	on host dart-report --interface eth0 --count $flows
check "whose paths are in the store, and no others" found turned
check "other packets go their way" dart-controller --once host
check "and are counted" [ "$(counter others eth0)" -gt 0 ]
check "the driver runs it" [ "$(dartctl -j reporter status eth0 |
	jq -r .reporters[0].mode)" = native ]
check "it is detached" dartctl reporter detach eth0

check "a store for all copies" create both
check "the reporter is attached" dartctl reporter attach eth0 --copies all \
	--collectors "$collectors"
check "each packet becomes two reports" report 200 eth0 \
	on host dart-report --interface eth0 --count 100
# No more than the network has room for, so none is lost; few share a slot.
check "which are both copies" sh -c 'on host flows_found /run/store/both \
	uniform 100 | tee /dev/stderr |
	is_true ".correct == 100 and .wrong == 0 and .copies > 195"'
check "it is detached" dartctl reporter detach eth0

# A port of a switch (lan1) that somebody sends to (lan0), and a cable for copies.
ip link add lan0 type veth peer name lan1
ip link add copies0 type veth peer name copies1
for interface in lan0 lan1 copies0 copies1; do
	ip link set $interface up
done
tc qdisc add dev lan1 clsact
tc filter add dev lan1 ingress matchall action mirred egress mirror dev copies0
check "another store" create copied
ip link add more0 type veth peer name more1
check "a reporter sends through another interface" dartctl reporter attach \
	more1 --through eth0 --collectors "$collectors"
check "one that gets copies does, too" dartctl reporter attach copies1 \
	--through eth0 --collectors "$collectors"
check "the first one ends" dartctl reporter detach more1
received=$(cat /sys/class/net/lan1/statistics/rx_packets)
check "each copy becomes a report" report $flows copies1 \
	dart-report --interface lan0 --source 192.0.2.1 --count $flows
check "whose paths are in the store, and no others" found copied
check "the packets themselves arrive" [ $((received + flows)) -le \
	"$(cat /sys/class/net/lan1/statistics/rx_packets)" ]
check "the agent ends" on host host_down
check "its interface ends" ip link delete copies0
check "which is said" [ "$(dartctl -j reporter status copies1 |
	jq -r .reporters[0].mode)" = gone ]
check "and cleared away" dartctl reporter detach copies1
rm -f "$collectors"
finish
