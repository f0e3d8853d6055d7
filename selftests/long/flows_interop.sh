#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# iperf3, SSH, HTTP and DNS through NAT, firewall and load balancer of dart-flows in series, for
# FLOWS_INTEROP_SECONDS; meanwhile one server of two drains, and the other one is killed. Datagrams of
# DNS are counted at each interface, so one that is lost is found, and so is the count of its loss.
# nmap finds nothing behind the firewall.
# shellcheck disable=SC2086,SC2034 # log is lib.sh's, paths without blanks, words of $ssh
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/flows_hosts.sh"

seconds=${FLOWS_INTEROP_SECONDS-60}
service=192.0.2.10
files=/run/interop
log=$files/balancer.log
PATH=$PATH:/usr/sbin
for program in iperf3 nmap nft sshd dig; do
	command -v $program >/dev/null || skip \
		"$program is not installed (make packages sections=interop)"
done
ssh="ssh -i $files/key -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
ssh+=" -o LogLevel=ERROR root@$service"
rm -rf $files
mkdir -p $files /run/sshd

# ---- the network: functions and hosts at a bridge, which knows where each address is

# at_bridge NAME MAC: the interface NAME has this address, and NAME.p is a port of the bridge
at_bridge() {
	ip link set "$1.p" master net
	bridge link set dev "$1.p" learning off flood off mcast_flood off
	bridge fdb replace "$2" dev "$1.p" master static
	ip link set "$1.p" up
}

# add_function NAME MAC: the interface of a function
add_function() {
	ip link add "$1" address "$2" type veth peer name "$1.p"
	for interface in "$1" "$1.p"; do
		echo 1 >/proc/sys/net/ipv6/conf/$interface/disable_ipv6
	done
	at_bridge "$1" "$2"
	ip link set "$1" up
	"$tests/lib/offload_off.py" gro "$1"
}

# add_end NAME MAC ADDRESS GATEWAY MAC: a host, and the function that is its gateway
add_end() {
	ip netns add "$1"
	ip link add "$1.p" type veth peer name "$1" address "$2" netns "$1"
	at_bridge "$1" "$2"
	ip netns exec "$1" sh -c "
		echo 1 >/proc/sys/net/ipv6/conf/$1/disable_ipv6
		ip link set lo up
		ip link set $1 up gso_max_segs 1
		ip address add $3 dev $1
		ip neighbour replace $4 lladdr $5 dev $1
		ip route add default via $4"
	start_host "$1"
}

# echo_servers FILTER: of the list of the two
echo_servers() {
	dartctl --socket $files/balancer.sock -j flow servers |
		gojq "map(select(.service == \"$service:7\"))" >$files/shown && is_true "$1" $files/shown
}

# start NAME: the function of this name
start() {
	until_ready $files/$1.log dart-flows --policy $files/$1.yaml --control $files/$1.sock
}

# shows NAME FILTER: of the state of a function
shows() {
	dartctl --socket $files/$1.sock -j flow show >$files/shown && is_true "$2" $files/shown
}

# reload [WORDS]: the balancer takes another policy, with these words about the first server
reload() {
	write_balancer "${1-}"
	taken=$(grep -c "is in use" $files/balancer.log)
	kill -HUP "$(cat $files/balancer.pid)"
	soon sh -c "[ \$(grep -c 'is in use' $files/balancer.log) -gt $taken ]"
}

# in_server COMMAND...: a server, until the end
in_server() {
	ip netns exec server "$@" >>$files/servers.log 2>&1 &
	servers+=($!)
}

# repeat NAME COMMAND...: the client does this until the end; counts successes and failures
repeat() {
	local name=$1 good=0 bad=0
	shift
	while [ $SECONDS -lt $end ]; do
		if ip netns exec client sh -c "$*" >>$files/$name.log 2>&1; then
			good=$((good + 1))
		else
			bad=$((bad + 1))
		fi
		echo "$good $bad" >$files/$name.count
	done
}

# all_good NAME: it succeeded, and never failed
all_good() {
	read -r good bad <$files/$1.count
	echo "$1: $good succeeded, $bad failed"
	tail -5 $files/$1.log
	[ "$good" -ge 1 ] && [ "$bad" = 0 ]
}

# count_dns COMMAND...: makes counters in this network, of datagrams of DNS at the interfaces that
# standard input names
count_dns() {
	while read -r device; do
		for way in in:ingress out:egress; do
			echo "table netdev dns {
				counter ${device}_${way%:*} { }
				chain ${device}_${way%:*} {
					type filter hook ${way#*:} device $device priority 0; policy accept;
					meta l4proto udp th dport 53 counter name ${device}_${way%:*}
					meta l4proto udp th sport 53 counter name ${device}_${way%:*}
				}
			}"
		done
	done | "$@" nft -f -
}

# add_counters: at all interfaces that a datagram of DNS passes
add_counters() {
	printf '%s\n' flows0 flows1 flows2 | count_dns &&
		echo client | count_dns ip netns exec client &&
		echo server | count_dns ip netns exec server
}

# counted DEVICE WAY: datagrams of DNS, in or out
counted() {
	case $1 in
	flows*) set -- "$1_$2" ;;
	*) set -- "$1_$2" ip netns exec "$1" ;;
	esac
	"${@:2}" nft -j list counter netdev dns "$1" |
		gojq '.nftables[] | select(.counter).counter.packets'
}

# losses NAME: packets that this function counts, and that did not go on
losses() {
	shows $1 '.packets | with_entries(select(.value > 0 and (.key |
		IN("received", "translated", "passed", "related", "tagged", "for_many", "answered",
			"exceeded", "mtu_told", "neighbours_told", "followed") | not)))'
}

# accounted: datagrams of DNS go into functions and hosts as often as they come out, or the function
# counts as many losses
accounted() {
	local pair device lost named sent taken between wrong=0
	for pair in nat:flows0 firewall:flows1 balancer:flows2; do
		device=${pair#*:}
		lost=$(($(counted $device in) - $(counted $device out)))
		named=$(losses ${pair%:*})
		echo "# ${pair%:*}: $lost datagrams of DNS lost; all losses: $(echo "$named" | tr -d ' \n')"
		[ $lost -le "$(echo "$named" | gojq 'add // 0')" ] || wrong=1
	done
	sent=$(($(counted client out) + $(counted server out)))
	taken=$(($(counted client in) + $(counted server in)))
	between=$(($(counted flows0 in) + $(counted flows1 in) + $(counted flows2 in) + taken - sent -
		$(counted flows0 out) - $(counted flows1 out) - $(counted flows2 out)))
	echo "# DNS: $sent datagrams sent, $taken taken, $((-between)) lost between interfaces"
	[ $between = 0 ] && [ $wrong = 0 ]
}

nat=02:00:00:00:00:01 firewall=02:00:00:00:00:02 balancer=02:00:00:00:00:03
client=02:00:00:00:01:01 server=02:00:00:00:01:02 other=02:00:00:00:01:03
scanner=02:00:00:00:01:04
ip link add net type bridge
echo 1 >/proc/sys/net/ipv6/conf/net/disable_ipv6
ip address add 10.1.255.254/16 dev net	# of the checks
ip link set net up
add_function flows0 $nat
add_function flows1 $firewall
add_function flows2 $balancer
add_end client $client 10.0.0.2/16 10.0.0.1 $nat
add_end server $server 10.1.0.1/16 10.1.255.1 $balancer
add_end other $other 10.1.0.2/16 10.1.255.1 $balancer
add_end scanner $scanner 198.51.100.9/24 198.51.100.1 $firewall

# common FUNCTION INTERFACE [LIMITS]: all flows are of one host, which has no fewer than there can be
common() {
	printf '%s\n' "function: $1" "interface: $2" "table: $1" "journal: $files/$1.journal" \
		'flows: 8000' 'rate: 1000000' "limits: {flows: 8000${3-}}" 'routes:'
}

{
	common nat flows0 ', ports: 8000'
	printf '%s\n' " - {prefix: 10.0.0.0/16, mac: $client}" " - {prefix: 0.0.0.0/0, mac: $firewall}" \
		'inside: [10.0.0.0/16]' 'pools: [{addresses: 203.0.113.0/30}]'
} >$files/nat.yaml
{
	common firewall flows1
	printf '%s\n' " - {prefix: 203.0.113.0/24, mac: $nat}" \
		" - {prefix: 198.51.100.0/24, mac: $scanner}" \
		" - {prefix: 0.0.0.0/0, mac: $balancer}" 'zones:' \
		' - {name: clients, addresses: [203.0.113.0/24]}' \
		' - {name: servers, addresses: [192.0.2.0/24]}' 'rules:' \
		' - {from: clients, to: servers, protocol: tcp, ports: [7, 22, 80, 5201]}' \
		' - {from: clients, to: servers, protocol: udp, ports: [53, 5201]}'
} >$files/firewall.yaml

write_balancer() {
	{
		common balancer flows2
		printf '%s\n' " - {prefix: 10.1.0.1, mac: $server}" " - {prefix: 10.1.0.2, mac: $other}" \
			" - {prefix: 0.0.0.0/0, mac: $firewall}" 'refusal: reject' 'services:' \
			" - address: $service:7" '   protocol: tcp' '   when_down: end' \
			'   check: {interval: 1s, timeout: 1s, rise: 2, fall: 2}' '   servers:' \
			"    - {address: 10.1.0.1:7${1-}}" '    - {address: 10.1.0.2:7}'
		for port in 22 80 5201; do
			echo " - {address: $service:$port, protocol: tcp, servers: [{address: 10.1.0.1:$port}]}"
		done
		for port in 53 5201; do
			echo " - {address: $service:$port, protocol: udp, servers: [{address: 10.1.0.1:$port}]}"
		done
	} >$files/balancer.yaml
}

# ---- servers

head -c 200000 /dev/urandom >$files/page
ssh-keygen -q -t ed25519 -N '' -f $files/key
ssh-keygen -q -t ed25519 -N '' -f $files/host
in_server "$(command -v sshd)" -D -f /dev/null -h $files/host -o AuthorizedKeysFile=$files/key.pub -o UsePAM=no \
	-o StrictModes=no -o PermitRootLogin=yes -o PidFile=none
in_server iperf3 -s
in_server python3 -m http.server --bind 10.1.0.1 --directory $files 80
in_server dnsmasq --no-daemon --conf-file=/dev/null --no-resolv --no-hosts --bind-interfaces \
	--listen-address=10.1.0.1 --address=/host.example/192.0.2.77
tell server listen 7
tell other listen 7

write_balancer
check "the agent starts" host_up
for table in nat balancer; do
	check "a table for the $table is created" dartctl table create $table --schema nat --entries 16000
done
check "a table for the firewall is created" dartctl table create firewall --entries 16000
for function in nat firewall balancer; do
	check "the $function starts" start $function
done
pgrep -f "^dart-flows --policy $files/balancer.yaml" >$files/balancer.pid
check "both servers of the echo are up" soon echo_servers '[.[].state] == ["up", "up"]'
check "servers answer through all three" soon ip netns exec client \
	curl -sf -m 5 -o /dev/null http://$service/page

check "datagrams of DNS are counted" add_counters

# ---- under load

end=$((SECONDS + seconds))
ip netns exec client iperf3 -c $service -t "$seconds" -b 8M --json >$files/iperf.json 2>&1 &
loads=($!)
repeat http "curl -sf -m 60 http://$service/page | cmp - $files/page" &
loads+=($!)
repeat dns "dig +short +tries=1 +time=10 @$service host.example | grep -qx 192.0.2.77" &
loads+=($!)
repeat ssh "$ssh 'cat $files/page' | cmp - $files/page" &
loads+=($!)
check "connections to both servers are kept" tell client open 40 $service 7
check "the first server drains" reload ', drain: true'
check "its connections go on" tell client talk
check "it had some" echo_servers '.[0].flows >= 4 and .[1].flows >= 4'
drained=$(gojq '.[0].flows' $files/shown)
check "other connections work" tell client open 10 $service 7
check "none of them is of the server that drains" echo_servers \
	".[0].state == \"draining\" and .[0].flows == $drained"
broken=$((50 - drained))
ip netns exec other ip link set other down
check "the second server is killed, and down" soon logged 1 \
	"the server 10.1.0.2:7 of .* is down"
check "its connections are counted as broken" soon shows balancer ".flows.broken == $broken"
check "these and no others are broken" tell client broken $broken
check "connections of the server that drains go on" tell client talk
wait "${loads[@]}"
check "iperf3 sent over TCP" is_true '.error == null and .end.sum_received.bytes > 100000' \
	$files/iperf.json
gojq -r '.end.sum_received | "# TCP: \(.bytes) bytes, \(.bits_per_second | floor) bits a second"' \
	$files/iperf.json
check "iperf3 sends over UDP" sh -c "ip netns exec client iperf3 -c $service -u -b 1M -t 5 --json \
	>$files/iperf_udp.json && gojq -e '.end.sum.packets > 0 and .end.sum.lost_percent < 20' \
	$files/iperf_udp.json"
check "each datagram of DNS that was lost is counted by a name" accounted
grep ^# "$output"
for load in http dns ssh; do
	check "each request of $load got its answer" all_good $load
	echo "# $load: $(cat $files/$load.count) (succeeded, failed)"
done

# ---- a scan

for kind in A F X; do
	ip netns exec scanner nmap -n -Pn -s$kind -p 1-200 --max-retries 1 -oG $files/nmap.$kind \
		$service >>$files/nmap.log 2>&1
	check "nmap -s$kind finds no port that is open, closed or unfiltered" sh -c \
		"cd $files && grep -q 'Status: Up' nmap.$kind &&
		! grep -q -E '/(open|closed|unfiltered)/' nmap.$kind"
done
check "no probe is a flow" sh -c "dartctl --socket $files/firewall.sock -j flow list |
	gojq -e '[.[] | select(.inside | startswith(\"198.51.100.9\"))] == []'"
check "all are counted" shows firewall ".packets.unknown + .packets.invalid >= 600"

check "the functions end" host_down TERM dart-flows
end_processes "${servers[@]}"
remove_hosts
ip link del flows1
ip link del flows2
ip link del net
check "the agent stops" host_down
rm -rf $files
finish
