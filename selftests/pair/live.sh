#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Packets that arrive at an interface are counted in a ledger of another host exactly once, while
# frames to the ledger get lost, come twice and late.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../faulty_link.sh"

flows=30
link=cables0	# packets go in there, and arrive at cables1

# begin NAME: counts in the background
begin() {
	dart-report --json --interface eth0 --ledger /run/flows.json --source 10.77.0.1 \
		--live cables1 --follow >"/run/$1" 2>"/run/$1.errors" &
	counting=$!
	soon attached
}

# attached: the program is there
attached() {
	bpftool -j net show dev cables1 | is_true '.[0].xdp | length == 1' >/dev/null
}

# send PACKETS: of all flows in turn
send() {
	dart-report --interface "$link" --source 192.0.2.1 --emit int --flows uniform \
		--count "$flows" --packets "$1" --rate 3000 >/dev/null
}

# end NAME: ends the counting, which prints its summary
end() {
	kill -TERM "$counting" && wait "$counting" && return
	cat "/run/$1.errors"
	return 1
}

# numbers NAME
numbers() {
	gojq -r '"# \(.packets) packets, \(.others) others, " + (.ledger |
		"\(.requests) requests, \(.repeats) repeats, lost \(.lost)")' "/run/$1"
}

# sums EACH: the ledger contains EACH packets for each flow, and nothing else
sums() {
	on host sh -c "$queries" |
		gojq -s -e "length == $flows and
			all(.value.packets == $1 and .total == $1 * $flows)"
}

# fresh: this machine gets a queue pair that no run has used
fresh() {
	on host dartctl adder renew flows 10.77.0.1 >/dev/null &&
		on host dartctl ledger export flows >/run/flows.json
}

ip link add cables0 type veth peer name cables1
# Nothing but the packets of this test.
for interface in cables0 cables1; do
	echo 1 >/proc/sys/net/ipv6/conf/$interface/disable_ipv6
	ip link set $interface up
done
# Packets with INT-MD go to port 5000.
queries=$(for i in $(seq 0 $((flows - 1))); do
	flow uniform "$flows" 0 "$i" | sed -n '1s/--dport [0-9]*/--dport 5000/p'
done | sed 's/^/dartctl -j ledger query flows flow-count /')
rdma_up
check "the agent starts under a service manager" on host sh -c "
	rm -rf /var/lib/dart && modprobe dart_zero && rdma_up && until_ready /run/dartd.log \
		service_manager dartd --config $tests/readers.yaml"
check "a ledger has this machine as an adder" on host sh -c '
	dartctl ledger create flows --words 2^16 && dartctl adder add flows 10.77.0.1'
on host dartctl ledger export flows >/run/flows.json
refuse "an interface that does not exist is refused" "there is no interface 'absent'" \
	dart-report --interface eth0 --ledger /run/flows.json --source 10.77.0.1 --live absent
check "the packets of an interface are counted" begin first
refuse "the interface has one counter only" "another XDP program is attached" \
	dart-report --interface eth0 --ledger /run/flows.json --source 10.77.0.1 --live cables1
received=$(cat /sys/class/net/cables1/statistics/rx_packets)
check "3,000 packets arrive" send 3000
check "the ledger has them while they are counted" soon sums 100
check "they pass" [ "$(cat /sys/class/net/cables1/statistics/rx_packets)" = \
	$((received + 3000)) ]
check "6,000 more arrive" send 6000
check "the counting ends by a signal" end first
numbers first
check "no packet is missing" gojq -e '.packets == 9000 and .others == 0 and .crowded == 0 and
	.ledger.packets == 9000 and (.ledger.lost | add) == 0' /run/first
check "each is in the sum of its flow, once" sums 300
check "the program is gone" sh -c '! bpftool net show dev cables1 | grep -q cables1'

check "the next run gets another queue pair" fresh
check "frames to the ledger get lost, come twice and late" faulty_link 2 2 2
check "the packets are counted" begin second
check "9,000 more arrive" send 9000
check "the counting ends by a signal" end second
sound_link
numbers second
check "no packet is missing" gojq -e '.packets == 9000 and .ledger.packets == 9000 and
	(.ledger.lost | add) == 0' /run/second
check "each is in the sum of its flow, once" sums 600
check "the agent stops" on host host_down
ip link delete cables0
finish
