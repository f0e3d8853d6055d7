#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart-flows takes packets that came while it was busy, and counts each one that it does not pass.
. "$(dirname "$0")/../../lib.sh"
PATH=$tests/../.output/bin:$PATH
[ "$(id -u)" = 0 ] || skip "only root can open a packet socket"
[ "${DART_NETWORK-}" ] || DART_NETWORK=own exec unshare -n "$0"
scratch=$(mktemp -d)
log=$scratch/log
daemon=
trap 'end_processes "$daemon"; rm -rf "$scratch"' EXIT
cat >"$scratch/policy.yaml" <<-END
	interface: flows0
	table: nat
	inside: [10.0.0.0/8]
	pools: [{addresses: 203.0.113.1}]
	routes: [{prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}, {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}]
	rate: 1000000
	dartd: $scratch/dartd.sock
	journal: $scratch/journal
END

# shows FILTER: of the counts of packets
shows() {
	dartctl --socket "$scratch/control" -j flow show >"$scratch/shown" &&
		is_true ".packets | $1" "$scratch/shown"
}

# busy COUNT: COUNT packets come while the daemon is stopped
busy() {
	kill -STOP "$daemon"
	"$tests/lib/flows_burst.py" flows1 02:00:00:00:00:01 "$1"
	kill -CONT "$daemon"
}

ip link add flows0 address 02:00:00:00:00:01 type veth peer name flows1
for interface in flows0 flows1; do
	echo 1 >/proc/sys/net/ipv6/conf/$interface/disable_ipv6
	ip link set $interface up
done
dart-flows --control "$scratch/control" --policy "$scratch/policy.yaml" >"$log" 2>&1 &
daemon=$!
check "the daemon starts" soon shows '.received == 0'
check "it keeps no capability" [ "$(grep -c '^Cap\(Inh\|Prm\|Eff\|Amb\):.0*$' "/proc/$daemon/status")" = 4 ]
check "5,000 packets come at once" busy 5000
check "each one is passed" soon shows '.translated == 5000 and .overrun == 0 and .unsent == 0'
check "50,000 packets come at once" busy 50000
check "packets that the queue of the port has no place for are counted" \
	soon shows '.received + .overrun == 55000 and .overrun > 0'
check "the others are passed" shows '.translated == .received'
check "frames to all hosts come" "$tests/lib/flows_burst.py" flows1 all 10
check "they are counted, and not passed" soon shows \
	'.for_many == 10 and .received == .translated + .for_many'
finish
