#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# This machine is a switch: packets with INT-MD become WRITEs into a store of the
# host's, which then knows their paths; turned back where they came from, and
# from copies that the kernel mirrors.
. "$(dirname "$0")/../lib.sh"

collectors=$(mktemp)
flows=5000

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

# reported INTERFACE COUNT: as often, soon; a packet takes its time.
reported() {
	for _ in $(seq 50); do
		[ "$(counter reports "$1")" -lt "$2" ] || break
		sleep 0.1
	done
	dartctl reporter status "$1"
	[ "$(counter reports "$1")" -eq "$2" ]
}

# A slot survives n reports to others in 2^16 with the chance e^(-n/2^16); so, with
# a = flows / 2^16, these parts of all flows are found, on average:
one_of_two='(1 - (-$a | exp)) / $a'
both='2 * (1 - (-2 * $a | exp)) / (2 * $a) - (1 - (-4 * $a | exp)) / (4 * $a)'

# found STORE PART: within 5 sigma; and nothing is wrong
found() {
	on host flows_found "/run/store/$1" uniform $flows | tee /dev/stderr |
		jq -e --argjson flows $flows '($flows / 65536) as $a |
			('"$2"') as $p |
			(($p * (1 - $p) * $flows | sqrt) * 5) as $far |
			.wrong == 0 and (.correct - $p * $flows | fabs) < $far'
}

on host mkdir -p /run/store
on host mount -t tmpfs tmpfs /run/store
rdma_up
check "the agent starts" on host host_up
on host dartctl register source cpustat

check "a store, and this machine may report to it" create turned
check "the reporter is attached" \
	dartctl reporter attach eth0 --collectors "$collectors"
check "the host sends packets with INT" on host dart-report --interface eth0 \
	--flows uniform --count $flows --emit int
check "each becomes a report" reported eth0 $flows
check "whose paths are in the store, and no others" found turned "$one_of_two"
check "other packets go their way" dart-controller --once host
check "and are counted" [ "$(counter others eth0)" -gt 0 ]
check "the driver runs it" [ "$(dartctl -j reporter status eth0 |
	jq -r .reporters[0].mode)" = native ]
check "it is detached" dartctl reporter detach eth0

check "a store for all copies" create both
check "the reporter is attached" dartctl reporter attach eth0 --copies all \
	--collectors "$collectors"
check "the host sends packets with INT" on host dart-report --interface eth0 \
	--flows uniform --count $flows --emit int
check "each becomes two reports" reported eth0 $((2 * flows))
check "more paths are in the store" found both "$both"
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
check "the reporter gets copies" dartctl reporter attach copies1 \
	--through eth0 --collectors "$collectors"
before=$(cat /sys/class/net/lan1/statistics/rx_packets)
check "somebody sends packets with INT" dart-report --interface lan0 \
	--source 192.0.2.1 --flows uniform --count $flows --emit int
check "each becomes a report" reported copies1 $flows
check "whose paths are in the store, and no others" found copied "$one_of_two"
check "the packets themselves arrive" [ $((before + flows)) -le \
	"$(cat /sys/class/net/lan1/statistics/rx_packets)" ]
check "the agent ends" on host host_down
check "its interface ends" ip link delete copies0
check "which is said" [ "$(dartctl -j reporter status copies1 |
	jq -r .reporters[0].mode)" = gone ]
check "and cleared away" dartctl reporter detach copies1
rm -f "$collectors"
finish
