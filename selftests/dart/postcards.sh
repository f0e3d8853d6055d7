#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# DART_COUNTS postcards, some of which are lost and all in another order, become reports of paths by
# dart-report, and a tenth of them by the kernel, while frames get lost, come twice and late, and
# while the agent is killed: no path has a hop of another flow.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../restarts.sh"
. "$(dirname "$0")/../faulty_link.sh"

counts=${DART_COUNTS:-1000000}
flows=$((counts / 10))
few=$((flows / 10))
rate=$((flows / 20))	# of reports: two of each flow in 40 s

# judged STORE FLOWS COMPLETE FOUND: at least so many % have a complete path, and any path
judged() {
	path_postcards check host "$1" "$2" >"/run/$1.answers" || return
	gojq -r '"# \(.complete) complete, \(.partial) partial, \(.empty) empty, " +
		"\(.ambiguous) ambiguous, \(.wrong) wrong"' "/run/$1.answers"
	gojq -e ".wrong == 0 and .ambiguous == 0 and .complete >= $2 * $3 / 100 and
		.complete + .partial >= $2 * $4 / 100" "/run/$1.answers"
}

rdma_up
check "the agent starts under a service manager" on host sh -c "
	rm -rf /var/lib/dart && modprobe dart_zero && rdma_up && until_ready /run/dartd.log \
		service_manager dartd --config $tests/readers.yaml"
check "two stores take reports of this machine" on host sh -ec '
	for store in hops kernel; do
		dartctl store create $store --slots 2^20 --value 20
		dartctl reporter add $store 10.77.0.1
	done'
check "their exports are kept in files" on host sh -c '
	until_ready /run/hops.log dartctl store export hops --watch /run/hops.kept &&
	until_ready /run/kernel.log dartctl store export kernel --watch /run/kernel.kept'
for store in hops kernel; do
	on host cat /run/$store.kept >/run/$store.json
done
check "frames get lost, come twice and late" faulty_link 1 1 1

# ---- a translator in user space

before=$(taken)
path_postcards write - 5001 "$flows" | dart-report --json --interface eth0 \
	--collectors /run/hops.json --follow --pcap - --postcards 5001 --rate "$rate" >/run/hops.counts &
reporting=$!
check "reports arrive" until_true rises_by "$before" $((flows / 4))
old=$(on host pidof dartd)
check "the agent is killed" on host sh -c "
	kill -KILL $old; while kill -0 $old; do sleep 0.05; done 2>/dev/null"
renewed() {
	on host cat /run/hops.kept >/run/next.json && [ -s /run/next.json ] &&
		! cmp -s /run/next.json /run/hops.json && mv /run/next.json /run/hops.json
}
check "the export has the next queue pair" until_true renewed
check "all postcards are gathered" wait "$reporting"
gojq -r '.paths | "# \(.complete) complete; incomplete: \(.evicted) evicted, \(.aged) aged"' \
	/run/hops.counts
check "no path changed" gojq -e '.malformed == 0 and
	.paths.changed + .paths.refused == 0' /run/hops.counts

# ---- a translator in the kernel

on host cat /run/kernel.kept >/run/kernel.json
check "the kernel gathers postcards" dartctl xdp attach eth0 --collectors /run/kernel.json \
	--postcards 5001 --rows 2^12
check "postcards of $few flows arrive" on host path_postcards send eth0 5001 "$few" 1000
check "the paths that wait are reported" dartctl xdp detach eth0
sound_link

check "most paths are complete, and none has a hop of another flow" judged hops "$flows" 80 90
check "nor has any path of the kernel" judged kernel "$few" 80 90
check "the agent stops" on host host_down
finish
