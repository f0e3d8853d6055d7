#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two ends with different MTUs use the smaller MTU, and both doctors report it.
. "$(dirname "$0")/../lib.sh"

# with_mtu MTU: soft-RoCE of this machine starts with this MTU
with_mtu() {
	rdma link delete rxe0 2>/dev/null
	ip link set eth0 mtu "$1" && rdma_up
}

# reads [OPTION...]: three scrapes of large entries
reads() {
	timeout 120 dart-controller "$@" --json --count 3 --interval 100ms host >/run/scrapes &&
		[ "$(gojq -c 'select(.entries.vmstat)' /run/scrapes | wc -l)" = 3 ]
}

# uses BYTES RESULT TEXT: the finding of the doctor about the MTU
uses() {
	dart-controller -j doctor host | tee /dev/stderr | is_true --arg found "$1 bytes in a packet" \
		--arg result "$2" --arg text "${3-}" 'any(.[]; .check == "mtu" and
		.result == $result and (.found | contains($found) and contains($text)))'
}

if [ $# -gt 0 ]; then
	"$@"
	exit
fi

on host sh -c 'printf "sources: [cpustat, vmstat, softnet]\nallow: {callers: [10.77.0.0/24],
  readers: [10.77.0.0/24]}\nstores: [{name: paths, slots: 2^12, value: 20}]\n" >/run/dartd.yaml'
while read -r ours theirs bytes result text; do
	check "this machine has an MTU of $ours" "$0" with_mtu "$ours"
	check "the host has an MTU of $theirs" on host "$0" with_mtu "$theirs"
	check "$ours to $theirs: the agent starts" on host host_up --config=/run/dartd.yaml
	check "$ours to $theirs: a controller READs" reads
	check "$ours to $theirs: a controller asks" reads --transport rpc
	refuse "$ours to $theirs: a reader queries a store" "none of the 2 slots" \
		dartctl query paths mirror --query 1 --from host
	check "$ours to $theirs: the doctor tells $bytes bytes" uses "$bytes" "$result" "$text"
	check "$ours to $theirs: the agent stops" on host host_down
done <<'END'
4200 1500 1024 warn the host takes
1500 4200 1024 ok
4200 4200 4096 ok
1500 1500 1024 ok
2300 9000 2048 ok
END
finish
