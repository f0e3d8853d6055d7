#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl switch push to a program that adds up strips, checked by the state of the switch.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../bmv2.sh"

program=$tests/../.output/p4/merger.json
port=$("$tests/free_ports")

# sketch NAME [CHANGES [FILTER]]: writes a file with two sketchers and the translator 10.0.0.9
sketch() {
	jq -n --argjson more "${2:-null}" '{dart_sketches: 1, sketches: [
		({reporter: "10.0.0.3", qpn: 18}, {reporter: "10.0.0.9", qpn: 19},
			{reporter: "10.0.0.2", qpn: 17}) + {
		name: "heavy", mac: "52:54:00:00:00:01", ip: "10.0.0.1",
		rkey: 4660, base: "0x3a5f00000000", first_psn: 5, epoch: 77,
		kind: "count-sketch", rows: 4, columns_log2: 10, period: 10} + $more]} |
		'"${3:-.}" >"$directory/$1.new" && mv "$directory/$1.new" "$directory/$1"
}

# push NAME [OPTION...]
push() {
	path=$directory/$1
	shift
	dartctl switch push --target bmv2 --thrift "localhost:$port" --port 3 \
		--reporter 10.0.0.9 --merge "$@" "$path"
}

# prints TEXT COMMAND...: is TEXT all that the command prints?
prints() {
	text=$1
	shift
	"$@" >"$directory/out" && [ "$(cat "$directory/out")" = "$text" ]
}

# keeps COMMAND...: does it leave the switch as it is?
keeps() {
	for file in before after; do
		on "$port" "table_dump merge_collector" "table_dump merge_translator" \
			"table_dump merge_sketcher" "register_read merge_psn" \
			"mirroring_get 4" >"$directory/$file"
		[ "$file" = after ] || "$@" >/dev/null 2>&1
	done
	cmp "$directory/before" "$directory/after"
}

to="mac 52:54:00:00:00:01, ip 10.0.0.1, qpn 19, rkey 4660, base 0x3a5f00000000, mask 0x3f"
as="mac 02:00:0a:00:00:09, ip 10.0.0.9, kind 1, sketchers 0x3"
start "$port" "$program"
sketch one
check "a dry run changes nothing" keeps push one --dry-run
check "a sketch is pushed, its sketchers last, in the order of their addresses" prints \
	"add session 4: port 3
add sketch: $to, session 4
change psn 0: 5
add translator: $as, age 1000000, forget 20000000, epoch 77
add sketcher of 10.0.0.2: number 0
add sketcher of 10.0.0.3: number 1" push one
check "the switch knows a sketcher by its address and its queue pair" eval \
	'on "$port" "table_dump merge_sketcher" | grep -q "0a000003000012"'
check "a second push changes nothing" prints "nothing to change" push one
check "it leaves the switch as it is" keeps push one
check "another age changes alone" prints \
	"change translator: $as, age 50000, forget 20000000, epoch 77" push one --age 50ms

on "$port" "register_write merge_psn 0 50" >/dev/null
sketch one '{"rkey": 4661}'
check "another key of the same queue pair keeps the PSN" eval \
	'push one >/dev/null && on "$port" "register_read merge_psn 0" | grep -q "= *50"'
sketch one '{"epoch": 78, "first_psn": 4}' '.sketches[0].qpn = 118'
check "another queue pair of a sketcher takes its place" prints \
	"change sketch: ${to/4661/4660}, session 4
change psn 0: 4
change translator: $as, age 1000000, forget 20000000, epoch 78
remove sketcher of 10.0.0.3
add sketcher of 10.0.0.3: number 1" push one

sketch size '{"columns_log2": 11}'
sketch kind '{"kind": "count-min"}'
sketch rows '{"rows": 3}'
sketch wide '{"columns_log2": 13}'
sketch fewer null 'del(.sketches[0])'
sketch others null '.sketches[0].reporter = "10.0.0.4"'
sketch alone null 'del(.sketches[0, 2])'
for other in size kind; do
	refuse "a sketch of another $other is refused" "another size or kind" push $other
done
refuse "other rows are refused, with advice" "3 rows, .* --rows 4" push rows
refuse "more columns than a switch has are refused" "8192 columns" push wide
refuse "fewer sketchers are refused" "other sketchers" push fewer
refuse "other sketchers are refused" "other sketchers" push others
refuse "a translator without sketchers is refused" "has no sketcher but" push alone
check "refused pushes change nothing" keeps eval 'push size; push wide; push fewer; push others'
refuse "a translator without its address is refused" "needs --reporter" dartctl switch push \
	--target bmv2 --thrift "localhost:$port" --port 3 --merge "$directory/one"
jq -n '{dart_ledgers: 1, ledgers: []}' >"$directory/ledger"
refuse "only sketches are added up" "for files of sketches" push ledger

on "$port" "counter_write merge_packets 3 7 0" "counter_write merge_writes 0 5 0" >/dev/null
check "the activity of the switch is shown" prints "writes         5 frames
stale          7 packets" dartctl switch show --target bmv2 --thrift "localhost:$port"
check "and as JSON" is_true '.writes == 5 and .packets.stale == 7' \
	< <(dartctl -j switch show --target bmv2 --thrift "localhost:$port")
finish
