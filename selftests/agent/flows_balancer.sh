#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart-flows as a load balancer between a client and three servers: flows are shared out, keep their
# servers over restarts and other policies, a server that drains or is down gets no other ones, and
# the policy says whether flows of a server that is down go on.
# shellcheck disable=SC2086 # paths without blanks, words of $flow
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/flows_hosts.sh"

log=/run/dart-flows.log
policy=/run/flows.yaml
control=/run/dart-flows.sock
service=192.0.2.10
flow="dartctl --socket $control -j flow"

# write_policy [KEY: VALUE [ITEM]]: a key of the service of TCP, and of its first server
write_policy() {
	printf '%s\n' 'function: balancer' 'interface: flows0' 'table: balancer' \
		'journal: /run/flows.journal' 'flows: 2000' 'refusal: reject' \
		'routes:' ' - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}' \
		' - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}' 'services:' \
		" - address: $service:80" '   protocol: tcp' "   ${1:-when_down: keep}" \
		'   check: {interval: 300ms, timeout: 300ms, rise: 2, fall: 2}' '   servers:' \
		"    - {address: 10.1.0.1:8080${2-}}" '    - {address: 10.1.0.2:8080}' \
		'    - {address: 10.1.0.3:8080}' \
		" - {address: $service:53, protocol: udp, servers: [{address: 10.1.0.1:8080}]}" \
		>$policy
}

start() {
	until_ready $log dart-flows --policy $policy --control $control
}

# reload WORD...: another policy
reload() {
	write_policy "$@"
	taken=$(grep -c "the policy of .* is in use" $log)
	pkill -HUP -x dart-flows
	soon sh -c "[ \$(grep -c 'the policy of .* is in use' $log) -gt $taken ]"
}

# shows FILTER: of the state
shows() {
	$flow show >/run/shown && is_true "$1" /run/shown
}

# servers FILTER: of the list of servers
servers() {
	$flow servers >/run/servers && is_true "$1" /run/servers
}

# in_table COUNT: the table contains COUNT entries
in_table() {
	dartctl -j table show balancer | is_true ".entries == $1"
}

client() {
	tell client "$@"
}

# up NUMBER: connections of checks are accepted; down NUMBER: they are refused
up() {
	tell servers listen 8080 10.1.0.$1
}

down() {
	tell servers unlisten 8080 10.1.0.$1
}

rm -f /run/flows.journal*
add_ports
add_host servers 10.1.0.1 10.1.0.254 02:00:00:00:00:0a
add_host client 198.51.100.2 198.51.100.1 02:00:00:00:00:0b
# Checks go another way than flows.
ip link add checks0 type veth peer name checks1 netns servers
ip link set checks0 up
ip address add 10.9.0.1/32 dev checks0
ip netns exec servers sh -c '
	ip link set checks1 up
	ip route add 10.9.0.1/32 dev checks1
	for address in 10.1.0.2/24 10.1.0.3/24; do
		ip address add $address dev servers
	done'
for number in 1 2 3; do
	ip route add 10.1.0.$number/32 dev checks0 src 10.9.0.1
done
up 1
up 2

# ---- flows are shared out

write_policy
check "the agent starts" host_up
check "a table is created" dartctl table create balancer --schema nat --entries 4000
check "dart-flows starts" start
check "a server that refuses connections is down" soon logged 1 \
	"the server 10.1.0.3:8080 of tcp $service:80 is down: Connection refused"
check "connections to the service work" client open 40 $service 80
check "each is in the table, both ways" soon in_table 80
check "the switch would give answers the address of the service" sh -c \
	"dartctl table dump balancer --schema nat --format csv | grep -c ',tcp,$service,80,tracked_source$' | grep -qx 40"
check "both servers that are up have some" servers '[.[:3][].state] == ["up", "up", "down"] and
	.[0].flows >= 8 and .[1].flows >= 8 and .[2].flows == 0'
check "datagrams and answers pass" client datagrams 5 $service 53
check "a port without a service gets no answer" client silent $service 81
check "it is counted" shows '.packets.unserved >= 1'

# ---- a server comes, and another one drains

check "dart-flows is killed" host_down KILL dart-flows
check "it starts again" start
check "all connections go on" client talk
up 3
check "the third server is up" soon logged 1 "the server 10.1.0.3:8080 of tcp $service:80 is up"
check "other connections work" client open 40 $service 80
check "the third server has some" servers '.[2].flows >= 2'
check "the first server drains" reload 'when_down: keep' ', drain: true'
before=$(gojq '.[0].flows' /run/servers)
check "all connections go on" client talk
check "other ones work" client open 20 $service 80
check "none of them is of the server that drains" servers \
	".[0].state == \"draining\" and .[0].flows == $before"

# ---- a server ends

down 2
check "a server that ends is down" soon logged 1 "the server 10.1.0.2:8080 of .* is down"
check "its connections go on" client talk
broken=$(gojq '.[1].flows' /run/servers)
check "a policy says that they end" reload 'when_down: end' ', drain: true'
check "they are counted" soon shows ".flows.broken == $broken"
check "they are reset" client broken "$broken"
check "all others go on" client talk
# ---- a policy that is wrong

echo " - {address: $service:81, protocol: tcp, servers: [{address: 10.1.0.1:8080}]}" >>$policy
pkill -HUP -x dart-flows
check "a policy that is wrong changes nothing" soon grep -q \
	"another service of tcp has the server 10.1.0.1:8080: .*: the policy stays as it was" $log
check "all connections still go on" client talk

# ---- no server

down 3
# It was down at both starts, too.
check "no server is left" soon logged 3 "the server 10.1.0.3:8080 of .* is down"
check "a connection is refused" client refused $service 80
check "it is counted" shows '.packets.no_server >= 1 and .servers.draining == 1'

check "dart-flows ends" host_down TERM dart-flows
remove_hosts
ip link del checks0 2>/dev/null
check "the agent stops" host_down
rm -f /run/flows.journal* /run/shown /run/servers $policy
finish
