#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Only reporters of a store write to it, readers can only read, and the agent sleeps meanwhile.
. "$(dirname "$0")/../lib.sh"

collectors=$(mktemp)

# CPU time, time waited for a CPU and time slices of the agent since it started.
agent_ran() {
	on host cat "/proc/$agent/schedstat"
}

# show FILTER
show() {
	on host dartctl -j store show paths | gojq "$1"
}

holds() {
	on host dartctl -j store show paths |
		is_true "$1 or (debug | false)"
}

report() {
	dart-report -i eth0 -c "$collectors" -f uniform -n 2048 --copies all \
		--rate 4000 "$@"
}

rdma_up
check "the agent starts" on host host_up --config "$tests/readers.yaml"
check "the host creates a store" on host dartctl store create paths --slots 2^12 \
	--value 20
check "this machine is added as a reporter of the store" \
	on host dartctl reporter add paths 10.77.0.1
on host dartctl store export paths >"$collectors"

agent=$(on host pidof dartd)
before=$(agent_ran)
check "2048 keys are reported to the store" report
check "2048 reports take no time of the agent" [ "$(agent_ran)" = "$before" ]
check "2048 keys in 4096 slots are shown as a load of 0.5" \
	holds '.load > 0.45 and .load < 0.55'

written=$(show .written)
check "this machine gets an address that is not a reporter of the store" \
	ip address add 10.77.0.9/24 dev eth0
sed -i 's/10\.77\.0\.1"/10.77.0.9"/' "$collectors"
check "2048 reports are sent from an address that is not a reporter" \
	report --source 10.77.0.9 --seed 2
check "reports from an address that is not a reporter change nothing" \
	holds ".written == $written"
check "the address is added as a reporter" \
	on host dartctl reporter add paths 10.77.0.9
on host dartctl store export paths --reporter 10.77.0.9 >"$collectors"
check "2048 reports are sent from the new reporter" \
	report --source 10.77.0.9 --seed 2
check "reports from a new reporter reach the store" holds '.load > 0.9 and .load < 1.1'

written=$(show .written)
check "each reporter has its own key and address" sh -c '
	on host dartctl store export paths >/run/both.json &&
	is_true "(.collectors | map(.rkey) | unique | length) == 2 and
		(.collectors | map(.base) | unique | length) == 2" </run/both.json'
gojq '.collectors |= [.[0] + (.[1] | {rkey, base})]' /run/both.json >"$collectors"
check "2048 reports are sent with the key and address of another reporter" \
	report --seed 4
check "reports with the key and address of another reporter change nothing" \
	holds ".written == $written"
on host dartctl store export paths --reporter 10.77.0.9 >"$collectors"

check "a reporter can be removed from a store" \
	on host dartctl reporter remove paths 10.77.0.9
check "2048 reports are sent from a reporter that was removed" \
	report --source 10.77.0.9 --seed 3
check "reports from a reporter that was removed change nothing" \
	holds ".written == $written"

# ---- readers

entry=$(on host dartctl store export paths | gojq ".collectors[0]")
before=$(show .)
rkey=$(gojq .rkey <<<"$entry")
base=$(gojq -r .base <<<"$entry")
until_ready /run/disconnected.log store_intruder paths "$rkey" "$base"
reader=$(on host request '{"request": "controller-list"}' |
	gojq -c ".controllers[]")
check "controller-list shows a reader and its store" is_true \
	'.kind == "reader" and .store == "paths" and .age_s >= 0' <<<"$reader"
check "a reader can be disconnected on request" sh -c "on host request '$(
	gojq -c '{request: "controller-disconnect", peer}' <<<"$reader")' |
	is_true .ok"
pidwait -x store_intruder || :
check "the disconnected reader notices" grep "^ok 4" /run/disconnected.log
check "a reader that tries to write is refused" until_ready /run/intruder.log \
	store_intruder paths "$rkey" "$base"
check "a reader that tries to write changes nothing in the store" \
	[ "$(show "del(.readers)")" = "$(gojq "del(.readers)" <<<"$before")" ]
check "a connected reader is counted" holds ".readers == 1"
check "a store with a reader can be deleted" on host dartctl store delete paths
pidwait -x store_intruder || :
check "the reader of a deleted store is disconnected" grep "^ok 4" /run/intruder.log
check "reports to a deleted store can be sent" report --source 10.77.0.9 --seed 4
check "the agent stops after reports to a deleted store" on host host_down
finish
