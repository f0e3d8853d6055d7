#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart-flows is stopped for longer than a time-out: flows that had a packet meanwhile go on.
. "$(dirname "$0")/../lib.sh"

log=/run/dart-flows.log
policy=/run/flows.yaml
control=/run/dart-flows.sock
timeout=10
rm -f /run/flows.journal*

printf '%s\n' 'interface: flows0' 'table: nat' 'journal: /run/flows.journal' \
	'inside: [10.0.0.0/8]' 'flows: 10000' 'rate: 1000000' "timeouts: {udp: ${timeout}s}" \
	'pools: [{addresses: 203.0.113.1, ports: 2000-65000}]' \
	'routes:' ' - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}' \
	' - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}' >$policy
ip link add flows0 type veth peer name flows1
for interface in flows0 flows1; do
	echo 1 >/proc/sys/net/ipv6/conf/$interface/disable_ipv6
	ip link set $interface up
done
check "dart-flows starts" until_ready $log dart-flows --policy $policy --control $control
check "flows begin, and have a packet while it is stopped" sh -c \
	"'$tests/lib/flows_stopped.py' flows1 $(pidof dart-flows) $timeout >/run/stopped"
check "none of them lost its port" is_true '.flows == 1000 and .moved == 0' /run/stopped
check "dart-flows ends" host_down TERM dart-flows

ip link del flows0
rm -f /run/flows.journal* $policy /run/stopped
finish
