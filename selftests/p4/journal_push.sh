#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl switch push of a journal, checked by the state that the switch itself prints.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../bmv2.sh"

program=$tests/../.output/p4/journal.json
log=$directory/follow.log
port=$("$tests/free_ports")

# journal NAME [CHANGES]: writes a file with one appender
journal() {
	jq -n --argjson more "${2:-null}" '{dart_journals: 1, journals: [{
		name: "events", reporter: "10.0.0.2", mac: "52:54:00:00:00:01", ip: "10.0.0.1",
		qpn: 17, rkey: 4660, base: "0x3a5f00000000", first_psn: 5, epoch: 77,
		lists_log2: 2, batches_log2: 10, batch_log2: 8, entry_length: 41} + $more]}' \
		>"$directory/$1.new" && mv "$directory/$1.new" "$directory/$1"
}

# push NAME [OPTION...]
push() {
	path=$directory/$1
	shift
	dartctl switch push --target bmv2 --thrift "localhost:$port" "$@" "$path"
}

# says TEXT COMMAND: does the answer of the switch, without leading zeros, contain TEXT?
says() {
	on "$port" "$2" | sed -E 's/\b0+([0-9a-f])/\1/g' | tr '\n' ' ' | grep -q -e "$1"
}

# prints TEXT COMMAND...: is TEXT all that the command prints, without start and boot?
prints() {
	text=$1
	shift
	"$@" >"$directory/out" &&
		[ "$(sed 's/start 0x[0-9a-f]*, boot [0-9]*, //' "$directory/out")" = "$text" ]
}

# all_state: the state that a push may change, and neighbours
all_state() {
	on "$port" "table_dump journal_collector" "table_dump journal_appender" \
		"table_dump forward" "register_read journal_psn" "mirroring_get 4"
}

# keeps COMMAND...: does it leave the switch as it is?
keeps() {
	all_state >"$directory/before"
	"$@" >/dev/null 2>&1
	all_state >"$directory/after"
	cmp "$directory/before" "$directory/after"
}

# started: seconds since 1970, by the start of the appender
started() {
	on "$port" "table_dump journal_appender" |
		sed -n 's/.*journal_appender_is - [0-9a-f]*, [0-9a-f]*, \([0-9a-f]*\).*/\1/p' |
		{ read -r start && echo $((0x$start >> 16)); }
}

to="ip 10.0.0.1, qpn 17, rkey 4660, base 0x3a5f00000000"
to="$to, places_mask 0x3ff, lists_mask 0x3, session 4"
start "$port" "$program"
on "$port" "table_add forward forward_to 02:00:00:00:00:09 => 1" >/dev/null
journal one
check "a dry run changes nothing" keeps push one --port 3 --dry-run
now=$(date +%s)
check "a journal is pushed, the appender last" prints \
	"add session 4: port 3
add journal: mac 52:54:00:00:00:01, $to
change psn 0: 5
add appender: mac 02:00:0a:00:00:02, ip 10.0.0.2, epoch 77" push one --port 3
check "the switch knows the journal" \
	says "journal_append_to - 525400000001, a000001, 11, 1234, 3a5f00000000, 3ff, 3, 4" \
	"table_dump journal_collector"
began=$(started)
check "its start is the time of the push" [ "$began" -ge "$now" -a "$began" -le $((now + 60)) ]
check "the first WRITE has the first PSN" says "= *5" "register_read journal_psn 0"
check "entries of other tables stay" says "forward_to" "table_dump forward"
check "a second push changes nothing" prints "nothing to change" push one --port 3
check "it leaves the switch as it is" keeps push one --port 3

on "$port" "register_write journal_psn 0 50" >/dev/null
journal one '{"rkey": 4661, "base": "0x3b5f00000000"}'
check "other memory of the same queue pair keeps the PSN" eval \
	'push one --port 3 && says "= *50" "register_read journal_psn 0"'
journal one '{"qpn": 18, "first_psn": 4, "epoch": 78}'
check "another queue pair begins with its first PSN" prints \
	"change journal: mac 52:54:00:00:00:01, ${to/17/18}
change psn 0: 4
change appender: mac 02:00:0a:00:00:02, ip 10.0.0.2, epoch 78" push one --port 3
check "the start stays, and so do sequences" [ "$(started)" = "$began" ]

journal size '{"batches_log2": 11}'
journal entries '{"entry_length": 40}'
journal lists '{"lists_log2": 7}'
journal appender '{"reporter": "10.0.0.3"}'
refuse "a journal of another size is refused" "another size" push size --port 3
refuse "other entries are refused, with advice" \
	"batches of 256 bytes and entries of 40, .* --entry 41" push entries --port 3
refuse "more lists than a switch has are refused" "128 lists" push lists --port 3
refuse "another appender is refused" "another appender" push appender --port 3
refuse "options of ledgers are refused" "is for files of ledgers" push one --port 3 --bytes
refuse "two files are refused" "one file" push one --port 3 "$directory/size"
check "refused pushes change nothing" keeps eval 'push size --port 3
	push lists --port 3
	push appender --port 3'

dartctl switch push --target bmv2 --thrift "localhost:$port" --port 3 --follow "$directory/one" \
	>"$log" 2>&1 &
follower=$!
switches="$switches $follower"
check "a follower finds the switch in order" soon logged 1 "nothing to change"
journal one '{"qpn": 19, "epoch": 80}'
check "a new queue pair in the file reaches the switch" soon says \
	"journal_append_to - .*, 13, 1234," "table_dump journal_collector"
kill -KILL "$switch"
wait "$switch" 2>/dev/null
journal one '{"qpn": 20, "epoch": 81}'
check "a switch that is not running is reported" \
	soon logged 1 "cannot push to 'localhost:$port': Connection refused"
start "$port" "$program"
check "a switch that runs again gets the journal" soon says "journal_appender_is" \
	"table_dump journal_appender"
check "its start is higher" [ "$(started)" -gt "$began" ]
kill $follower
wait $follower
check "SIGTERM ends a follower" [ $? -gt 128 ]

on "$port" "counter_write journal_packets 6 7 0" "counter_write journal_writes 0 5 0" >/dev/null
check "the activity of the switch is shown" prints "writes         5 frames
unassigned     7 packets" dartctl switch show --target bmv2 --thrift "localhost:$port"
check "and as JSON" is_true '.writes == 5 and .packets.unassigned == 7' \
	< <(dartctl -j switch show --target bmv2 --thrift "localhost:$port")
finish
