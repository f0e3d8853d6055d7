#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Functions that live 1 to 500 ms, 50 a second, are all shown with their final values by controllers
# that read every 10 ms to 5 s, by READ, rpc and tcp at once.  FUNCTIONS in the environment says how
# many there are.
. "$(dirname "$0")/../lib.sh"

lib=$(realpath "$(dirname "$0")/../lib")
count=${FUNCTIONS-50}
patience=$((60 + count / 10))
work=$(mktemp -d)
tls=/run/tls
pids=

# shows NAME OPTION...: a controller shows functions, in the file NAME, and has read the table
shows() {
	local name=$1
	shift
	dart-controller --json --entries 'load,function-*' "$@" \
		>"$work/$name" 2>"$work/log-$name" &
	pids="$pids $!"
	log=$work/log-$name soon grep -q entries "$work/$name"
}

# have_ended: since the line counts in ended-*, each controller has read a table without functions
have_ended() {
	for shown in "$work"/by-*; do
		tail -n "+$(cat "$work/ended-${shown##*/by-}")" "$shown" | sed '1d; $d' |
			tail -n 1 |
			grep '"entries":' | grep -q -v '"function-' || return
	done
}

rdma_up
check "certificates are made on the host" certificates $tls host caller.example
on host sh -c "cat >/run/dart.yaml <<end
allow: {callers: [10.77.0.0/24]}
tcp: {certificate: $tls/host.pem, key: $tls/host.key,
  authorities: $tls/authority.pem, subjects: [caller.example]}
end"
check "the agent starts with callers" on host host_up --config=/run/dart.yaml
check "it has a small entry that stays" on host dartctl source add load --gather 1s

for interval in 10ms 100ms 1s 5s; do
	check "a controller READs every $interval" shows by-read-$interval -i $interval host
done
check "a controller with a mirror READs every 1s" shows by-mirror-1s -i 1s --mirror 256K host
check "a controller asks over rpc every 1s" shows by-rpc-1s -i 1s --transport rpc host
check "a controller asks over tcp every 5s" shows by-tcp-5s -i 5s --transport tcp \
	--tls-certificate $tls/caller.example.pem --tls-key $tls/caller.example.key \
	--tls-authorities $tls/authority.pem host

check "$count functions live 1 to 500 ms each on the host" on host functions "$count" 50
for shown in "$work"/by-*; do
	wc -l <"$shown" >"$work/ended-${shown##*/by-}"
done
check "every controller sees the last of them leave the table" soon have_ended
# shellcheck disable=SC2086 # a list
kill $pids
check "and has shown each of them, once, with its final values" sh -c \
	"python3 '$lib/functions.py' $count $work/by-* >$work/findings; status=\$?
	 cat $work/findings; [ \$status = 0 ] || tail -n 20 $work/log-*; exit \$status"
grep "^#" "$work/findings"
on host dartctl -j show dartd >/run/self
check "no entry left the table early" is_true '.values.rows[0].lingering_cut_short == 0' /run/self
check "all of them leave the table, and their memory is free" \
	on host sh -c 'until dartctl -j status | gojq -e ".leases == 0"; do sleep 0.2; done'
check "the agent stops" on host host_down
finish
