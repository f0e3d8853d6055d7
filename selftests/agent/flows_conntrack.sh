#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart-flows as a firewall and the connection tracking of the kernel judge the same packets alike,
# except for the differences that lib/firewall_trace.py names.
# shellcheck disable=SC2086 # paths without blanks
. "$(dirname "$0")/../lib.sh"

log=/run/dart-flows.log
policy=/run/flows.yaml
rm -f /run/flows.journal*
command -v nft >/dev/null || skip "nft is not installed (Debian package nftables)"

# add_pair NAME OTHER: two ends of a wire
add_pair() {
	ip link add "$1" type veth peer name "$2"
	for interface in "$1" "$2"; do
		echo 1 >/proc/sys/net/ipv6/conf/$interface/disable_ipv6
		ip link set $interface up
	done
}

# add_side NAME ADDRESS NEIGHBOUR MAC: an interface of the router
add_side() {
	add_pair "$1" "$1.host"
	ip link set "$1" netns router
	ip netns exec router sh -c "
		ip link set $1 up
		ip address add $2/24 dev $1
		ip neighbour replace $3 lladdr $4 dev $1"
}

add_pair flows0 flows1
ip netns add router
add_side inside 10.0.0.1 10.0.0.2 02:00:00:00:00:0a
add_side outside 198.51.100.1 198.51.100.2 02:00:00:00:00:0b
ip netns exec router sh -c '
	echo 1 >/proc/sys/net/ipv4/ip_forward
	nft -f -
	echo 0 >/proc/sys/net/netfilter/nf_conntrack_tcp_loose' <<'END'
table ip firewall {
	chain forward {
		type filter hook forward priority 0; policy drop;
		ct state established,related accept
		ct state invalid drop
		iifname inside ct state new accept
	}
}
END
printf '%s\n' 'function: firewall' 'interface: flows0' 'table: firewall' 'flows: 2000' \
	'journal: /run/flows.journal' 'zones: [{name: inside, addresses: [10.0.0.0/8]}]' \
	'rules: [{from: inside}]' \
	'routes:' ' - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}' \
	' - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}' >$policy

check "dart-flows starts" until_ready $log dart-flows --policy $policy \
	--control /run/dart-flows.sock
check "dart-flows and conntrack judge packets alike, but for known differences" \
	"$tests/lib/firewall_trace.py" flows1 inside.host outside.host \
	"$(ip netns exec router cat /sys/class/net/inside/address)" \
	"$(ip netns exec router cat /sys/class/net/outside/address)"
check "dart-flows ends" host_down TERM dart-flows
ip netns del router
ip link del flows0
rm -f /run/flows.journal* $policy
finish
