#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# 2,000 connections from one address neither stop the agent nor stay, and an agent that otherwise
# sleeps notices a peer that lost its power.
. "$(dirname "$0")/../lib.sh"

# milliseconds COMMAND...: how long it took, in $elapsed
milliseconds() {
	start=$(date +%s%N)
	"$@"
	status=$?
	elapsed=$((($(date +%s%N) - start) / 1000000))
	return $status
}

# On an emulated machine a reply without peers takes 50 ms.  On a busy machine it may be
# much slower, so limits are counted in such replies as well.

# at_most MS REPLIES: the milliseconds of this many replies, MS at least
at_most() {
	limit=$((idle * $2))
	[ $limit -gt "$1" ] || limit=$1
	echo "# at most $limit ms"
}

# On the host, until the file is removed: the longest time for a reply, in ms.
measure_replies() {
	on host sh -c '
		touch /run/measuring
		slowest=0
		while [ -e /run/measuring ]; do
			start=$(date +%s%N)
			dartctl status >/dev/null || exit 1
			took=$((($(date +%s%N) - start) / 1000000))
			[ $took -lt $slowest ] || slowest=$took
		done
		echo $slowest' >/run/slowest
}

# The time from SIGTERM to the end of dartd on the host, in ms.
stop_agent() {
	on host sh -c '
		start=$(date +%s%N)
		host_down && echo $((($(date +%s%N) - start) / 1000000))' >/run/stopped
}

# has_scraped COUNT: the controller scraped COUNT times
has_scraped() {
	[ "$(wc -l </run/lines)" -ge "$1" ]
}

# Context switches of the agent: one each time that it slept.
switches() {
	on host sh -c 'awk "/^voluntary_ctxt_switches/ { print \$2 }" \
		"/proc/$(pidof dartd)/status"'
}

# No RDMA packet that a machine sends reaches the other machine, which drops them:
# soft-RoCE sends nothing any more after its own machine dropped a packet.
lose_power() {
	for machine in '' 'on host'; do
		$machine tc qdisc add dev eth0 clsact
		$machine tc filter add dev eth0 ingress protocol ip flower \
			ip_proto udp dst_port 4791 action drop
	done
}

get_power_back() {
	for machine in '' 'on host'; do
		$machine tc qdisc del dev eth0 clsact
	done
}

has_no_controller() {
	on host dartctl -j controller list | is_true 'length == 0'
}

# queue_pairs NUMBER: at most NUMBER are left on the host within a minute
queue_pairs() {
	within 60 has_queue_pairs "$1"
}

has_queue_pairs() {
	count=$(on host sh -c 'rdma resource show qp | grep -c "type RC"')
	echo "$count queue pairs"
	[ "$count" -le "$1" ]
}

# within SECONDS COMMAND...: waits until it succeeds
within() {
	deadline=$(($(date +%s) + $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt $deadline ] || return 1
		sleep 0.1
	done
}

# have_ended KINDS: of peers
have_ended() {
	cat /run/peers
	[ "$(wc -l </run/peers)" -ge "$1" ]
}

rdma_up
on host sh -c 'echo "keepalive: 5" >/run/dart.yaml'
check "the agent starts with a keepalive of 5 s" \
	on host host_up --config=/run/dart.yaml
dart-controller --json --interval 1s host >/run/lines 2>/run/controller.log &
controller=$!
check "a controller is served" within 20 has_scraped 1

before=$(switches)
within 60 has_scraped 11
after=$(switches)
check "the keepalive wakes the agent every 5 s only ($((after - before)) times in 10 s)" [ $((after - before)) -le 4 ]

idle=0
for _ in 1 2 3; do
	milliseconds on host dartctl status >/run/status
	[ "$elapsed" -lt $idle ] || idle=$elapsed
done
measure_replies &
replies=$!
peers host 1000 half-open dead >/run/peers &
peers=$!
check "1,000 peers that stay half-open and 1,000 that connect are accepted or rejected" \
	within 300 have_ended 2
check "the agent keeps 64 queue pairs of one address" queue_pairs 64
on host rm /run/measuring
wait $replies
at_most 1000 20
check "dartctl status has answered all the time, within a second or 20 replies of an idle agent ($(
	cat /run/slowest) ms, idle $idle ms)" [ "$(cat /run/slowest)" -lt "$limit" ]
milliseconds queue_pairs 1 >/run/status
check "queue pairs of peers that no longer answer are released within 60 s ($elapsed ms)" \
	queue_pairs 1
check "the log says that they do not answer" \
	on host grep -q "controller .* disconnected: it does not answer" /run/dartd.log
check "a controller that answers is connected all the time" sh -c '
	cat /run/controller.log
	! grep disconnected /run/controller.log &&
	on host dartctl -j controller list | jq -e "length == 1 and .[0].age_s > 8"'

lose_power
milliseconds within 60 has_no_controller >/run/status
check "an agent with a keepalive of 5 s finds a peer without power within 15 s ($elapsed ms)" \
	[ "$elapsed" -lt 15000 ]
get_power_back

kill $peers
peers host 1000 half-open dead >/run/peers &
peers=$!
within 300 have_ended 1
check "the agent stops while peers connect" stop_agent
at_most 2000 20
check "that takes less than 2 s, or 20 replies of an idle agent ($(cat /run/stopped) ms)" \
	[ "$(cat /run/stopped)" -lt "$limit" ]
kill $peers $controller
finish
