# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for tests of dart-flows: hosts, which are network namespaces at the port flows1, and
# whose frames all go to flows0, the interface of dart-flows.
declare -A asked answered
flows_hosts=()

add_ports() {
	ip link add flows0 type veth peer name flows1
	for interface in flows0 flows1; do
		echo 1 >/proc/sys/net/ipv6/conf/$interface/disable_ipv6
		ip link set $interface up
	done
}

# add_host NAME ADDRESS GATEWAY MAC [ADDRESS GATEWAY]: a host, with an address of IPv6, too, which
# carries out the commands of tell
add_host() {
	ip netns add "$1"
	ip link add "$1" link flows1 address "$4" type macvlan mode vepa
	ip link set "$1" netns "$1"
	ip netns exec "$1" sh -c "
		echo 1 >/proc/sys/net/ipv6/conf/$1/disable_ipv6
		ip link set lo up
		ip link set $1 up gso_max_segs 1
		ip address add $2/24 dev $1
		ip neighbour replace $3 lladdr 02:00:00:00:00:01 dev $1
		ip route add default via $3"
	[ $# = 4 ] || ip netns exec "$1" sh -c "
		echo 0 >/proc/sys/net/ipv6/conf/$1/disable_ipv6
		ip address add $5/64 dev $1 nodad
		ip neighbour replace $6 lladdr 02:00:00:00:00:01 dev $1
		ip route add default via $6"
	start_host "$1"
}

# start_host NAME: the host, a network namespace, carries out the commands of tell
start_host() {
	rm -f "/run/$1.asked" "/run/$1.answered"
	mkfifo "/run/$1.asked" "/run/$1.answered"
	# shellcheck disable=SC2154 # tests is of lib.sh
	ip netns exec "$1" "$tests/lib/flows_host.py" <"/run/$1.asked" >"/run/$1.answered" &
	flows_hosts+=("$1 $!")
	exec {to}>"/run/$1.asked" {from}<"/run/$1.answered"
	asked[$1]=$to
	answered[$1]=$from
}

# add_vlan NAME ID ADDRESS GATEWAY RANGE: the host reaches the range over a VLAN with this address
add_vlan() {
	ip netns exec "$1" sh -c "
		ip link add link $1 name vlan type vlan id $2
		echo 1 >/proc/sys/net/ipv6/conf/vlan/disable_ipv6
		ip link set vlan up
		ip address add $3/24 dev vlan
		ip neighbour replace $4 lladdr 02:00:00:00:00:01 dev vlan
		ip route add $5 via $4 dev vlan"
}

# tell NAME COMMAND...: the host does this, see flows_host.py
tell() {
	echo "${*:2}" >&"${asked[$1]}"
	read -r answer <&"${answered[$1]}"
	[ "$answer" = ok ] || { echo "$answer"; return 1; }
}

# remove_hosts: and the ports
remove_hosts() {
	for host in "${flows_hosts[@]}"; do
		name=${host% *}
		to=${asked[$name]} from=${answered[$name]}
		exec {to}>&- {from}<&-
		end_processes "${host#* }"
		ip netns del "$name"
		rm -f "/run/$name.asked" "/run/$name.answered"
	done
	ip link del flows0
}
