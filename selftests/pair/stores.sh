#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reports of another machine fill a store while the agent sleeps; who is no
# reporter of it, or no longer, fills nothing; readers can read.
. "$(dirname "$0")/../lib.sh"

collectors=$(mktemp)

# The time on a CPU and the switches to it, since the agent started.
agent_ran() {
	on host cat "/proc/$agent/schedstat"
}

# show FILTER
show() {
	on host dartctl -j store show paths | jq ".store | $1"
}

holds() {
	on host dartctl -j store show paths |
		is_true ".store | $1 or (debug | false)"
}

report() {
	dart-report -i eth0 -c "$collectors" -f uniform -n 2048 --copies all \
		--rate 4000 "$@"
}

rdma_up
check "the agent starts" on host host_up
check "a store is created" on host dartctl store create paths --slots 2^12 \
	--value 20
check "this machine may report" on host dartctl reporter add paths 10.77.0.1
on host dartctl store export paths >"$collectors"

agent=$(on host pidof dartd)
before=$(agent_ran)
check "2048 keys are reported" report
check "the agent did not run" [ "$(agent_ran)" = "$before" ]
check "half a key for each slot is there" holds '.load > 0.45 and .load < 0.55'

written=$(show .written)
check "an address that is no reporter" ip address add 10.77.0.9/24 dev eth0
sed -i 's/10\.77\.0\.1"/10.77.0.9"/' "$collectors"
check "reports" report --source 10.77.0.9 --seed 2
check "in vain" holds ".written == $written"
check "it becomes one" on host dartctl reporter add paths 10.77.0.9
on host dartctl store export paths --reporter 10.77.0.9 >"$collectors"
check "and reports" report --source 10.77.0.9 --seed 2
check "with success" holds '.load > 0.9 and .load < 1.1'

written=$(show .written)
check "it is removed" on host dartctl reporter remove paths 10.77.0.9
check "reports" report --source 10.77.0.9 --seed 3
check "in vain" holds ".written == $written"
# ---- readers

entry=$(on host dartctl store export paths | jq ".collectors[0]")
before=$(show .)
check "a reader gets no more than reading" until_ready /run/intruder.log \
	store_intruder paths "$(jq .rkey <<<"$entry")" \
	"$(jq -r .base <<<"$entry")"
check "and has changed nothing" [ "$(show "del(.readers)")" = \
	"$(jq "del(.readers)" <<<"$before")" ]
check "it is counted" holds ".readers == 1"
check "the store is deleted" on host dartctl store delete paths
pidwait -x store_intruder || :
check "the reader is hung up" grep "^ok 4" /run/intruder.log
check "reports to it" report --source 10.77.0.9 --seed 4
check "the agent ends" on host host_down
finish
