#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart-flows, as a firewall and as a NAT, and the connection tracking of the kernel judge the same
# packets alike, except for the differences that lib/firewall_trace.py and lib/nat_trace.py name.
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

# add_side NAME NETWORK MAC NUMBER...: an interface of the router, which has the address 1 of the
# network; all of these addresses are at the other end
add_side() {
	add_pair "$1" "$1.host"
	ip link set "$1" netns router
	ip netns exec router sh -c "
		ip link set $1 up
		ip address add $2.1/24 dev $1
		echo 0 >/proc/sys/net/ipv4/conf/$1/send_redirects"
	for number in "${@:4}"; do
		ip netns exec router ip neighbour replace "$2.$number" lladdr "$3" dev "$1"
	done
}

# start_both LOOSE LINE...: dart-flows and a router, whose rules are on standard input; the policy
# has these lines.  LOOSE: 1 if connections of TCP may begin without a SYN.
start_both() {
	add_pair flows0 flows1
	ip netns add router
	add_side inside 10.0.0 02:00:00:00:00:0a 2 3
	add_side outside 198.51.100 02:00:00:00:00:0b 2 3 9
	ip netns exec router sh -c "
		ip link set lo up
		echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 0 >/proc/sys/net/ipv4/conf/all/send_redirects
		nft -f -
		echo $1 >/proc/sys/net/netfilter/nf_conntrack_tcp_loose"
	printf '%s\n' 'interface: flows0' 'flows: 2000' 'journal: /run/flows.journal' 'routes:' \
		' - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}' \
		' - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}' "${@:2}" >$policy
	until_ready $log dart-flows --policy $policy --control /run/dart-flows.sock
}

# compare PROGRAM: of both
compare() {
	"$tests/lib/$1" flows1 inside.host outside.host \
		"$(ip netns exec router cat /sys/class/net/inside/address)" \
		"$(ip netns exec router cat /sys/class/net/outside/address)"
}

remove_both() {
	ip netns del router
	ip link del flows0
	rm -f /run/flows.journal* $policy
}

check "dart-flows starts as a firewall" start_both 0 'function: firewall' 'table: firewall' \
	'zones: [{name: inside, addresses: [10.0.0.0/8]}]' 'rules: [{from: inside}]' <<'END'
table ip firewall {
	chain forward {
		type filter hook forward priority 0; policy drop;
		ct state established,related accept
		ct state invalid drop
		iifname inside ct state new accept
	}
}
END
check "as a firewall it judges packets as conntrack does, but for known differences" \
	compare firewall_trace.py
check "dart-flows ends" host_down TERM dart-flows
remove_both

check "dart-flows starts as a NAT" start_both 1 'table: nat' 'inside: [10.0.0.0/8]' \
	'pools: [{addresses: 203.0.113.1}]' <<'END'
table ip nat {
	chain postrouting {
		type nat hook postrouting priority srcnat;
		oifname outside snat to 203.0.113.1
	}
	chain forward {
		type filter hook forward priority 0; policy drop;
		ct state established,related accept
		ct state invalid drop
		iifname inside ct state new accept
	}
	chain input {
		type filter hook input priority 0; policy drop;
	}
}
END
ip netns exec router ip address add 203.0.113.1/32 dev lo
check "as a NAT it judges packets as conntrack does, but for known differences" compare nat_trace.py
check "dart-flows ends" host_down TERM dart-flows
remove_both
finish
