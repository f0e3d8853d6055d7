#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A controller reads a host, and asks it, over soft-iWARP: TCP instead of RoCE, and a provider
# that lacks much of what others have.
. "$(dirname "$0")/../lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

# scrapes ADDRESS [OPTION...]: 50 scrapes, all of them whole
# shellcheck disable=SC2016 # variables of jq
scrapes() {
	local address=$1

	shift
	dart-controller "$@" --json --count 50 --interval 20ms "$address" >/run/scrapes || return
	tail -n 1 /run/scrapes
	is_true -s 'map(select(has("summary")).summary) | length == 1 and
		(.[0] | .scrapes == 50 and .failed == 0)' /run/scrapes &&
		is_true -s 'map(select(has("entries")).entries) | length == 50 and
			all(.[]; .cpustat and .vmstat)' /run/scrapes
}

# grows BEFORE AFTER: did the page faults of the host grow over the scrapes, between these values?
grows() {
	is_true -s --argjson before "$1" --argjson after "$2" \
		'map(select(has("entries")).entries.vmstat.sum.pgfault) |
		. == sort and .[0] >= $before and .[-1] <= $after and .[0] < .[-1]' /run/scrapes
}

faults() {
	on host awk '$1 == "pgfault" { print $2 }' /proc/vmstat
}

# finds CHECK RESULT TEXT: is this a finding in /run/findings?
# shellcheck disable=SC2016 # variables of jq
finds() {
	cat /run/findings
	is_true --arg check "$1" --arg result "$2" --arg text "$3" \
		'any(.[]; .check == $check and .result == $result and (.found | contains($text)))' \
		/run/findings
}

check "this machine has a soft-iWARP device" "$here/siw_up"
check "so has the host" on host "$here/siw_up"
check "both have an address of IPv6" sh -c 'ip address add fd00::1/64 dev eth0 nodad &&
	on host ip address add fd00::2/64 dev eth0 nodad'
on host modprobe dart_zero
check "the agent starts" on host sh -c '
	printf "sources: [cpustat, vmstat]\nallow: {callers: [10.77.0.0/24]}\n" >/run/dartd.yaml
	exec until_ready /run/dartd.log dartd --config /run/dartd.yaml'

# Processes begin and end on the host meanwhile.
on host sh -c 'until [ -e /run/enough ]; do sleep 0.05; done' &
before=$(faults)
check "50 of 50 scrapes by READ succeed" scrapes host
check "the values are those of the host's kernel" grows "$before" "$(faults)"
on host touch /run/enough
wait
check "the device of this machine is iWARP" sh -c 'grep RNIC /sys/class/infiniband/siw0/node_type'
check "no scrape used another device" [ "$(ls /sys/class/infiniband)" = siw0 ]
check "50 of 50 scrapes to an address of IPv6 succeed" scrapes '[fd00::2]'
check "50 of 50 scrapes by calls succeed" scrapes host --transport rpc

dart-controller -j doctor host >/run/findings
check "the controller's doctor says that hosts could write to its memory" finds transport ok \
	"siw0 can READ hosts; it is iWARP: they could also write"
check "it finds that READs work" finds read ok "bytes of the control region"
on host dartctl -j doctor >/run/findings
check "the host's doctor says that an unmended siw would refuse READs" finds transport warn \
	"siw0 is soft-iWARP, which ignores the addresses"

on host dartctl store create paths --slots 2^12 --value 20
refuse "a reporter is refused with the reason" "not an address of RDMA device siw0" \
	on host dartctl reporter add paths 10.77.0.1
check "the agent goes on serving afterwards" scrapes host
refuse "a caller who is not allowed hears the reason" \
	"the agent refused the connection: its address is not in allow: callers" \
	dart-controller --once --transport rpc '[fd00::2]'
check "the agent stops" on host host_down
refuse "a host without an agent is told apart" "no agent listens there" dart-controller --once host
finish
