#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The bytes in flight from three agents, measured by the packets of this machine, never exceed the
# credits; better classes go first, and a killed agent takes no credit with it.
# shellcheck disable=SC2016,SC2086 # single quotes: for the host, or of jq; several hosts
. "$(dirname "$0")/../lib.sh"

lib=$(cd "$(dirname "$0")/../lib" && pwd)
ports="4801 4802 4803"
hosts="host:4801 host:4802 host:4803"
rows=4096	# of 8 bytes: 8 fragments
scrapes=20	# to compare classes
together=6	# of each agent
without_values='s/,"entries":{.*/,"entries":{}}/'	# for gojq, which is slow in an emulated machine
work=$(mktemp -d)

# agent PORT: an agent on the host that listens there
agent() {
	on host until_ready "/run/dartd-$1.log" dartd --port="$1" \
		--socket="/run/dartd-$1.sock" --state="/var/lib/dart-$1"
}

# exposes PORT: this agent exposes an entry of 32 KiB, with PORT * 10,000 + N in row N
exposes() {
	on host sh -ec '
		bpftool map create /sys/fs/bpf/big$1 type array key 4 value 8 entries $2 \
			name big$1 flags 1024
		python3 - $1 $2 >/run/batch <<-"END"
			import struct, sys
			port, rows = map(int, sys.argv[1:])
			for row in range(rows):
			    print("map update name big%u key" % port, *struct.pack("<I", row),
			          "value", *struct.pack("<Q", port * 10000 + row))
		END
		bpftool batch file /run/batch >/dev/null
		dartctl --socket=/run/dartd-$1.sock map add name big$1 as big' \
		exposes "$1" "$rows"
}

# scrapes KIND: scrapes each agent without pauses, so that scrapes of several agents
# overlap; writes the READs in flight to $work/KIND
scrapes() {
	"$lib/reads_in_flight.py" eth0 sh -c 'exec "$@" >"$0/lines" 2>"$0/log"' "$work" \
		dart-controller --json -i 1ms -n $together -e big --flow "$1" $hosts \
		>"$work/$1"
}

# right: all scrapes contain the values of their agent; workers without time may have
# dropped some
right() {
	summaries "$work/lines"
	python3 - "$work/lines" "$rows" "$together" <<-'END'
		import json, sys
		lines = [json.loads(line) for line in open(sys.argv[1])]
		rows, together = map(int, sys.argv[2:])
		dropped = sum(line.get("summary", {}).get("dropped", 0) for line in lines)
		scrapes = [line for line in lines if "entries" in line]
		right = 0
		for line in scrapes:
		    base = int(line["agent"].split(":")[1]) * 10000
		    values = [row["value"] for row in line["entries"]["big"]["rows"]]
		    right += values == list(range(base, base + rows))
		print(len(scrapes), "scrapes,", right, "right,", dropped, "dropped")
		sys.exit(not (right == len(scrapes) > 3 and right + dropped == 3 * together))
	END
}

# classes FIRST LAST: scrapes both all the time, FIRST with class 0, LAST with class 3;
# $late counts the scrapes of LAST that end before the last scrape of FIRST
classes() {
	printf 'interval: 1ms\nentries: [big]\nflow: {bytes: 4K}\nagents:\n' \
		>"$work/classes.yaml"
	printf '  - {host: host, port: %u, class: %u}\n' "$1" 0 "$2" 3 \
		>>"$work/classes.yaml"
	dart-controller --json -n $scrapes --config "$work/classes.yaml" >"$work/classes" &&
		late=$(sed "$without_values" "$work/classes" |
			gojq -s --arg first "host:$1" --arg last "host:$2" '
			def landed($agent): map(select(.agent == $agent and .entries).landed_ns);
			(landed($first) | max) as $over |
			landed($last) | map(select(. < $over)) | length')
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

# go_on PORT...: these agents are scraped three times more, each
go_on() {
	look
	for port; do
		follow 3 "\"host:$port\".*\"scraped\":true" || return
	done
}

rdma_up
on host sh -ec 'modprobe dart_zero; rdma_up'
for port in $ports; do
	check "an agent starts at port $port" agent "$port"
	check "the agent at port $port exposes 32 KiB" exposes "$port"
done

for flow in credit,16K bdp,16K none; do
	check "$flow: a controller scrapes three agents" scrapes "$flow"
	check "$flow: each of $rows values is right in each scrape that is not dropped" right
done
most=$(cat "$work/credit,16K")
check "credit,16K: packets show at most 16 KiB and 4 READs in flight, and as much at times: $most" \
	is_true '.dropped == 0 and (.requests >= 3 * '$together' * 9) and
		.in_flight <= 16384 and .in_flight > 12288 and .operations == 4' <<<"$most"
most=$(cat "$work/bdp,16K")
check "bdp,16K: packets show at most 16 KiB in flight of each agent, and more of all: $most" \
	is_true '.dropped == 0 and .in_flight_of_one <= 16384 and
		.in_flight > 16384' <<<"$most"
most=$(cat "$work/none")
check "none: packets show READs that are not cut, and more than 16 KiB in flight: $most" \
	is_true '.dropped == 0 and .requests < 3 * '$together' * 4 and
		.in_flight > 16384' <<<"$most"

for order in "4801 4802" "4802 4801"; do
	check "class 0 and class 3 share one credit ($order)" classes $order
	check "while $scrapes scrapes of class 0 end, less than half as many of class 3 do: $late" \
		[ "$late" -lt $((scrapes / 2)) ]
done

mkfifo "$work/pipe"
touch "$work/short"
gojq -c '{agent, scraped: has("entries"), ended: has("summary"), error}' \
	< <(stdbuf -oL sed "$without_values" "$work/pipe") >"$work/short" &
reader=$!
dart-controller --json -i 200ms -e big --flow credit,4K $hosts >"$work/pipe" \
	2>"$work/log" &
controller=$!
check "three agents share one credit" go_on $ports
for round in 1 2; do
	look
	on host pkill -KILL -f "dartd --[p]ort=4802"
	check "$round: the controller notices that an agent was killed amid scrapes" \
		follow 1 '"host:4802".*"error":"'
	check "$round: the other agents are scraped on with the only credit" \
		go_on 4801 4803
	check "$round: the agent starts again" agent 4802
	check "$round: all agents are scraped" go_on $ports
done
kill -INT $controller
check "the controller ends" wait $controller
wait $reader

check "a controller scrapes every second" sh -c \
	"dart-controller --json -i 1s -n 2 -e big $hosts >/dev/null 2>$work/log"
check "it does not say that agents do not fit" \
	sh -c "cat $work/log; ! grep 'agents fit' $work/log"

# soft-RoCE on an interface of unknown speed reports 2.5 Gbit/s.
check "a controller scrapes far too often" sh -c \
	"dart-controller --json -i 100us -n 5 -e big $hosts >$work/often 2>$work/log"
bytes=$(gojq -s 'map(.summary.bytes_per_scrape // empty) | add / length | round' "$work/often")
thousands=$(sed -E 's/(.)(...)$/\1,\2/' <<<"$bytes")
need=$(awk -v bytes="$bytes" 'BEGIN { printf "%.1f", bytes * 8 * 3 / 100e-6 / 1e9 }')
check "it says once how many agents fit: $(cat "$work/log")" \
	[ "$(grep -c "^dart-controller: 0 of 3 agents fit at 100 us: scrapes of $thousands bytes on average need $need Gbit/s, and the port has 2.5 (" "$work/log")" -eq 1 ]
check "the agents stop" on host host_down
rm -r "$work"
finish
