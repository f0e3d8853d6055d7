#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Packets that an adder counts in a ledger are in its words exactly once, while frames get lost,
# come twice or late, and while the agent is killed: which a program outside of the project's
# libraries checks byte for byte, and readers find the sums, here and by READ.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../restarts.sh"
. "$(dirname "$0")/../faulty_link.sh"
. "$(dirname "$0")/../carried_ledger.sh"

flows=40

# count NAME RUN PACKETS OPTION...: counts packets of all flows
count() {
	dart-report --json --interface eth0 --ledger "/run/$1.json" --source 10.77.0.1 \
		--flows uniform --count $flows --packets "$3" --rate 0 "${@:4}" >"/run/$1.$2"
}

# fresh NAME: this machine gets a queue pair that no run has used
fresh() {
	on host dartctl adder renew "$1" 10.77.0.1 >/dev/null &&
		on host dartctl ledger export "$1" >"/run/$1.json"
}

# lossless NAME RUN: nothing was lost, and each request was answered
lossless() {
	gojq -e '.ledger | all(.lost[]; . == 0) and .lost_of_total == 0 and
		.requests == .executed' "/run/$1.$2"
}

rdma_up
check "the agent starts under a service manager" on host sh -c "
	rm -rf /var/lib/dart && modprobe dart_zero && rdma_up && until_ready /run/dartd.log \
		service_manager dartd --config $tests/readers.yaml"
check "a ledger has this machine as an adder" on host sh -c '
	dartctl ledger create flows --words 2^10 && dartctl adder add flows 10.77.0.1'
on host dartctl ledger export flows >/run/flows.json
for i in $(seq 0 $((flows - 1))); do
	flow uniform $flows 0 "$i" | head -n 1
done >/run/keys

# CPU time, time waited for a CPU and time slices of the agent since it started
# shellcheck disable=SC2016 # for the shell of the host
agent_ran() {
	on host sh -c 'cat "/proc/$(pidof dartd)/schedstat"'
}

before=$(agent_ran)
check "4,000 packets are counted" count flows first 4000
check "they take no time of the agent" [ "$(agent_ran)" = "$before" ]
check "each request was answered" lossless flows first
check "the words are exact" exact first
read -r key </run/keys
# shellcheck disable=SC2086 # words
check "readers here and on the host find the sum of a flow" sh -c "
	on host dartctl -j ledger query flows flow-count $key >/run/here &&
	dartctl -j ledger query flows flow-count $key --from host >/run/there &&
	gojq -s -e 'map(del(.collector)) | .[0] == .[1]' /run/here /run/there &&
	gojq -e '.value.packets == 100 and .total == 4000 and .epsilon == 7 and
		.probability == 0.75 and .words == [100, 100]' /run/here"
# shellcheck disable=SC2086 # words
check "people read it, too" sh -c "dartctl ledger query flows flow-count $key --from host |
	grep -c '^packets: 100\$\|^too high by at most 7 with probability 0.75, of a total of 4000' |
	grep -qx 2"
refuse "a schema without a sum is refused" "values of 'int-path' are no sums" \
	on host dartctl ledger query flows int-path
refuse "an absent ledger is refused" "there is no ledger 'absent'" \
	sh -c "dartctl ledger query absent flow-count $key --from host"

check "the next run gets another queue pair" fresh flows
check "frames get lost, come twice and late" faulty_link 2 2 2
check "1,000 packets are counted one by one" count flows second 1000 --cache 1
sound_link
check "each request was answered at last" lossless flows second
check "some had to be repeated" gojq -e '.ledger | .repeats > 0 and .refusals > 0' /run/flows.second
gojq -r '.ledger | "# \(.requests) requests, \(.repeats) repeats, \(.refusals) refusals"' \
	/run/flows.second
check "the words are still exact" exact first second

# ---- a queue pair in the error state, and a restart of the agent

check "so does the one after" fresh flows
gojq '.ledgers[0].rkey |= (. + 256) % 4294967296' /run/flows.json >/run/wrong.json
refuse "a request with another key is refused" "does not take requests any more" \
	dart-report --interface eth0 --ledger /run/wrong.json --source 10.77.0.1 --flows uniform \
		--count 2
check "the queue pair is in the error state" sh -c "
	on host dartctl -j adder list flows | gojq -e '.[0].state == \"error\"'"
check "the export renews it, and is kept in a file" on host until_ready /run/watch.log \
	dartctl ledger export flows --watch /run/kept.json
check "it is renewed" soon sh -c "
	on host dartctl -j adder list flows |
		gojq -e '.[0] | .state == \"ready\" and .renewals == 3'"
carry_ledger &
carrier=$!
check "the file has another queue pair" soon is_carried
count flows third 3000 --cache 1 --follow --rate 1000 &
counting=$!
check "while packets are counted," soon sh -c "
	on host dartctl -j ledger query flows flow-count $key | gojq -e '.total > 5100'"
old=$(on host pidof dartd)
check "the agent is killed" on host sh -c "
	kill -KILL $old; while kill -0 $old; do sleep 0.05; done 2>/dev/null"
check "the adder goes on with the next agent" wait $counting
touch /run/end
wait $carrier
gojq -r '.ledger | "# \(.requests) requests, \(.repeats) repeats, \(.renewals) renewals"' \
	/run/flows.third
check "it got another queue pair" gojq -e '.ledger | .packets == 3000 and .renewals > 0' \
	/run/flows.third
check "the words lack at most the amounts that count as lost" exact first second third
exact first second third
check "a ledger is deleted" on host dartctl ledger delete flows
check "the agent stops" on host host_down
finish
