#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# DART_AMOUNTS packets are counted in a ledger while 1 % of the frames get lost, and as many come
# twice and late, in both directions: the words are exact.  Then as many more, while the agent is
# killed again and again: the words lack at most what the adder says it lost.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../restarts.sh"
. "$(dirname "$0")/../faulty_link.sh"
. "$(dirname "$0")/../carried_ledger.sh"

amounts=${DART_AMOUNTS:-1000000}
flows=1000
kills=10

# count RUN: counts the packets of all flows in turn.  Of the flows, some 110 share a row of the cache
# with another one: their packets are a request for each row of the ledger, half a million in all.
# Packets of other flows are added up.  An emulated network takes some 1,000 requests a second.
count() {
	dart-report --json --interface eth0 --ledger /run/flows.json --source 10.77.0.1 \
		--flows uniform --count $flows --packets "$amounts" --cache 8192 --rate 0 --follow \
		>"/run/flows.$1"
}

# numbers RUN
numbers() {
	gojq -r '.seconds as $s | .ledger |
		"# \(.packets) packets in \(.requests) requests, \(.repeats) repeats, " +
		"\(.refusals) refusals, \(.renewals) renewals, lost \(.lost), \($s) s"' \
		"/run/flows.$1"
}

rdma_up
check "the agent starts under a service manager" on host sh -c "
	rm -rf /var/lib/dart && modprobe dart_zero && rdma_up && until_ready /run/dartd.log \
		service_manager dartd --config $tests/readers.yaml"
check "a ledger has this machine as an adder" on host sh -c '
	dartctl ledger create flows --words 2^12 && dartctl adder add flows 10.77.0.1'
check "the host keeps a file of it" on host until_ready /run/watch.log \
	dartctl ledger export flows --watch /run/kept.json
on host cat /run/kept.json >/run/flows.json
for i in $(seq 0 $((flows - 1))); do
	flow uniform $flows 0 "$i" | head -n 1
done >/run/keys

check "frames get lost, come twice and late" faulty_link 1 1 1
check "$amounts packets are counted" count faults
numbers faults
check "none is lost" gojq -e '.ledger | all(.lost[]; . == 0) and .lost_of_total == 0 and
	.requests == .executed and .repeats > 0' /run/flows.faults
check "the words are exact" exact faults

carry_ledger &
carrier=$!

check "the next run gets another queue pair" on host dartctl adder renew flows 10.77.0.1
check "the file has it" until_true is_carried
count kills &
counting=$!
killed=0
while kill -0 $counting 2>/dev/null && [ $killed -lt $kills ]; do
	on host sh -c 'kill -KILL "$(pidof dartd)"'
	killed=$((killed + 1))
	until_true is_carried
	sleep 1
done
check "the adder goes on with each next agent" wait $counting
touch /run/end
wait $carrier
sound_link
numbers kills
check "it got another queue pair each time" \
	gojq -e ".ledger.renewals >= $killed - 1 and $killed > 1" /run/flows.kills
check "the words lack at most the amounts that count as lost" exact faults kills
exact faults kills
finish
