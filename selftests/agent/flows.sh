#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart-flows translates the first packets of flows, enters both directions in the table of dartd,
# and keeps all ports over restarts of itself and of dartd, and over being killed.
# shellcheck disable=SC2086 # words of $flow, and paths without blanks
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/flows_table.sh"

log=/run/dart-flows.log
packets=$tests/lib/nat_packets.py
known=/run/known.json
policy=/run/flows.yaml
control=/run/dart-flows.sock
flow="dartctl --socket $control -j flow"

rm -f /run/flows.journal* $known

# write_policy [LINE...]: the policy, with further lines before the last one; no flow ends because
# a busy machine leaves it idle
write_policy() {
	printf '%s\n' 'interface: flows0' 'table: nat' 'journal: /run/flows.journal' \
		'inside: [10.0.0.0/8]' 'flows: 20000' \
		'pools: [{addresses: 203.0.113.0/30, ports: 2000-65000}]' \
		'routes:' ' - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}' \
		' - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b, mtu: 1000}' "$@" \
		'timeouts: {udp: 60min, icmp: 60min, transitory: 60min}' >$policy
}

start() {
	until_ready $log dart-flows --policy $policy --control $control
}

ip link add flows0 type veth peer name flows1
for interface in flows0 flows1; do
	echo 1 >/proc/sys/net/ipv6/conf/$interface/disable_ipv6
	ip link set $interface up
done

# ---- before dartd

write_policy 'inside: []'
refuse "a policy with a key twice is refused with its line" "flows.yaml:10: " \
	dart-flows --check --policy $policy
write_policy
check "a policy is checked" dart-flows --check --policy $policy
check "dart-flows starts without dartd" start
check "packets are translated without dartd" $packets $known flows1 udp 16 answers
check "the state says that the table is not there" shows '.table.there | not'

# ---- with the table

check "the agent starts" host_up
check "a table is created" dartctl table create nat --entries 20000
check "the flows that began before are in the table" soon entered 16
check "first packets of 300 flows of UDP come back translated, and so do answers" \
	$packets $known flows1 udp 300 answers
check "both directions of each are in the table" soon entered 300
check "the table contains the entries of the flows" agrees
check "first packets of 200 flows of TCP come back translated, and so do answers" \
	$packets $known flows1 tcp 200 answers
check "they are in the table, too" soon entered 500
check "ICMP echoes come back translated, and so do replies" \
	$packets $known flows1 icmp 80 answers
check "the flows of ICMP are kept out of the table" shows '.flows.kept == 80'
for protocol in udp tcp icmp; do
	check "ICMP errors about $protocol come translated, with the packet that they quote" \
		$packets $known flows1 $protocol 80 errors
done
check "packets that may pass no router are answered" $packets $known flows1 udp 8 expired
check "expired echoes, as traceroute sends them, are answered, too" \
	$packets $known flows1 icmp 8 expired
check "the answers are counted" shows '.packets.expired == 16 and .packets.exceeded == 16'
check "packets that are too long for their route are answered with its MTU" \
	$packets $known flows1 udp 8 oversized
check "they are counted, and so are packets that may be fragmented" \
	shows '.packets.oversized == 16 and .packets.mtu_told == 8 and .packets.unsent == 0'
check "fragments follow their first one, which they overtook" \
	$packets $known flows1 udp 100 fragments
check "they are counted" shows '.packets.followed == 200 and .packets.fragments == 0'
check "two hosts inside talk by their ports outside" $packets $known flows1 udp 8 hairpin
check "the journal lists all flows" [ "$(stat -c %s /run/flows.journal)" -gt $((32 * 580)) ]

check "the doctor finds nothing wrong" sh -c \
	"dart-flows --policy $policy --control $control --json doctor >/run/findings"
check "it looks at all" is_true '[.[].check] ==
	["policy", "capability", "queue", "interface", "dartd", "table", "daemon"]' /run/findings

# ---- restarts

check "dart-flows ends at SIGTERM" host_down TERM dart-flows
check "it starts again" start
check "it knows all flows" soon entered 500
check "all flows have their ports" $packets $known flows1 udp 300 answers
check "flows of TCP have their ports, too" $packets $known flows1 tcp 200
check "dart-flows is killed" host_down KILL dart-flows
dartctl table remove nat src=198.51.100.1 dst="$(gojq -r '."udp 10.0.0.1:4000"[0]' $known)" \
	sport=53 dport="$(gojq -r '."udp 10.0.0.1:4000"[1]' $known)" proto=udp >/dev/null
dartctl table insert nat src=10.9.9.9 dst=198.51.100.1 sport=9 dport=9 proto=udp \
	address=203.0.113.1 port=9 rewrite=source >/dev/null
dartctl table insert nat src=10.9.9.9 dst=198.51.100.1 sport=9 dport=9 proto=tcp \
	address=192.0.2.1 port=9 rewrite=source >/dev/null
check "it starts again" start
check "an entry that is missing is entered, and one that nobody knows is removed" \
	soon shows '.flows.entered == 500 and .table.stray == 1 and .table.waiting == 0'
check "an entry with an address of no pool is left alone" dartctl table remove nat \
	src=10.9.9.9 dst=198.51.100.1 sport=9 dport=9 proto=tcp
check "all other entries belong to flows" agrees
for round in $(seq "${DART_KILLS:-1}"); do
	$packets $known flows1 tcp $((500 + 500 * round)) >/run/sent 2>&1 &
	sender=$!
	soon shows ".flows.now > $((600 + 300 * round))" && host_down KILL dart-flows
	end_processes $sender
	check "dart-flows starts after it was killed among new flows ($round)" start
	check "no flow has another port than before" \
		$packets $known flows1 tcp $((200 + 300 * round)) answers
	check "the table contains the flows of the journal, and nothing else" soon agrees
done

# ---- dartd away and back

check "the agent is killed" host_down KILL
check "new flows are translated meanwhile" $packets $known flows1 udp 330 answers
check "the agent starts again, with an empty table" host_up again
check "all flows are in the table again" soon agrees
check "all flows have their ports" $packets $known flows1 udp 330 answers

# ---- one flow, and other policies

inside=10.0.0.1:4000 remote=198.51.100.1:53
check "a flow is shown" is_true '.state == "entered" and .static == false' \
	<($flow show udp $inside $remote)
check "a flow is ended" $flow end udp $inside $remote
refuse "a flow that does not exist is not shown" "no such flow" $flow show udp $inside 192.0.2.9:9
check "its entries are removed" soon sh -c \
	"! dartctl table lookup nat src=10.0.0.1 dst=198.51.100.1 sport=4000 dport=53 proto=udp"
check "the hosts with the most flows are listed" is_true '.[0].flows >= 8 and (. | length) == 20' \
	<($flow top)
write_policy 'static: [{protocol: tcp, inside: 10.0.0.9:80, outside: 203.0.113.1:80}]' \
	'filtering: open'
pkill -HUP -x dart-flows
check "a policy that is wrong changes nothing" soon grep -q \
	"flows.yaml:11: 'open' is neither .*: the policy stays as it was" $log
write_policy 'static: [{protocol: tcp, inside: 10.0.0.9:80, outside: 203.0.113.1:80}]'
pkill -HUP -x dart-flows
check "another policy is taken" soon grep -q "the policy of .* is in use" $log
check "its other flows stay" $packets $known flows1 udp 300 answers

# ---- other pools

sed -i 's,203.0.113.0/30,203.0.113.4/30,; s,203.0.113.1:80,203.0.113.5:80,' $policy
pkill -HUP -x dart-flows
check "flows end that a policy has no place for" soon in_table 0
check "no flow is left" soon shows '.flows.now == 0'

check "dart-flows ends" host_down TERM dart-flows
check "the control socket is gone" [ ! -e $control ]
ip link del flows0
check "the agent stops" host_down
rm -f /run/flows.journal* /run/findings
finish
