#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart-flows removes the entries of flows after their time-out, enters flows in use again with the
# same ports, and ends the other ones.
. "$(dirname "$0")/../lib.sh"

log=/run/dart-flows.log
packets=$tests/lib/nat_packets.py
known=/run/known.json
policy=/run/flows.yaml
control=/run/dart-flows.sock
rm -f /run/flows.journal* $known

# shows FILTER: of the state
shows() {
	dartctl --socket "$control" -j flow show >/run/shown && is_true "$1" /run/shown
}

# entered COUNT: the table contains COUNT flows, two entries each
entered() {
	shows ".flows.entered == $1 and .table.waiting == 0" && in_table $((2 * $1))
}

# in_table COUNT: the table contains COUNT entries
in_table() {
	dartctl -j table show nat | is_true ".entries == $1"
}

printf '%s\n' 'interface: flows0' 'table: nat' 'journal: /run/flows.journal' \
	'inside: [10.0.0.0/8]' 'flows: 20000' 'timeouts: {tcp: 20s, udp: 20s, icmp: 20s}' \
	'pools: [{addresses: 203.0.113.0/30, ports: 2000-65000}]' \
	'routes:' ' - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}' \
	' - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}' >$policy
ip link add flows0 type veth peer name flows1
for interface in flows0 flows1; do
	echo 1 >/proc/sys/net/ipv6/conf/$interface/disable_ipv6
	ip link set $interface up
done

check "the agent starts" host_up
check "a table is created" dartctl table create nat --entries 20000
check "dart-flows starts" until_ready $log dart-flows --policy $policy --control $control
check "flows begin" "$packets" $known flows1 udp 200 answers
check "they are in the table" soon entered 200
check "after their time-out they are not in the table" soon in_table 0
check "they have not ended" shows '.flows.now == 200'
check "flows that are in use have their ports" "$packets" $known flows1 udp 80 answers
check "they are in the table again" soon entered 80
check "the other flows end" soon shows '.flows.now == 80 and .flows.ended == 120'
check "so do these, when they are idle" soon shows '.flows.now == 0 and .flows.ended == 200'
check "no port is taken, and no host is known" \
	shows '.ports.udp == 0 and .flows.mappings == 0 and .flows.subscribers == 0'
check "nothing of them is in the table" in_table 0
rm $known
check "other flows begin" "$packets" $known flows1 udp 80 answers

check "dart-flows ends" host_down TERM dart-flows
ip link del flows0
check "the agent stops" host_down
rm -f /run/flows.journal* $policy $known
finish
