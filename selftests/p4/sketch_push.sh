#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl switch push of a sketch, checked by the state that the switch itself prints.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../bmv2.sh"

program=$tests/../.output/p4/sketch.json
port=$("$tests/free_ports")

# sketch NAME [CHANGES]: writes a file with one sketcher
sketch() {
	jq -n --argjson more "${2:-null}" '{dart_sketches: 1, sketches: [{
		name: "heavy", reporter: "10.0.0.2", mac: "52:54:00:00:00:01", ip: "10.0.0.1",
		qpn: 17, rkey: 4660, base: "0x3a5f00000000", first_psn: 5, epoch: 77,
		kind: "count-sketch", rows: 4, columns_log2: 10, period: 3600} + $more]}' \
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

# prints TEXT COMMAND...: is TEXT all that the command prints, without the period?
prints() {
	text=$1
	shift
	"$@" >"$directory/out" &&
		[ "$(sed 's/first [0-9]*, begin 0x[0-9a-f]*, //' "$directory/out")" = "$text" ]
}

# all_state: the state that a push may change, and neighbours
all_state() {
	on "$port" "table_dump sketch_collector" "table_dump sketch_sketcher" \
		"table_dump forward" "register_read sketch_psn" "register_read sketch_period" \
		"mirroring_get 4"
}

# keeps COMMAND...: does it leave the switch as it is?
keeps() {
	all_state >"$directory/before"
	"$@" >/dev/null 2>&1
	all_state >"$directory/after"
	cmp "$directory/before" "$directory/after"
}

# first: the period that the switch knows
first() {
	on "$port" "table_dump sketch_sketcher" | sed -n \
		's/.*sketch_sketcher_is - [0-9a-f]*, [0-9a-f]*, [0-9a-f]*, \([0-9a-f]*\),.*/\1/p' |
		{ read -r first && echo $((0x$first)); }
}

to="ip 10.0.0.1, qpn 17, rkey 4660, base 0x3a5f00000000, mask 0x3ff, session 4"
as="mac 02:00:0a:00:00:02, ip 10.0.0.2, kind 1, length 3600000000"
start "$port" "$program"
on "$port" "table_add forward forward_to 02:00:00:00:00:09 => 1" >/dev/null
sketch one
check "a dry run changes nothing" keeps push one --port 3 --dry-run
hour=$(($(date +%s) / 3600))
check "a sketch is pushed, the sketcher last" prints \
	"add session 4: port 3
add sketch: mac 52:54:00:00:00:01, $to
change psn 0: 5
add sketcher: $as, epoch 77" push one --port 3
check "the switch knows the sketch" \
	says "sketch_write_to - 525400000001, a000001, 11, 1234, 3a5f00000000, 3ff, 4" \
	"table_dump sketch_collector"
now=$(first)
check "it knows the period of the push" [ $((now - hour)) -ge 0 -a $((now - hour)) -le 1 ]
check "the first WRITE has the first PSN" says "= *5" "register_read sketch_psn 0"
check "a second push changes nothing" prints "nothing to change" push one --port 3
check "it leaves the switch as it is" keeps push one --port 3

on "$port" "register_write sketch_psn 0 50" >/dev/null
sketch one '{"rkey": 4661, "base": "0x3b5f00000000"}'
check "other memory of the same queue pair keeps the PSN" eval \
	'push one --port 3 && says "= *50" "register_read sketch_psn 0"'
sketch one '{"qpn": 18, "first_psn": 4, "epoch": 78}'
check "another queue pair begins with its first PSN" prints \
	"change sketch: mac 52:54:00:00:00:01, ${to/17/18}
change psn 0: 4
change sketcher: $as, epoch 78" push one --port 3

on "$port" "table_set_default sketch_sketcher sketch_sketcher_is 0x02000a000002 10.0.0.2 1 5 0 3600000000 78" \
	"register_write sketch_period 0 6" >/dev/null
check "a switch with a wrong clock gets the periods, and begins again" prints \
	"change sketcher: $as, epoch 78
change period 0: 0" push one --port 3
check "it knows the period again" [ "$(first)" -ge "$now" ]
check "it has begun none" says "= *0" "register_read sketch_period 0"

sketch size '{"columns_log2": 11}'
sketch rows '{"rows": 3}'
sketch wide '{"columns_log2": 13}'
sketch kind '{"kind": "count-min"}'
sketch period '{"period": 10}'
sketch sketcher '{"reporter": "10.0.0.3"}'
for other in size kind period; do
	refuse "a sketch of another $other is refused" "another size, kind or period" \
		push $other --port 3
done
refuse "other rows are refused, with advice" "3 rows, .* --rows 4" push rows --port 3
refuse "more columns than a switch has are refused" "8192 columns" push wide --port 3
refuse "another sketcher is refused" "another sketcher" push sketcher --port 3
refuse "options of ledgers are refused" "is for files of ledgers" push one --port 3 --bytes
refuse "two files are refused" "one file" push one --port 3 "$directory/size"
check "refused pushes change nothing" keeps eval 'push size --port 3
	push wide --port 3
	push sketcher --port 3'

on "$port" "counter_write sketch_packets 2 7 0" "counter_write sketch_writes 0 5 0" >/dev/null
check "the activity of the switch is shown" prints "writes         5 frames
unassigned     7 packets" dartctl switch show --target bmv2 --thrift "localhost:$port"
check "and as JSON" is_true '.writes == 5 and .packets.unassigned == 7' \
	< <(dartctl -j switch show --target bmv2 --thrift "localhost:$port")
finish
