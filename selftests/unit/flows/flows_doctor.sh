#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart-flows doctor finds the faults of a policy, its interface, dartd and the daemon.
. "$(dirname "$0")/../../lib.sh"
PATH=$tests/../.output/bin:$PATH
[ "$(id -u)" = 0 ] || skip "only root can open a packet socket"
scratch=$(mktemp -d)
as=	# a command that runs the doctor
trap 'rm -rf "$scratch"' EXIT

# write_policy INTERFACE
write_policy() {
	cat >"$scratch/policy.yaml" <<-END
		interface: $1
		table: nat
		inside: [10.0.0.0/8]
		pools: [{addresses: 203.0.113.1}]
		routes: [{prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}]
		dartd: $scratch/dartd.sock
	END
}

# doctor COMMAND: runs the command in a network of its own, and then the doctor; prints findings
doctor() {
	unshare -n sh -c "$1 && $as dart-flows --policy $scratch/policy.yaml \
		--control $scratch/control --json doctor"
}

# finds CHECK RESULT COMMAND: the doctor finds this, after the command
finds() {
	doctor "$3" >"$scratch/findings"
	is_true --arg check "$1" --arg result "$2" \
		'[.[] | select(.check == $check)] | length == 1 and .[0].result == $result' \
		"$scratch/findings"
}

write_policy port
refuse "the doctor fails without dartd" "dartctl\|systemctl start dartd" \
	doctor 'ip link add port type veth peer name other'
check "it says so" finds dartd fail 'ip link add port type veth peer name other'
check "a policy is valid" finds policy ok 'ip link add port type veth peer name other'
check "an interface that does not exist is found" finds interface fail true
check "an interface that is down is found" finds interface fail 'ip link add port type veth peer name other'
check "an interface with an address is found" finds interface warn \
	'ip link add port type veth peer name other && ip link set port up && ip address add 10.9.9.9/24 dev port'
check "the queue of the port is right with CAP_NET_ADMIN" finds queue ok true
# The number of the first network holds for all.
queue=warn
[ "$(cat /proc/sys/net/core/rmem_max)" -lt 8388608 ] || queue=ok
as="setpriv --bounding-set -net_admin --inh-caps -net_admin"
check "a queue of the port that the kernel bounds is found" finds queue $queue true
as=
write_policy lo
check "an interface that joins packets is found" finds interface warn \
	'ip link set lo up && ip address flush dev lo'
check "it says why" grep -q "'lo' joins packets (gro)" "$scratch/findings"
write_policy port
check "an interface that is up is right" finds interface ok \
	'ip link add port type veth peer name other && ip link set port up'
check "a daemon that does not run is found" finds daemon warn true
as="setpriv --bounding-set -net_raw --inh-caps -net_raw"
check "a process without CAP_NET_RAW is found" finds capability fail true
as=
echo "pools: []" >>"$scratch/policy.yaml"
check "a policy that is wrong is found" finds policy fail true
check "nothing else is examined then" is_true 'length == 1' "$scratch/findings"
refuse "the doctor has no further operands" "'host' is not an option" dart-flows doctor host
refuse "--json is for the doctor" "--json is for 'dart-flows doctor'" dart-flows --json
finish
