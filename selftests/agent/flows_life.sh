#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Flows begin, age and end by dart-flows as a NAT, and their ports are used again, while a switch
# looks up packets of others: each reaches its own host only, and no port has two flows.
# DART_FLOWS: the number of flows.
. "$(dirname "$0")/../lib.sh"

log=/run/dart-flows.log
policy=/run/flows.yaml
control=/run/dart-flows.sock
flows=${DART_FLOWS:-3000}
rate=${DART_FLOWS_RATE:-100}	# in a second, if the machine can
timeout=10
at_once=$((rate * 30))	# in the table: a flow ends within two time-outs after its last packet
ends=$((rate * 24))
rm -f /run/flows.journal*

# shows FILTER: of the state
shows() {
	dartctl --socket "$control" -j flow show >/run/shown && is_true "$1" /run/shown
}

# lived FILTER: of what the hosts saw
lived() {
	is_true --argjson flows "$flows" "$1" /run/lived
}

printf '%s\n' 'interface: flows0' 'table: nat' 'journal: /run/flows.journal' \
	'inside: [10.0.0.0/8]' "flows: $at_once" 'rate: 1000000' \
	"timeouts: {tcp: ${timeout}s, transitory: ${timeout}s, udp: ${timeout}s}" \
	"pools: [{addresses: 203.0.113.1, ports: 2000-$((1999 + ends))}]" \
	'routes:' ' - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}' \
	' - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}' >$policy
ip link add flows0 type veth peer name flows1
for interface in flows0 flows1; do
	echo 1 >/proc/sys/net/ipv6/conf/$interface/disable_ipv6
	ip link set $interface up
done

echo "allow: {readers: [10.77.0.1]}" >/run/agent.yaml
check "the agent starts" host_up --config=/run/agent.yaml
check "a table is created" dartctl table create nat --entries $((2 * at_once))
check "dart-flows starts" until_ready $log dart-flows --policy $policy --control $control
check "$flows flows begin and end" sh -c \
	"flows_life 10.77.0.1 nat flows1 $flows $rate $ends $ends $timeout >/run/lived"
gojq -r '"# \(.born) flows in \(.seconds) s, \(.born / .seconds | floor) a second",
	"# \(.at_once) at once, \(.reused) had the port of another host before",
	"# \(.right) packets arrived, \(.repeated) were sent again, \(.late) of ended flows were sent",
	"# lookups: \(.found) found, \(.absent) absent, \(.changing) changing",
	"# dart-flows: \(.handed) packets, \(.returned) sent on, \(.questions) questions"' /run/lived
check "all of them began and ended" lived '.born == $flows and .ended == $flows'
check "no packet reached another host, or came damaged" lived '.wrong == 0 and .damaged == 0'
check "no flow got a port that the flow of another host had" lived '.doubled == 0'
check "no flow in use got another port" lived '.moved == 0'
check "ports were used again" lived '.reused > $flows / 10'
check "most packets were looked up, not handed to dart-flows" lived \
	'.found - .tracked > .handed / 4'
check "dart-flows had room for all flows, and lost no packet" shows \
	'.table.full == 0 and .packets.exhausted == 0 and .packets.limited == 0 and
	.packets.unsent == 0'
check "it ends all flows" soon shows '.flows.now == 0 and .flows.mappings == 0'
check "no port is taken" shows '.ports.udp == 0 and .ports.tcp == 0'
check "the table is empty" sh -c "dartctl -j table show nat | gojq -e '.entries == 0'"
check "dart-flows ends" host_down TERM dart-flows
ip link del flows0
check "the agent stops" host_down
rm -f /run/flows.journal* $policy /run/lived /run/agent.yaml
finish
