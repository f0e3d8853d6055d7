#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart-flows as a VPN gateway between two hosts, network namespaces at the same port with VXLAN of
# the kernel: their networks reach each other by the tunnels of a file, which the table of dartd
# equals after reloads, a restart and a change by hand; the gateway inside answers ARP, ND, echoes and
# packets that are too long.
# shellcheck disable=SC2086 # paths without blanks, words of $flow
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/flows_hosts.sh"

log=/run/dart-flows.log
policy=/run/flows.yaml
tunnels=/run/tunnels.yaml
control=/run/dart-flows.sock
office=10.0.0.2 center=198.51.100.2	# ends of tunnels
client=172.16.0.2 machine=172.16.9.2	# hosts of the tenant
flow="dartctl --socket $control -j flow"

# write_policy REFUSAL
write_policy() {
	printf '%s\n' 'function: gateway' 'interface: flows0' 'table: gateway' \
		'journal: /run/flows.journal' 'flows: 9000' "tunnels: $tunnels" \
		'routes:' ' - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}' \
		' - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b, mtu: 1000}' \
		"refusal: $1" >$policy
}

# write_tunnels VNI [COUNT]: a file where the tenant's machine has this VNI, and COUNT more machines
write_tunnels() {
	printf '%s\n' 'tenants:' \
		' - vni: 5001' '   gateway: 172.16.0.1' '   gateway6: fd00:16::1' \
		'   mac: 02:00:00:00:50:01' '   machines:' \
		"    - {address: $machine, server: $center, vni: $1}" \
		" - {vni: 9001, gateway: 172.16.9.1, mac: '02:00:00:00:90:01', machines: [" \
		"    {address: $client, server: $office, vni: 5001}]}" >$tunnels
	[ -z "${2-}" ] || seq 0 $(($2 - 1)) | awk '
		BEGIN { print " - vni: 7\n   machines:" }
		{ printf "    - {address: 172.20.%d.%d, server: 198.51.100.7}\n",
			$1 / 250, $1 % 250 + 1 }' >>$tunnels
}

start() {
	until_ready $log dart-flows --policy $policy --control $control
}

# reload SENTENCE: the policy is read again, and the log then says this
reload() {
	pkill -HUP -x dart-flows
	soon grep -q "$1" $log
}

# shows FILTER: of the state
shows() {
	$flow show >/run/shown && is_true "$1" /run/shown
}

# in_table COUNT: the table contains COUNT entries
in_table() {
	dartctl -j table show gateway | is_true ".entries == $1"
}

# leads_to VNI: the entry of the tenant's machine names this tunnel
leads_to() {
	dartctl table dump gateway --format csv |
		grep -q "$(printf '%06x,%s,%s,%06x' 5001 $machine $center "$1")"
}

# tunnel HOST VNI MAC ADDRESS: gives the host an interface in the network of a tenant, with the
# Ethernet address of the gateway inside at the other end, which frames keep in the next tunnel
tunnel() {
	ip -n $1 link add inside address $3 type vxlan id $2 remote 192.0.2.1 dstport 4789 nolearning
	ip netns exec $1 $tests/lib/offload_off.py tx inside
	ip -n $1 address add $4/24 dev inside
	ip -n $1 link set inside up
	ip -n $1 route add 172.16.0.0/16 via ${4%.*}.1 dev inside
}

# neighbour ADDRESS MAC: the office knows it
neighbour() {
	ip -n office neighbour show "$1" dev inside | grep -q "lladdr $2 "
}

# is_doubled ADDRESS: the office found that another host has it
is_doubled() {
	ip -n office -6 address show dev inside | grep -q "$1/64 .*dadfailed"
}

# office COMMAND...: the office does this, see flows_host.py; center likewise
office() {
	tell office "$@"
}

center() {
	tell center "$@"
}

rm -f /run/flows.journal*
add_ports
add_host office $office 10.0.0.1 02:00:00:00:00:0a
add_host center $center 198.51.100.1 02:00:00:00:00:0b
tunnel office 5001 02:00:00:00:90:01 $client
tunnel center 9001 02:00:00:00:50:01 $machine
center listen 80

write_policy drop
write_tunnels 9001
check "the agent starts" host_up
check "a table is created" dartctl table create gateway --entries 10000
check "dart-flows starts" start
check "the table contains a tunnel for each machine" soon in_table 2
check "one is shown by its ends" is_true '.state == "entered"' \
	<($flow show vxlan $machine:5001 $center:9001)

# ---- packets

check "connections to the machine work" office open 10 $machine 80
check "datagrams do" office datagrams 10 $machine 80
check "the machine's packets find the client" center ping $client
check "the gateway answered ARP" neighbour 172.16.0.1 02:00:00:00:50:01
check "it answers echoes" office ping 172.16.0.1
ip -n office address add fd00:16::2/64 dev inside nodad
ip netns exec office bash -c 'echo >/dev/udp/fd00:16::1/9'
check "it answers neighbour solicitations" soon neighbour fd00:16::1 02:00:00:00:50:01
ip -n office address add fd00:16::1/64 dev inside
check "it defends its address" soon is_doubled fd00:16::1
check "packets too long for the way to the server are answered with the MTU inside" \
	office path_mtu 1200 $machine 80 950
check "packets for a machine without a tunnel get no answer" office silent 172.16.9.9 80
check "all are counted" shows '.packets | .moved > 60 and .resolved >= 2 and .echoed == 1 and
	.unknown > 0 and .mtu_told == 1 and .oversized == 1 and .invalid == 0'

# ---- the file

write_tunnels 9002 300
check "a file with other tunnels is taken" reload "the policy of .* is in use"
check "the table equals it" soon in_table 302
check "the machine's entry has its other tunnel" soon leads_to 9002
write_tunnels 9001
echo ' - {vni: 5001}' >>$tunnels
check "a file with a mistake is refused" reload "tunnels.yaml:.*two tenants have the VNI 5001"
check "the tunnels stay" in_table 302
dartctl table insert gateway vni=000009 machine=172.16.9.9 server=192.0.2.9 tunnel=000009
check "the agent is killed" host_down KILL
write_tunnels 9001
: >$log
check "tunnels change meanwhile" reload "the policy of .* is in use"
check "connections go on meanwhile" office talk
check "the agent starts again" host_up again
check "the table equals the file again" soon in_table 2
check "with the tunnel of the machine" soon leads_to 9001
check "connections go on" office talk
refuse "a tunnel is not ended by hand" "a tunnel ends when its file lacks it" \
	$flow end vxlan $machine:5001 $center:9001
: >$log
write_policy reject
check "another policy is taken" reload "the policy of .* is in use"
check "packets for a machine without a tunnel are refused" office unreachable 172.16.9.9 80

check "dart-flows ends" host_down TERM dart-flows
remove_hosts
check "the agent stops" host_down
rm -f /run/flows.journal* $policy $tunnels
finish
