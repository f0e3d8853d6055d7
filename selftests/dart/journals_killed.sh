#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The agent of a journal is killed, and back, while the kernel appends packets to it, and while frames
# get lost, come twice and late: the appender goes on with the next agent, and a reader finds each
# entry once, or knows its batch to be lost.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../restarts.sh"
. "$(dirname "$0")/../faulty_link.sh"

model=$tests/lib/journal.py
log=/run/follow.log
entries=100000
more=1000	# a reader learns of a lost batch by a later one
flows=100
rate=1000

# append PACKETS: packets with INT-MD of all flows in turn
append() {
	dart-report --interface card0 --source 10.77.0.1 --emit int --flows uniform \
		--count "$flows" --packets "$1" --rate "$rate" >/dev/null
}

# counted: how many packets the appender made entries of
counted() {
	dartctl -j xdp status card1 | gojq '.[0] | .reports + .appended'
}

# counted_all PACKETS: each of this number is an entry, is too short for the WRITE of a batch, or came
# between two queue pairs
counted_all() {
	dartctl -j xdp status card1 |
		is_true ".[0] | .reports + .appended + .cramped + .unassigned == $1"
}

# renewed: the host's file has the next queue pair, and is here, too
renewed() {
	on host cat /run/kept.json >/run/next.json && [ -s /run/next.json ] &&
		! cmp -s /run/next.json /run/events.json && mv /run/next.json /run/events.json
}

# dumped: what a reader finds in all lists
dumped() {
	local list

	for list in 0 1 2 3; do
		dartctl -j journal dump events --list "$list" --from host || return
	done >/run/dump
}

# lost: the reader names lost batches
lost() {
	gojq -s -e 'any(.outcome == "lost")' /run/dump
}

rdma_up
for i in $(seq 0 $((flows - 1))); do
	flow uniform $flows 0 "$i" | head -n 1
done >/run/keys
modprobe veth
ip link add card0 type veth peer name card1
ip link set card0 up
ip link set card1 up
check "the agent starts under a service manager" on host sh -c "
	rm -rf /var/lib/dart && modprobe dart_zero && rdma_up && until_ready /run/dartd.log \
		service_manager dartd --config $tests/readers.yaml"
check "a journal has this machine as an appender" on host sh -c "
	dartctl journal create events --batches 2^14 --batch 256 --entry 41 --lists 4 --parts 1 &&
	dartctl appender add events 10.77.0.1"
check "the host keeps a file of it" on host until_ready /run/watch.log \
	dartctl journal export events --watch /run/kept.json
on host cat /run/kept.json >/run/events.json
check "the kernel appends" dartctl xdp attach card1 --through eth0 --source 10.77.0.1 \
	--journal /run/events.json
check "it follows the file" until_ready $log dartctl -j xdp follow card1 \
	--journal /run/events.json
check "frames get lost, come twice and late" faulty_link 1 1 1
before=$(taken)
append $entries &
appending=$!
check "entries arrive" until_true rises_by "$before" $((entries / 20))
old=$(on host pidof dartd)
check "the agent is killed" on host sh -c "
	kill -KILL $old; while kill -0 $old; do sleep 0.05; done 2>/dev/null"
check "the export has the next queue pair" until_true renewed
check "the appender takes it over" soon logged 1 '"store": *"events".*"old_qpn"'
there=$(taken)
kill -0 $appending 2>/dev/null || echo "# the last packet came before the next queue pair"
check "$entries packets are sent" wait "$appending"
check "entries arrive again" rises_by "$there" $((entries / 20))
sound_link
check "$more more packets are sent" append $more
all=$((entries + more))
check "each packet is an entry, or counted as none" soon counted_all $all
count=$(counted)
check "the appender is detached" dartctl xdp detach card1
check "a reader reads all lists" soon dumped
check "it finds each entry once, or knows its batch to be lost" \
	"$model" entered /run/dump /run/keys $all "$count"
"$model" entered /run/dump /run/keys $all "$count"
check "batches were lost" lost
check "the agent stops" on host host_down
finish
