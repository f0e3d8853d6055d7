#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Entries that get lost, come twice, late or too fast reach a journal as its contract says, which
# a program outside of the project's libraries checks byte for byte; here and by READ.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../restarts.sh"

model=$tests/lib/journal.py
faults="lost=30 twice=30 swapped=30 flushed=20 flush=1"

# journal NAME OPTION...: creates a journal with one appender, this machine
journal() {
	on host dartctl journal create "$@" --entry 16 --parts 2 &&
		on host dartctl appender add "$1" 10.77.0.1 &&
		on host dartctl journal export "$1" >/run/"$1".json
}

# append NAME OPTION...
append() {
	# shellcheck disable=SC2086 # words
	"$model" append /run/"$1".json /run/"$1".model $faults "${@:2}"
}

# arrived NAME: the memory is what the model says
arrived() {
	on host "$model" memory "$1" >/run/"$1".memory &&
		"$model" same /run/"$1".model /run/"$1".memory 0
}

# CPU time, time waited for a CPU and time slices of the agent since it started
# shellcheck disable=SC2016 # for the shell of the host
agent_ran() {
	on host sh -c 'cat "/proc/$(pidof dartd)/schedstat"'
}

# dumped NAME: both kinds of dump say the same, which follows from the memory
dumped() {
	on host dartctl -j journal dump "$1" >/run/here.dump &&
		dartctl -j journal dump "$1" --from host >/run/there.dump &&
		cmp /run/here.dump /run/there.dump && "$model" dumped /run/"$1".model /run/here.dump
}

rdma_up
check "the agent starts under a service manager" on host sh -c "
	rm -rf /var/lib/dart && modprobe dart_zero && rdma_up && until_ready /run/dartd.log \
		service_manager dartd --config $tests/readers.yaml"
check "a journal of 32 batches has this machine as an appender" journal events --batches 2^5
check "so has a journal of 4096 batches, of 1024 bytes" \
	journal followed --batches 2^12 --batch 1024
check "each has its own key and address" sh -c '
	gojq -s -e "map(.journals[0] | .rkey, .base) | unique | length == 4" \
		/run/events.json /run/followed.json'

before=$(agent_ran)
check "10,000 entries, of which some get lost, lap the small journal 20 times" append events
check "they take no time of the agent" [ "$(agent_ran)" = "$before" ]
check "the bytes in its memory are what the contract says" soon arrived events
check "a reader here and one on the host find the entries, and the same batches missing" \
	dumped events
grep -c found /run/here.dump | sed 's/^/# entries: /'

dartctl -j journal tail followed --all --interval 5ms --from host >/run/followed.tail &
reader=$!
check "a reader follows the large journal, which 10,000 entries reach meanwhile" append followed seed=2 rate=300
check "the bytes in its memory are what the contract says" soon arrived followed
check "the reader found each entry once, or knows that its batch was lost" \
	soon "$model" followed /run/followed.model /run/followed.tail
"$model" followed /run/followed.model /run/followed.tail
end_processes $reader

# ---- a restart of the appender, and of the agent

check "the appender starts again, and appends 300 entries" append events entries=300 seed=3
check "they are in the memory, between older batches" soon arrived events
check "readers find the older batches first, then the new ones" dumped events

: >$stop
old=$(on host pidof dartd)
check "the agent is killed" on host sh -c "kill -KILL $old; while kill -0 $old; do sleep 0.05; done 2>/dev/null"
check "the agent is back, and the journal" until_true on host dartctl journal dump events
check "its memory has the same bytes" arrived events
check "the appender gets the same part, base and first PSN" sh -c '
	on host dartctl journal export events >/run/again.json &&
	gojq -s -e "map(.journals[0] | del(.qpn, .rkey, .epoch)) | .[0] == .[1]" \
		/run/events.json /run/again.json'
mv /run/again.json /run/events.json
check "entries arrive at the new queue pair" append events entries=100 seed=4
check "they are in the memory" soon arrived events
check "readers find them" dumped events

# ---- an appender that goes, and another one

check "the appender is removed" on host dartctl appender remove events 10.77.0.1
check "it still sends" append events entries=100 seed=5
check "another address gets its part, which is empty then" sh -c "
	ip address add 10.77.0.9/24 dev eth0 &&
	on host dartctl appender add events 10.77.0.9 && rm /run/events.model &&
	on host dartctl journal export events >/run/events.json"
check "entries of the other address arrive, and nothing else is there" append events seed=6
check "the memory is what the contract says" soon arrived events

# ---- flows of two appenders, in two lists

# dump_flows: the entries of both lists, which are in the order of their time
dump_flows() {
	for list in 0 1; do
		dartctl -j journal dump flows --list "$list" --schema path-event --from host |
			gojq -s -c 'if map(.entry.time) == (map(.entry.time) | sort) then .[]
				else error("not in order") end' || return
	done
}

# are_flows: each of 500 flows is there once from each appender, and nothing is missing
are_flows() {
	dump_flows >/run/flows.dump && gojq -s -e '
		length == 1000 and all(.outcome == "found") and
		(map([.part, (.entry | .src, .dst, .sport, .dport, .proto)]) | unique |
			length) == 1000 and
		(map(.entry | [.src, .dst, .sport, .dport, .proto]) | unique | length) == 500 and
		all(.entry | .proto == "udp" and (.path | length) > 0)' /run/flows.dump
}

check "a journal of two lists has two appenders" on host sh -c '
	dartctl journal create flows --batches 2^6 --entry 41 --lists 2 &&
	dartctl appender add flows 10.77.0.1 && dartctl appender add flows 10.77.0.9'
on host dartctl journal export flows >/run/flows.json
check "dart-report appends 500 flows from each at the same time" sh -c "
	report() {
		dart-report -i eth0 --journal /run/flows.json --source \$1 -f fat-tree -n 500 \
			--rate 500 | grep '500 entries in [0-9]* batches'
	}
	report 10.77.0.1 & report 10.77.0.9 && wait \$!"
check "readers find both in the order of their time" soon are_flows
check "the text of an entry has its fields" sh -c "
	dartctl journal dump flows --schema path-event --from host |
		grep -q '^0 1.0 time=[0-9]* src=10[.0-9]* dst=10[.0-9]* sport=[0-9]* dport=[0-9]* proto=udp path=[0-9]'"
refuse "a list that does not exist is refused" "has no list 2" \
	on host dartctl journal dump flows --list 2
refuse "a schema that is too long is refused" "'path-event' have 41 bytes" \
	on host dartctl journal dump events --schema path-event
refuse "flows do not fit into entries of 16 bytes" "16 bytes, but a flow needs 21" \
	dart-report -i eth0 --journal /run/events.json --source 10.77.0.9 -f zipf
check "a journal of two lists, whose batches take 24 entries, has this machine as an appender" sh -c '
	on host dartctl journal create slow --batches 2^6 --batch 1024 --entry 41 --lists 2 &&
	on host dartctl appender add slow 10.77.0.1 &&
	on host dartctl journal export slow >/run/slow.json'
# Four full batches, a frame each second, and two at the end.
check "entries do not wait until their batch is full" sh -c '
	dart-report --json -i eth0 --journal /run/slow.json --source 10.77.0.1 -f uniform -n 100 \
		--rate 1 | gojq -e ".journal | .entries == 100 and .batches > 6"'
# are_slow: each of 100 entries is there once
are_slow() {
	for list in 0 1; do
		dartctl -j journal dump slow --list "$list" --from host || return
	done | gojq -s -e 'length == 100 and all(.outcome == "found") and
		(map(.entry) | unique | length) == 100'
}
check "readers find each of them once" soon are_slow
check "a journal with a reader is deleted, and the reader ends" sh -c '
	dartctl journal tail events --from host & reader=$!
	soon() { for _ in $(seq 1200); do "$@" && return; sleep 0.1; done; return 1; }
	soon sh -c "on host dartctl -j journal list | gojq -e \"any(.[]; .readers == 1)\"" &&
	on host dartctl journal delete events && ! wait $reader'
check "the agent stops" on host host_down
ip address delete 10.77.0.9/24 dev eth0
finish
