#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# I/O threads that wait for events, that poll, and both: values are right, agents come and go, and
# the number of descriptors does not depend on the number of agents.
# shellcheck disable=SC2016,SC2086 # single quotes: for the host, or of jq; several hosts
. "$(dirname "$0")/../lib.sh"

ports="4801 4802 4803"
hosts="host:4801 host:4802 host:4803"
small=512	# rows of 8 bytes: 1 fragment
large=4096	# 8 fragments
work=$(mktemp -d)
log=$work/log
without_rows='s/"rows":[[][^]]*]/"rows":[]/g'	# for gojq, which is slow in an emulated machine

# agent PORT: an agent on the host that listens there
agent() {
	on host until_ready "/run/dartd-$1.log" dartd --port="$1" \
		--socket="/run/dartd-$1.sock" --state="/var/lib/dart-$1"
}

# exposes PORT NAME ROWS: this agent exposes an entry with PORT * 10,000 + N in row N
exposes() {
	on host sh -ec '
		bpftool map create /sys/fs/bpf/$2$1 type array key 4 value 8 entries $3 \
			name $2$1 flags 1024
		python3 - $1 $2 $3 >/run/batch <<-"END"
			import struct, sys
			port, name, rows = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
			for row in range(rows):
			    print("map update name %s%u key" % (name, port),
			          *struct.pack("<I", row), "value",
			          *struct.pack("<Q", port * 10000 + row))
		END
		bpftool batch file /run/batch >/dev/null
		dartctl --socket=/run/dartd-$1.sock map add name $2$1 as $2' \
		exposes "$1" "$2" "$3"
}

# scrapes KIND: three scrapes of each agent
scrapes() {
	dart-controller --json -i 300ms -n 3 -e small --io "$1" $hosts >"$work/lines" \
		2>"$work/log"
}

# right: each agent was scraped three times with its values
right() {
	is_true -s --argjson rows "$small" '
		map(select(has("entries")) | ((.agent[5:] | tonumber) * 10000) as $base |
			.entries.small.rows | map(.value) == [range($rows) | . + $base]) |
		length == 9 and all' "$work/lines"
}

# start OPTION...: starts a controller and writes its lines, shortened, to $work/short
start() {
	: >"$work/short"
	gojq -c '{agent, large: (.entries // {} | has("large")),
		scraped: has("entries"), ended: has("summary"), error}' \
		< <(stdbuf -oL sed "$without_rows" "$work/pipe") >"$work/short" &
	reader=$!
	dart-controller --json -i 200ms "$@" >"$work/pipe" 2>"$log" &
	controller=$!
}

# look: lines of the controller count from now on
look() {
	seen=$(wc -l <"$work/short")
}

# follow COUNT PATTERN: COUNT of the next lines match
follow() {
	[ "$(timeout 120 grep -m "$1" "$2" < <(tail --pid $reader -n "+$((seen + 1))" \
		-f "$work/short") | wc -l)" -eq "$1" ]
}

# scraped PORT...: three times more, each
scraped() {
	look
	for port; do
		follow 3 "\"host:$port\".*\"scraped\":true" || return
	done
}

# stop: nothing of its lines comes any more, either
stop() {
	kill -INT $controller
	wait $controller
	stop_status=$?
	wait $reader
	return $stop_status
}

# connected COUNT1 COUNT2 COUNT3: the controller connected to the three agents this often so far
connected() {
	logged "$1" "host:4801: connected, generation" &&
		logged "$2" "host:4802: connected, generation" &&
		logged "$3" "host:4803: connected, generation"
}

descriptors() {
	find /proc/$controller/fd -type l | wc -l
}

rdma_up
on host sh -ec 'modprobe dart_zero; rdma_up'
for port in $ports; do
	check "an agent starts at port $port" agent "$port"
	check "the agent at port $port exposes $small rows" exposes "$port" small $small
done

for io in event poll hybrid; do
	check "$io: a controller scrapes three agents" scrapes $io
	check "$io: each of $small values is right in each of three scrapes" right
done

# Groups of two: three agents need two completion queues for each thread.  A hybrid runs
# one thread of each of these kinds.
mkfifo "$work/pipe"
for io in event poll; do
	printf 'io: {kind: %s, group: 2}\n' $io >"$work/config"
	start --config "$work/config" -e small host:4801
	check "$io: one agent is scraped" scraped 4801
	one=$(descriptors)
	check "$io: the controller ends" stop
	start --config "$work/config" -e small $hosts
	check "$io: three agents are scraped" scraped $ports
	three=$(descriptors)
	check "$io: $one descriptors of a controller with one agent are $three with three" \
		[ "$one" -eq "$three" ]
	look
	on host pkill -KILL -f "dartd --[p]ort=4802"
	check "$io: an agent that is killed amid scrapes is noticed" \
		follow 1 '"host:4802".*"error":"'
	check "$io: the others are scraped on" scraped 4801 4803
	check "$io: the agent starts again" agent 4802
	check "$io: all are scraped" scraped $ports
	check "$io: the controller still has $three descriptors" \
		[ "$(descriptors)" -eq "$three" ]
	check "$io: the controller ends with all its threads" stop
done

# The scrapes of the first agent take more fragments than a hybrid polls for, then fewer, and then
# more.
printf 'io: {kind: hybrid, fragments: 4}\nentries: [small, large]\n' >"$work/config"
start --config "$work/config" -i 300ms $hosts
check "hybrid: three small agents are scraped" scraped $ports
check "hybrid: it has a thread of each kind" sh -c \
	"grep -q 'io event' /proc/$controller/task/*/comm && grep -q 'io poll' /proc/$controller/task/*/comm"
check "hybrid: each agent has been connected once" connected 1 1 1
look
check "the agent at port 4801 exposes $large rows more" exposes 4801 large $large
check "hybrid: the larger scrape is read" follow 3 '"host:4801".*"large":true'
check "hybrid: by the other thread: the agent has been connected anew, and no other" \
	connected 2 1 1
check "hybrid: the others are scraped on" scraped 4802 4803
look
on host dartctl --socket=/run/dartd-4801.sock unregister large
check "hybrid: the small scrape is read again" follow 3 '"host:4801".*"large":false'
check "hybrid: by the first thread: the agent has been connected once more" \
	connected 3 1 1
check "hybrid: an agent that changes its thread is not lost" \
	sh -c "! grep -E 'lost|cannot' $log"
check "hybrid: the controller ends" stop
check "the agents stop" on host host_down
rm -r "$work"
finish
