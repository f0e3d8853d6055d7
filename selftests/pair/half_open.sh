#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Over RDMA, a peer that opens connections without establishing them keeps no other peer out, and a
# vanished peer does not keep its place.
. "$(dirname "$0")/../lib.sh"

# counts FILTER: holds for the entry about dartd
counts() {
	on host dartctl -j show dartd | gojq -e ".values.rows[0] // .values | $1"
}

# scraped: a controller connects and reads
scraped() {
	timeout 120 dart-controller --json --once host >/dev/null
}

rdma_up
ip address add 10.77.0.66/24 dev eth0
on host sh -c 'printf "sources: [cpustat]\nlimits: {half_open: 16}\n" >/run/dartd.yaml'
check "the agent starts" on host host_up --config=/run/dartd.yaml
check "a peer opens 15 connections that it does not establish" \
	until_ready /run/half_open.log half_open 10.77.0.66 15
for round in 1 2 3; do
	check "round $round: a controller gets in meanwhile" scraped
done
pkill -x half_open
check "a peer opens 63 connections, in more places than there are" sh -c \
	'setsid half_open 10.77.0.66 63 >/run/asked 2>/dev/null &'
for round in 4 5 6; do
	check "round $round: a controller gets in meanwhile" scraped
done
check "the connections that were not established are counted" counts '.unfinished > 15'
# dartd allows an address 50 connections per second, and an emulated or busy machine may not begin as
# many: then there is nothing to reject.
many_rejected() {
	counts '.rejected_limit > 100'
}
is_slow() {
	awk 'END { exit !($6 >= 20 && $3 < 60 * $6) }' /run/asked
}
rejected_or_slow() {
	many_rejected || is_slow
}
if soon rejected_or_slow >/dev/null && ! many_rejected >/dev/null; then
	point ok "an address that connects too often is rejected # SKIP it $(tail -n 1 /run/asked)"
else
	check "an address that connects too often is rejected" many_rejected
fi
check "dartctl is answered meanwhile" timeout 120 on host dartctl -j status
pkill -x half_open
on host sh -c ': >/run/dartd.log'
check "a peer opens 8 connections, and sends nothing more" \
	until_ready /run/half_open.log half_open 10.77.0.66 8
pkill -STOP -x half_open
check "a half-open connection has a time-out" on host sh -c 'log=/run/dartd.log
	until grep -q "did not establish its connection in time" $log; do sleep 0.2; done'
pkill -KILL -x half_open
check "the agent stops" on host host_down

on host sh -c 'printf "sources: [cpustat]\nlimits: {controllers: 2}\n" >/run/dartd.yaml'
check "the agent starts with room for two controllers" on host host_up --config=/run/dartd.yaml
dart-controller --json --interval 60s --config /dev/stdin >/dev/null 2>/run/first.log <<'END' &
agents: [{host: 10.77.0.2}]
END
dart-controller --json --interval 60s host >/dev/null 2>/run/second.log &
check "two controllers are connected" on host sh -c \
	'until dartctl -j status | is_true ".controllers | length == 2"; do sleep 0.1; done'
# The machine vanishes from the network, without a farewell.
nft 'add table inet vanish
	add chain inet vanish out { type filter hook output priority 0; policy accept; }'
nft add rule inet vanish out udp dport 4791 drop
pkill -KILL -x dart-controller
wait
nft flush ruleset
rdma link delete rxe0 && rdma link add rxe0 type rxe netdev eth0
check "a controller that comes again finds the places of vanished peers" sh -c \
	'until timeout 120 dart-controller --json --once host >/dev/null; do sleep 0.5; done'
check "the agent stops again" on host host_down
ip address delete 10.77.0.66/24 dev eth0

check "the agent starts once more" on host host_up
# The first two calls of the RDMA CM are those for the events of this connection.
on host sh -c 'strace -qq -o /run/strace.log -p "$(pidof dartd)" -P /dev/infiniband/rdma_cm \
	-e trace=write -e inject=write:error=ENOMEM:when=1..2 >/dev/null 2>&1 &
	until grep -q "^TracerPid:.*[1-9]" "/proc/$(pidof dartd)/status"; do sleep 0.1; done'
check "a controller is served though events could not be read for lack of memory" scraped
check "the log says that they are read later" on host grep -q \
	"cannot read events of the RDMA CM: Cannot allocate memory (tried again in" /run/dartd.log
on host pkill -x strace
check "the agent stops in the end" on host host_down
finish
