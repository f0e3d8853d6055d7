#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart-flows of one machine, here a network namespace, enters flows in the table of the dartd of
# another one over TLS, if dartd names it for this, over restarts of both and while it is cut off.
# shellcheck disable=SC2086 # words of $flow, and paths without blanks
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/flows_table.sh"

log=/run/dart-flows.log
agent_log=/run/dartd.log
packets=$tests/lib/nat_packets.py
known=/run/known.json
policy=/run/flows.yaml
control=/run/dart-flows.sock
flow="dartctl --socket $control -j flow"
file=/run/dart.yaml
tls=/run/tls
server=10.78.0.1
deadline=10	# s, of dart-flows

rm -f /run/flows.journal* $known
mkdir -p $tls

# configure TCP...: dartd's settings of TCP, in addition to its certificate
configure() {
	printf '%s\n' "allow: {callers: [10.78.0.0/24]}" \
		"tcp: {certificate: $tls/agent.example.pem, key: $tls/agent.example.key," \
		"  authorities: $tls/authority.pem, listen: [$server], $*}" >$file
}

# reload TCP...: makes dartd take over these settings
reload() {
	local line="the configuration was reloaded" before
	before=$(grep -c "$line" $agent_log)
	configure "$@"
	kill -HUP "$(pidof dartd)"
	soon logged $((before + 1)) "$line" $agent_log
}

# logged COUNT WORDS FILE: the file has COUNT lines with these words, or more
logged() {
	[ "$(grep -c "$2" "$3")" -ge "$1" ]
}

# start NAME: dart-flows in its namespace, with the certificate for NAME; no flow ends because a
# busy machine leaves it idle
start() {
	printf '%s\n' 'interface: flows0' 'table: nat' 'journal: /run/flows.journal' \
		'inside: [10.0.0.0/8]' 'flows: 20000' \
		'timeouts: {udp: 60min, icmp: 60min, transitory: 60min}' \
		'pools: [{addresses: 203.0.113.0/30, ports: 2000-65000}]' \
		'routes:' ' - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}' \
		' - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}' \
		"server: {address: $server, name: agent.example, authorities: $tls/authority.pem," \
		"  certificate: $tls/$1.pem, key: $tls/$1.key}" >$policy
	ip netns exec switch until_ready $log dart-flows --policy $policy --control $control
}

# counts FILTER: for the values of the entry dartd
counts() {
	dartctl -j show dartd | gojq -c '.values.rows[0]' >/run/values
	is_true "$1" /run/values
}

# finds CHECK RESULT: of the doctor
finds() {
	ip netns exec switch dart-flows --policy $policy --control $control --json doctor \
		>/run/findings
	gojq -c '.[]' /run/findings
	is_true --arg check "$1" --arg result "$2" \
		'[.[] | select(.check == $check)] | .[-1].result == $result' /run/findings
}

tls_files $tls agent.example flows.example reader.example
ip netns add switch
ip link add up0 type veth peer name up1 netns switch
ip address add $server/24 dev up0
ip link set up0 up
ip -n switch address add 10.78.0.2/24 dev up1
ip -n switch link set up1 up
ip link add flows1 type veth peer name flows0 netns switch
for namespace in "" "ip netns exec switch"; do
	interface=flows$([ "$namespace" ] && echo 0 || echo 1)
	$namespace sh -c "echo 1 >/proc/sys/net/ipv6/conf/$interface/disable_ipv6
		ip link set $interface up"
done

# ---- callers that may not change tables

configure 'subjects: [flows.example, reader.example]'
check "the agent starts" host_up --config=$file
check "a table is created" dartctl table create nat --entries 40000
check "dart-flows starts" start flows.example
check "dartd refuses its table to it, and both say so" soon grep -q \
	"dartd at $server: .*'flows.example' is not in tcp: tables.*handled here" $log
check "the log of dartd names the caller" soon grep -q \
	"a caller is refused: 'flows.example' is not in tcp: tables" $agent_log
check "the refusal is counted" soon counts '.tcp_refused_changes >= 1 and .rpc_refused_changes == 0'
check "packets are translated all the same" $packets $known flows1 udp 16 answers
check "the table is empty" in_table 0
check "the doctor names the setting" finds table fail
check "its advice, too" grep -q "tcp: tables" /run/findings

# ---- a caller that may

check "dartd is told that it may" reload 'subjects: [reader.example], tables: [flows.example]'
check "the flows that began before are in the table" soon entered 16
check "first packets of 300 flows of UDP come back translated, and so do answers" \
	$packets $known flows1 udp 300 answers
check "first packets of 200 flows of TCP do, too" $packets $known flows1 tcp 200 answers
check "both directions of each are in the table" soon entered 500
check "the table contains the entries of the flows" agrees
check "the state names the server" shows '.table.server == "10.78.0.1" and .table.full == 0'
check "the doctor finds nothing wrong" finds table ok
check "it warns of the certificate of the test, which expires soon" finds certificate warn

# ---- restarts

check "dart-flows is killed" host_down KILL dart-flows
dartctl table remove nat src=198.51.100.1 dst="$(gojq -r '."udp 10.0.0.1:4000"[0]' $known)" \
	sport=53 dport="$(gojq -r '."udp 10.0.0.1:4000"[1]' $known)" proto=udp >/dev/null
dartctl table insert nat src=10.9.9.9 dst=198.51.100.1 sport=9 dport=9 proto=udp \
	address=203.0.113.1 port=9 rewrite=source >/dev/null
check "it starts again" start flows.example
check "dart-flows enters the entry that was removed, and removes the entry that it did not make" \
	soon shows '.flows.entered == 500 and .table.stray == 1 and .table.waiting == 0'
check "the table contains the flows of the journal, and nothing else" soon agrees
check "all flows have their ports" $packets $known flows1 udp 300 answers
check "the agent is killed" host_down KILL
check "new flows are translated meanwhile" $packets $known flows1 udp 330 answers
check "the agent starts again" host_up again --config=$file
[ "$(dartctl -j table list | gojq length)" = 1 ] || dartctl table create nat --entries 40000
check "all flows are in the table again" soon agrees
check "the table is deleted" dartctl table delete nat
check "another one is created" dartctl table create nat --entries 10000
check "new flows are translated meanwhile, too" $packets $known flows1 udp 340 answers
check "all flows are in the new table" soon agrees

# ---- cut off

ip link set up0 down
check "new flows are translated without the other machine" \
	$packets $known flows1 udp 350 answers
check "dart-flows notices that no answer comes" soon grep -q \
	"no answer within $deadline s" $log
ip link set up0 up
check "all flows are in the table once it is there again" soon agrees

# ---- a caller that may no longer

refused=$(dartctl -j show dartd | gojq '.values.rows[0].tcp_refused_changes')
check "dartd is told that dart-flows may no longer change tables" \
	reload 'subjects: [reader.example, flows.example]'
check "a new flow is translated" $packets $known flows1 udp 360 answers
check "its entries are refused" soon counts ".tcp_refused_changes > $refused"
check "the flows that it knew stay in the table" in_table $((2 * 550))
check "all flows have their ports in the end" $packets $known flows1 tcp 200 answers
check "dart-flows ends" host_down TERM dart-flows
check "the agent stops" host_down
ip netns del switch
ip link del up0 2>/dev/null
rm -f /run/flows.journal* $policy $known $file
finish
