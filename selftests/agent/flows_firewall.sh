#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart-flows as a firewall between two hosts, which are network namespaces at the same port: the
# direction that its rules permit works, the other one is refused, probes make no entry, FIN and RST
# end entries, and no connection is lost when dart-flows or dartd is killed.
# shellcheck disable=SC2086 # paths without blanks, words of $flow and $one
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/flows_hosts.sh"

log=/run/dart-flows.log
policy=/run/flows.yaml
control=/run/dart-flows.sock
inside=10.0.0.2 outside=198.51.100.2
inside6=2001:db8:1::2 outside6=2001:db8:2::2
flow="dartctl --socket $control -j flow"

# write_policy REFUSAL [PROTOCOL]: hosts inside may begin flows, of this protocol only
write_policy() {
	printf '%s\n' 'function: firewall' 'interface: flows0' 'table: firewall' \
		'journal: /run/flows.journal' 'flows: 2000' \
		'timeouts: {udp: 60min, icmp: 60min, transitory: 10s}' \
		'routes:' ' - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}' \
		' - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}' 'zones:' \
		' - {name: inside, addresses: [10.0.0.0/8]}' \
		' - {name: outside, addresses: [0.0.0.0/0]}' 'rules:' \
		" - {from: inside, to: outside${2+, protocol: $2}}" \
		' - {from: outside, protocol: tcp, ports: [22]}' \
		' - {from: outside, protocol: tcp, ports: [23], action: reject}' \
		"refusal: $1" >$policy
}

start() {
	until_ready $log dart-flows --policy $policy --control $control
}

# shows FILTER: of the state
shows() {
	$flow show >/run/shown && is_true "$1" /run/shown
}

# in_table COUNT [NAME]: the table contains COUNT entries
in_table() {
	dartctl -j table show "${2-firewall}" | is_true ".entries == $1"
}

# inside COMMAND...: the host inside does this, see flows_host.py; outside likewise
inside() {
	tell inside "$@"
}

outside() {
	tell outside "$@"
}

rm -f /run/flows.journal*
add_ports
add_host inside $inside 10.0.0.1 02:00:00:00:00:0a $inside6 2001:db8:1::1
add_host outside $outside 198.51.100.1 02:00:00:00:00:0b $outside6 2001:db8:2::1
inside listen 22
inside listen 80
outside listen 80

write_policy drop
check "the agent starts" host_up
check "a table is created" dartctl table create firewall --entries 4000
check "dart-flows starts" start

# ---- directions

check "connections from inside work" inside open 20 $outside 80
check "each is in the table" soon in_table 40
check "the switch would send their ends to dart-flows" sh -c \
	"dartctl table dump firewall --format csv | grep -c ',tcp,tracked$' | grep -q -x 40"
check "they are shown as established" is_true \
	'[.[] | select(.connection == "established" and .state == "entered")] | length == 20' \
	<($flow list)
check "datagrams and answers pass" inside datagrams 20 $outside 80
check "their pseudo-connections are in the table, too" soon in_table 80
check "a ping is answered" inside ping $outside
check "a connection from outside to a port that no rule names gets no answer" \
	outside silent $inside 80
check "a connection to a port that a rule rejects is refused" outside refused $inside 23
check "a connection to a port that a rule accepts works" outside open 1 $inside 22
check "so there are 21 connections, 20 pseudo-connections and an echo" soon shows \
	'.flows | .now == 42 and .entered == 41 and .kept == 1'

# ---- probes

check "a host outside probes a port that a rule accepts" \
	outside probe $inside 22 A F FPU 0 SF SR R SA
check "a host inside probes one outside" inside probe $outside 80 A F FPU 0 SF SA
check "they are counted" soon shows '.packets.invalid >= 8 and .packets.unknown >= 5'
check "none has an entry" in_table 82
check "none is a flow" shows '.flows.now == 42'

# ---- killed

check "dart-flows is killed" host_down KILL dart-flows
check "it starts again" start
check "all connections go on" inside talk
check "the agent is killed" host_down KILL
check "all connections go on meanwhile" inside talk
check "other ones begin" inside open 5 $outside 80
check "the agent starts again" host_up again
check "the table contains them again" soon in_table 92
check "all connections go on after that" inside talk

# ---- ends

one=$($flow list | gojq -r '[.[] | select(.protocol == "tcp" and (.remote | endswith(":80")))][0] |
	"tcp \(.inside) \(.remote)"')
check "a flow is shown" is_true '.connection == "established"' <($flow show $one)
check "connections are closed by FIN" inside shut
check "their entries are removed" soon in_table 42
check "dart-flows is killed again" host_down KILL dart-flows
check "it starts again" start
check "it does not enter closed connections again" soon shows \
	'.table.there and .table.waiting == 0 and .flows.entering == 0 and .flows.entered == 21'
check "the table contains none of them" in_table 42
check "after a time-out they are forgotten" soon shows '.flows | .now == 22 and .entered == 21'
check "a connection is reset" outside reset
check "its entries are removed" soon in_table 40

# ---- other rules

write_policy reject udp
pkill -HUP -x dart-flows
check "another policy is taken" soon grep -q "the policy of .* is in use" $log
check "a connection that no rule accepts is refused" inside refused $outside 80
check "a datagram that no rule accepts is answered by an ICMP error" \
	outside prohibited $inside 80
check "a datagram that a rule accepts passes" inside datagrams 1 $outside 80

# ---- IPv6, beside IPv4, with a table of other keys

check "dart-flows ends" host_down TERM dart-flows
rm -f /run/flows.journal*
write_policy reject
sed -i -e 's/^table: .*/table: firewall6/' -e '/^routes:/a\
 - {prefix: "2001:db8:1::/64", mac: 02:00:00:00:00:0a}\
 - {prefix: "::/0", mac: 02:00:00:00:00:0b, mtu: 1300}
	s|10.0.0.0/8\]|10.0.0.0/8, "2001:db8:1::/64"]|;s|0.0.0.0/0\]|0.0.0.0/0, "::/0"]|' $policy
refuse "a policy with addresses of both families says so" "need 'families: both'" \
	dart-flows --policy $policy --check
printf '%s\n' 'families: both' 'address6: 2001:db8:1::1' 'address: 10.0.0.1' \
	'neighbours:' ' - {address: "2001:db8:1::1", mac: 02:00:00:00:00:01}' \
	' - {address: 10.0.0.1, mac: 02:00:00:00:00:01}' >>$policy
check "a table for IPv6 is created, with 1400 bytes for a frame" \
	dartctl table create firewall6 --schema firewall6 --entries 4000 --packet 1400
check "dart-flows starts with it" start
check "connections over IPv6 work" inside open 20 $outside6 80
check "others over IPv4, too" inside open 5 $outside 80
check "both are in the table" soon in_table 50 firewall6
check "with addresses of their families" sh -c "dartctl table dump firewall6 --format csv |
	grep -c -E '^\"?(2001:db8:1::2,2001:db8:2::2|::ffff:10.0.0.2,::ffff:198.51.100.2),' |
	grep -q -x 25"
check "datagrams and answers pass over IPv6" inside datagrams 20 $outside6 80
check "a ping of IPv6 is answered" inside ping $outside6
ip netns exec inside ip neighbour flush dev inside nud permanent
check "a host asks for the address of its gateway, over IPv6" inside ping $outside6
check "and over IPv4" inside ping $outside
check "it is told" soon shows '.packets.neighbours_told >= 2'
check "a datagram that is too long is answered by 'packet too big'" \
	inside path_mtu 1400 $outside6 80 1300
check "a datagram that is longer than the place in a row is answered by its MTU" \
	inside path_mtu 1400 $outside 80 1386
check "both are counted" soon shows '.packets.mtu_told >= 2'
check "a connection over IPv6 that no rule accepts is refused" outside refused $inside6 80
check "a datagram over IPv6 that no rule accepts is answered by an error of ICMPv6" \
	outside prohibited $inside6 80
check "the host inside has a VLAN" add_vlan inside 5 10.5.0.2 10.5.0.1 198.51.105.0/24
check "the host outside, too" add_vlan outside 5 198.51.105.2 198.51.105.1 10.5.0.0/24
check "connections in the VLAN work" inside open 5 198.51.105.2 80
check "so do datagrams" inside datagrams 5 198.51.105.2 80
check "refusals go back with the tag" outside refused 10.5.0.2 80
check "frames with a tag are counted" soon shows '.packets.tagged >= 25'
one6=$($flow list | gojq -r '[.[] | select(.protocol == "tcp" and (.inside | startswith("[")))][0] |
	"tcp \(.inside) \(.remote)"')
check "a flow of IPv6 is shown" is_true \
	'.connection == "established" and .remote == "[2001:db8:2::2]:80"' <($flow show $one6)
check "dart-flows is killed with flows of IPv6" host_down KILL dart-flows
check "it starts once more" start
check "it knows them" soon shows '.flows.entered >= 45 and .table.waiting == 0'
check "connections over both families go on" inside talk
check "they are closed by FIN" inside shut
check "dart-flows ends for good" host_down TERM dart-flows
remove_hosts
check "the agent stops" host_down
rm -f /run/flows.journal* $policy
finish
