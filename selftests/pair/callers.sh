#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Callers on another machine, over RDMA and over TCP: their values agree with the kernel.
. "$(dirname "$0")/../lib.sh"

work=$(mktemp -d)
tls=/run/tls
sources="cpustat vmstat softnet"

# call TRANSPORT COUNT [ENTRY...]
call() {
	local transport=$1 count=$2
	shift 2
	if [ "$transport" = rpc ]; then
		call_agent rpc host "$count" "$@"
	else
		call_agent tcp host:4800 "$count" "$tls" caller.example agent.example "$@"
	fi
}

# agrees TRANSPORT: each value of 20 scrapes lies between two snapshots of the kernel's
agrees() {
	call "$1" 20 | compare host 4799 >"$work/$1"
}

# goes_on TRANSPORT: 40 scrapes, while entries of the host come and go
goes_on() {
	call "$1" 40 vmstat >"$work/changing" 2>"$work/messages" &
	local caller=$!
	# shellcheck disable=SC2016 # for the host
	on host sh -ec 'for round in 1 2 3 4 5 6; do
		dartctl register source snmp:udp
		dartctl unregister snmp:udp
	done'
	wait "$caller" || cat "$work/messages"
	[ "$(wc -l <"$work/changing")" = 40 ] &&
		gojq -se 'map(.generation) | .[0] < .[-1]' "$work/changing"
}

rdma_up
check "certificates are made on the host" certificates $tls agent.example caller.example
on host sh -c "cat >/run/dart.yaml <<end
allow: {callers: [10.77.0.0/24]}
tcp: {certificate: $tls/agent.example.pem, key: $tls/agent.example.key,
  authorities: $tls/authority.pem, subjects: [caller.example], port: 4800}
end"
check "the agent starts with callers" on host host_up --config=/run/dart.yaml
for source in $sources; do
	on host dartctl register source "$source" >/dev/null
done
check "the host serves snapshots of its /proc files" on host \
	until_ready /run/snapshots.log snapshots 4799 true

for transport in rpc tcp; do
	check "by $transport every value lies between two snapshots of the kernel's" \
		agrees $transport
	check "by $transport values of several sources were compared" is_true \
		'.scrapes_compared > 5 and (.comparisons | length) >= 2' "$work/$transport"
	check "by $transport the agent runs for the scrapes" is_true \
		'.agent_context_switches > 0' "$work/$transport"
	check "by $transport a caller goes on when entries come and go" \
		goes_on $transport
done
check "the values of a READ agree as well" sh -c "
	dart-controller --interval 100ms --count 20 --json host |
		compare host 4799 >$work/read"

check "the agent is killed while a caller is connected" sh -c "
	call_agent tcp host:4800 600 $tls caller.example agent.example vmstat \
		>$work/lines 2>$work/messages & echo \$! >$work/caller
	until [ -s $work/lines ]; do sleep 0.1; done
	on host host_down KILL"
check "the caller notices" soon grep -q "disconnected" "$work/messages"
check "the agent starts again" on host host_up again --config=/run/dart.yaml
for transport in rpc tcp; do
	check "a caller by $transport connects to the new agent" call $transport 1 vmstat
done
check "the agent stops" on host host_down
on host pkill -x snapshots
rm -r "$work"
finish
