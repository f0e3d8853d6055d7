#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The XDP program appends the packets with INT-MD that arrive here to a journal of the host, and
# goes on when the agent was killed; whichever program reads the memory finds each packet once.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../restarts.sh"

model=$tests/lib/journal.py
flows=100
log=/run/follow.log

# send SEED: a packet with INT-MD of each flow, slowly enough for a virtual network
send() {
	on host dart-report --interface eth0 --emit int --flows uniform --count "$flows" \
		--seed "$1" --rate 500 >/dev/null
}

# counted ENTRIES: ENTRIES frames became entries, each once
counted() {
	dartctl -j xdp status eth0 | is_true ".[0] | .reports + .appended == $1 and .cramped == 0"
}

# expected SEED...: an entry of each flow as a line
expected() {
	for seed; do
		for i in $(seq 0 $((flows - 1))); do
			flow uniform $flows "$seed" "$i" | tr '\n' ' '
			echo
		done
	done | sed 's/--src \(.*\) --dst \(.*\) --sport \(.*\) --dport \(.*\) --proto \(.*\) path: \(.*\) $/\1 \2 \3 \4 \6/' |
		sort
}

# dumped: the entries of all lists, by READ, as such lines; fails if one is missing.  The program
# begins anew each time it is attached, which readers say.
dumped() {
	for list in 0 1 2 3; do
		dartctl -j journal dump events --list "$list" --schema path-event --from host || return
	done >/run/dump
	gojq -s -e 'all(.outcome == "found" or .outcome == "restarted")' /run/dump >/dev/null || return
	gojq -r 'select(.entry) | .entry | "\(.src) \(.dst) \(.sport) \(.dport) \(.path | join(" "))"' /run/dump |
		sort
}

# found SEED...: exactly the flows of these seeds are in the journal
found() {
	dumped >/run/dumped && cmp /run/expected /run/dumped
}

# in_memory ENTRIES: the memory contains ENTRIES entries, in whole batches
in_memory() {
	on host "$model" memory events >/run/memory &&
		[ "$("$model" entries /run/events.json /run/memory | sort -u | wc -l)" = "$1" ]
}

rdma_up
check "the agent starts under a service manager" on host sh -c "
	rm -rf /var/lib/dart && modprobe dart_zero && rdma_up && until_ready /run/dartd.log \
		service_manager dartd --config $tests/readers.yaml"
check "a journal of four lists has this machine as an appender" on host sh -c '
	dartctl journal create events --batches 2^8 --entry 41 --lists 4 &&
	dartctl appender add events 10.77.0.1'
on host dartctl journal export events >/run/events.json
check "the XDP program appends the packets of an interface" sh -c '
	dartctl xdp attach eth0 --journal /run/events.json |
		grep -qx "eth0 appends as 10.77.0.1 to journal events, native XDP"'
check "$flows packets with INT-MD arrive" send 1
check "each of them is an entry" counted $flows
check "the program is detached" dartctl xdp detach eth0
expected 1 >/run/expected
check "readers find each entry once, also those that waited in batches" soon found
check "so does a program outside of the project's libraries, in whole batches" in_memory $flows

# ---- a restart of the agent

check "the program is attached again" dartctl xdp attach eth0 --journal /run/events.json
check "a follower keeps its queue pair up to date" until_ready $log dartctl -j xdp follow eth0 \
	--journal /run/events.json
follower=$(pgrep -nx dartctl)
check "$flows packets of other flows arrive" send 2
old=$(on host pidof dartd)
check "the agent is killed" on host sh -c "
	kill -KILL $old; while kill -0 $old; do sleep 0.05; done 2>/dev/null"
check "the agent is back, and the journal" until_true on host dartctl journal dump events
on host dartctl journal export events >/run/events.new && mv /run/events.new /run/events.json
check "the follower takes over its queue pair" soon logged 1 '"store": *"events".*"old_qpn"'
check "$flows packets of yet other flows arrive" send 3
check "each of them is an entry" counted $((2 * flows))
end_processes "$follower"
check "the program is detached" dartctl xdp detach eth0
expected 2 3 >/run/expected
# The program began with sequence 1 again, so these entries took the places of the former ones.
check "readers find the entries before and after the restart, each once" soon found
check "so does the other program" in_memory $((2 * flows))
# summed: all entries are in the lines of four lists
summed() {
	is_true "length == 4 and (map(.entries) | add) == $((2 * flows)) and
		all(.part == 0 and .lost + .overwritten + .damaged == 0 and .last >= 1)"
}
shown() {
	dartctl -j journal show events --from host | summed &&
		on host dartctl -j journal show events | summed
}
check "the journal shows how many there are of each list, from there and from here" shown
check "the agent stops" on host host_down
finish
