#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart-flows replaces a control socket that nobody listens at, and nothing else at its path.
. "$(dirname "$0")/../../lib.sh"
PATH=$tests/../.output/bin:$PATH
[ "$(id -u)" = 0 ] || skip "only root can open a packet socket"
scratch=$(mktemp -d)
log=$scratch/log
first=
trap 'end_processes "$first"; rm -rf "$scratch"' EXIT
cat >"$scratch/policy.yaml" <<-END
	interface: lo
	table: nat
	inside: [10.0.0.0/8]
	pools: [{addresses: 203.0.113.1}]
	routes: [{prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}]
	dartd: $scratch/dartd.sock
	journal: $scratch/journal
END

# start PATH: in a network of its own
start() {
	unshare -n dart-flows --control "$1" --policy "$scratch/policy.yaml"
}

# answers: the daemon at the socket does
answers() {
	dartctl --socket "$scratch/control" flow list
}

echo text >"$scratch/text"
refuse "a file is not replaced" "'$scratch/text' exists and is not a socket" \
	start "$scratch/text"
check "the file is as it was" grep -q -x text "$scratch/text"
unshare -n dart-flows --control "$scratch/control" --policy "$scratch/policy.yaml" >"$log" 2>&1 &
first=$!
check "the daemon answers" soon answers
kill -KILL "$first"
wait "$first"
check "the socket of a killed daemon is there" [ -S "$scratch/control" ]
unshare -n dart-flows --control "$scratch/control" --policy "$scratch/policy.yaml" >"$log" 2>&1 &
first=$!
check "the next daemon replaces it" soon answers
sed -i "s|journal: .*|journal: $scratch/other|" "$scratch/policy.yaml"
refuse "a third one does not" "another dart-flows listens at" start "$scratch/control"
check "the second one still answers" answers
finish
