#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl switch push of a ledger, checked by the state that the switch itself prints.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../bmv2.sh"

program=$tests/../.output/p4/ledger.json
log=$directory/follow.log
port=$("$tests/free_ports")

# ledger NAME [CHANGES]: writes a file with one adder
ledger() {
	jq -n --argjson more "${2:-null}" '{dart_ledgers: 1, ledgers: [{
		name: "flows", reporter: "10.0.0.2", mac: "52:54:00:00:00:01", ip: "10.0.0.1",
		qpn: 17, rkey: 4660, base: "0x3a5f00000000", first_psn: 5, epoch: 77, rows: 2,
		words_log2: 16} + $more]}' >"$directory/$1.new" &&
		mv "$directory/$1.new" "$directory/$1"
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

# prints TEXT COMMAND...: is TEXT all that the command prints?
prints() {
	text=$1
	shift
	"$@" >"$directory/out" && [ "$(cat "$directory/out")" = "$text" ]
}

# all_state: the state that a push may change, and neighbours
all_state() {
	on "$port" "table_dump ledger_collector" "table_dump ledger_adder" "table_dump forward" \
		"register_read ledger_state" "register_read ledger_shift" \
		"register_read ledger_end" "register_read ledger_fresh" "mirroring_get 4"
}

# keeps COMMAND...: does it leave the switch as it is?
keeps() {
	all_state >"$directory/before"
	"$@" >/dev/null 2>&1
	all_state >"$directory/after"
	cmp "$directory/before" "$directory/after"
}

to="ip 10.0.0.1, qpn 17, rkey 4660, base 0x3a5f00000000, mask 0xffff, rows 2, session 4"
start "$port" "$program"
on "$port" "table_add forward forward_to 02:00:00:00:00:09 => 1" >/dev/null
ledger one
check "a dry run changes nothing" keeps push one --port 3 --dry-run
check "a ledger is pushed, the adder last" prints \
	"add session 4: port 3
add ledger: mac 52:54:00:00:00:01, $to
start queue pair
add adder: mac 02:00:0a:00:00:02, ip 10.0.0.2, unit 0, epoch 77" push one --port 3
check "the switch knows the ledger" \
	says "ledger_add_to - 525400000001, a000001, 11, 1234, 3a5f00000000, ffff, 2, 4" \
	"table_dump ledger_collector"
check "the switch knows its addresses" says "ledger_adder_is - 2000a000002, a000002, 0*, 4d" \
	"table_dump ledger_adder"
check "the first request has the first PSN" says "ledger_shift.*= *5" \
	"register_read ledger_shift 0"
check "requests that add nothing precede all others" says "ledger_end.*= *32" \
	"register_read ledger_end 0"
check "the queue pair begins" says "ledger_state.*= *4" "register_read ledger_state 0"
check "the port has a mirror session" says "port=3" "mirroring_get 4"
check "entries of other tables stay" says "forward_to" "table_dump forward"
check "a second push changes nothing" prints "nothing to change" push one --port 3
check "it leaves the switch as it is" keeps push one --port 3

# As if requests had been sent and answered.
on "$port" "register_write ledger_state 0 0" "register_write ledger_end 0 100" \
	"register_write ledger_fresh 0 90" >/dev/null
check "the MAC of a collector changes under way" prints \
	"change ledger: mac 52:54:00:00:00:03, $to" \
	eval 'ledger one "{\"mac\": \"52:54:00:00:00:03\"}" && push one --port 3'
ledger one '{"qpn": 18, "first_psn": 4, "epoch": 78}'
check "another queue pair is entered while the switch is stopped" prints \
	"stop queue pair
change ledger: mac 52:54:00:00:00:01, ${to/17/18}
start queue pair
change adder: mac 02:00:0a:00:00:02, ip 10.0.0.2, unit 0, epoch 78" push one --port 3
check "the next request that was never sent gets its first PSN" \
	says "ledger_shift.*= *$((2**24 + 4 - 90))" "register_read ledger_shift 0"
check "requests stay that were never sent" says "ledger_end.*= *100" \
	"register_read ledger_end 0"
check "requests without an answer are lost" says "ledger_state.*= *4" \
	"register_read ledger_state 0"
ledger one '{"qpn": 18, "first_psn": 4, "epoch": 79}'
check "a queue pair of the same number in another epoch is another one" eval \
	'push one --port 3 | grep -q "^start queue pair"'
on "$port" "register_write ledger_state 0 2" >/dev/null
check "a switch that was left stopped is started" prints "start queue pair" push one --port 3

on "$port" "register_write ledger_state 0 3" "register_write ledger_oldest 0 80" \
	"register_write ledger_next 0 85" "register_write ledger_lost 0 7" \
	"register_write ledger_lost 2 4" >/dev/null
check "the activity of the switch is shown" prints \
	"ledger         2 rows of 65536 words, at 10.0.0.1, queue pair 18 (broken)
requests       20 wait, of which 5 without an answer, 0 frames sent
lost, row 0    7
lost, total    4" dartctl switch show --target bmv2 --thrift "localhost:$port"
check "and as JSON" is_true '.ledger == {address: "10.0.0.1", qpn: 18, rows: 2, words: 65536} and
	.state == "broken" and .waiting == 20 and .outstanding == 5 and .lost == [7, 0, 4] and
	.packets.added == 0' < <(dartctl -j switch show --target bmv2 --thrift "localhost:$port")

ledger size '{"words_log2": 17}'
ledger adder '{"reporter": "10.0.0.3"}'
ledger odd '{"base": "0x3a5f00000004"}'
refuse "a ledger of another size is refused" "another size" push size --port 3
refuse "another adder is refused" "another adder" push adder --port 3
refuse "bytes after packets are refused" "mixed with bytes" push one --port 3 --bytes
refuse "an address that breaks the queue pair is refused" "not a multiple of 8" push odd --port 3
refuse "an adder that is not in the file is refused" "10.0.0.9" \
	push one --port 3 --reporter 10.0.0.9
refuse "a collector without a port is refused" "has no port" push one
refuse "a port of another collector is refused" "not a collector" push one --port 3 \
	--port 10.0.0.7=4
refuse "two files are refused" "one file" push one --port 3 "$directory/size"
refuse "options of collectors are refused" "are for files of collectors" \
	push one --port 3 --all-copies
refuse "options of lookup tables are refused" "are for files of lookup tables" \
	push one --port 3 --tries 3
check "refused pushes change nothing" keeps eval 'push size --port 3
	push adder --port 3
	push one --port 3 --bytes'

dartctl switch push --target bmv2 --thrift "localhost:$port" --port 3 --follow "$directory/one" \
	>"$log" 2>&1 &
follower=$!
switches="$switches $follower"
check "a follower finds the switch in order" soon logged 1 "nothing to change"
ledger one '{"qpn": 19, "epoch": 80}'
check "a new queue pair in the file reaches the switch" soon says \
	"ledger_add_to - .*, 13, 1234," "table_dump ledger_collector"
kill -KILL "$switch"
wait "$switch" 2>/dev/null
ledger one '{"qpn": 20, "epoch": 81}'
check "a switch that is not running is reported" \
	soon logged 1 "cannot push to 'localhost:$port': Connection refused"
start "$port" "$program"
check "a switch that runs again gets the ledger" soon says "ledger_end.*= *32" \
	"register_read ledger_end 0"
kill $follower
wait $follower
check "SIGTERM ends a follower" [ $? -gt 128 ]
finish
