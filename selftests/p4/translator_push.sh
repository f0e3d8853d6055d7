#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl switch push to a program that gathers postcards, checked by the state of the switch.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../bmv2.sh"

program=$tests/../.output/p4/translator.json
port=$("$tests/free_ports")

# store NAME [CHANGES]: writes a file with one collector
store() {
	jq -n --argjson more "${2:-null}" '{dart_collectors: 1, collectors: [{
		name: "hops", reporter: "10.0.0.2", mac: "52:54:00:00:00:01", ip: "10.0.0.1",
		qpn: 17, rkey: 4660, base: "0x3a5f00000000", slots_log2: 20, value_length: 20,
		checksum_bits: 32, redundancy: 2, first_psn: 5} + $more]}' \
		>"$directory/$1.new" && mv "$directory/$1.new" "$directory/$1"
}

# push NAME [OPTION...]
push() {
	path=$directory/$1
	shift
	dartctl switch push --target bmv2 --thrift "localhost:$port" --port 3 "$@" "$path"
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

# keeps COMMAND...: does it leave the switch as it is?
keeps() {
	for file in before after; do
		on "$port" "table_dump postcards_translation" "table_dump dart_collector" \
			"table_dump dart_share" "register_read dart_psn 0" >"$directory/$file"
		[ "$file" = after ] || "$@" >/dev/null 2>&1
	done
	cmp "$directory/before" "$directory/after"
}

start "$port" "$program"
store one
to="mac 52:54:00:00:00:01, ip 10.0.0.1, qpn 17, rkey 4660, base 0x3a5f00000000"
refuse "a push needs the port of postcards" "push with --postcards PORT" push one
check "refused pushes change nothing" keeps push one
check "a translator is pushed, and gathers last" prints \
	"change psn 0: 5
add collector 0: $to, mask 0xfffff, redundancy 2
add session 4: port 3
add reporter: mac 02:00:0a:00:00:02, ip 10.0.0.2, checksum_bytes 4, all_copies 0
add share 0-1023: collector 0, session 4
add postcards: port 5001, mask 0x7fff, age 1000000" push one --postcards 5001
check "the switch knows the port" says "postcards_gather - 1389, 7fff, f4240" \
	"table_dump postcards_translation"
check "a second push changes nothing" prints "nothing to change" push one --postcards 5001
check "another port and another age change at once" prints \
	"change postcards: port 5002, mask 0x7fff, age 50000" push one --postcards 5002 --age 50ms
refuse "other rows are refused, because rows have paths" "32768 rows .restart the switch first" \
	push one --postcards 5002 --rows 2^10
check "commands for the program set the same" eval \
	'dartctl switch push --target bmv2 --program "$program" --port 3 --postcards 5001 \
		--rows 256 "$directory/one" | grep -qx \
		"table_set_default postcards_translation postcards_gather 5001 0xff 1000000"'
check "the activity of a translator has its postcards" eval \
	'dartctl --json switch show --target bmv2 --thrift "localhost:$port" |
		jq -e ".packets.gathered == 0 and .packets.roomless == 0 and .incomplete_paths == 0"'
refuse "rows need postcards" "needs --postcards" push one --rows 256
refuse "an age needs postcards" "needs --postcards or --merge" push one --age 1s
refuse "port 0 is refused" "not a UDP port" push one --postcards 0
refuse "other numbers of rows are refused" "power of two, up to 2^15" \
	push one --postcards 5001 --rows 2^16
refuse "short ages are refused" "from 1ms to 60min" push one --postcards 5001 --age 10us
jq -n '{dart_sketches: 1, sketches: []}' >"$directory/sketch"
refuse "postcards need collectors" "for files of collectors" push sketch --postcards 5001

port=$("$tests/free_ports")
start "$port" "$tests/../.output/p4/dart.json"
refuse "a program that gathers nothing is refused" "no table postcards_translation" \
	push one --postcards 5001
finish
