#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl switch push of tables, checked by the state that the switch itself prints.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../bmv2.sh"

program=$tests/../.output/p4/nat.json
log=$directory/follow.log
port=$("$tests/free_ports")

# table NAME IP [CHANGES [TABLE_CHANGES]]: writes a file with one server of a table
table() {
	jq -n --arg ip "$2" --argjson more "${3:-null}" --argjson table "${4:-null}" '
		{tables: [{name: "nat", rows_log2: 10, cells: 8, key_length: 13,
			value_length: 7, packet_length: 1514, servers: [{
				shares: [0, 1023], epoch: 77, requesters: [{
					address: "10.0.0.9", server: $ip,
					mac: "52:54:00:00:00:01", qpn: 17, rkey: 4660,
					base: "0x3a5f00000000", first_psn: 5}
					+ ($more.requester // {})],
				stash: ($more.stash // [])}
				+ ($more.server // {})]} + $table]}' \
		>"$directory/$1.new" && mv "$directory/$1.new" "$directory/$1"
}

push() {
	files=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		files+=("$directory/$1")
		shift
	done
	shift
	dartctl switch push --target bmv2 --thrift "localhost:$port" "$@" "${files[@]}"
}

# says TEXT COMMAND: does the answer of the switch, without leading zeros of numbers,
# contain TEXT?
says() {
	on "$port" "$2" | sed -E 's/\b0+([0-9a-f])/\1/g' | tr '\n' ' ' | grep -q -e "$1"
}

says_not() {
	! says "$@"
}

# prints TEXT COMMAND...: is TEXT all that the command prints?
prints() {
	text=$1
	shift
	"$@" >"$directory/out" && [ "$(cat "$directory/out")" = "$text" ]
}

# all_state: the state that a push may change
all_state() {
	on "$port" "table_dump tea_switch" "table_dump tea_share" "table_dump tea_from" \
		"table_dump tea_server" "table_dump tea_stash" "table_dump tea_otherwise" \
		"table_dump forward" "register_read tea_psn" "register_read tea_state" \
		"register_read tea_outstanding" "mc_dump" "mirroring_get 4"
}

start "$port" "$program"
on "$port" "table_add forward forward_to 02:00:00:00:00:09 => 1" >/dev/null
stash='{"stash": [{"key": "0000000000000000000000000a", "value": "00000000000001"},
	{"key": "0a000000000000000000000001", "value": "01020304050607"}]}'
table one 10.0.0.1 "$stash"
all_state >"$directory/empty"
check "a dry run prints the changes" eval \
	'push one -- --port 3 --dry-run | grep -q "^add share 0-1023: server 0, port 3, replica 0, replica_port 3"'
all_state >"$directory/dry"
check "a dry run changes nothing" cmp "$directory/empty" "$directory/dry"
check "a table is pushed" push one -- --port 3
check "the switch knows its addresses" says "tea_switch_is - 2000a000009, a000009, 5ea, 10, 4e20, 4" \
	"table_dump tea_switch"
check "the server has its entry" \
	says "tea_send_to - 525400000001, a000001, 11, 1234, 3a5f00000000, 3ff, b, 4d" \
	"table_dump tea_server"
check "responses of the server have their entry" says "tea_response_of - 0, 3, 4d" \
	"table_dump tea_from"
check "all shares have the server" says " 1024 " "table_num_entries tea_share"
check "a share without a replica has the server twice" says "tea_assign - 0, 3, 0, 3" \
	"table_dump tea_share"
check "the stash is there" says " 2 " "table_num_entries tea_stash"
check "an entry of the stash has its value" says "tea_stashed - 1020304050607" \
	"table_dump tea_stash"
check "the queue pair begins with its first PSN" says "= 5, 0," "register_read tea_psn"
check "the server expects no PSN before it" says "= 5, 0," "register_read tea_proven"
check "the server is up" says "tea_state.0.= *0" "register_read tea_state 0"
check "the port has a multicast group of two nodes" says "mgrp(4) *-> (L1h=.*, rid=1) -> (ports=.3., lags=..) *-> (L1h=.*, rid=2) -> (ports=.3., lags=..)" \
	"mc_dump"
check "the port has a mirror session" says "port=3" "mirroring_get 4"
check "entries of other tables stay" says "forward_to" "table_dump forward"
all_state >"$directory/first"
check "a second push changes nothing" prints "nothing to change" push one -- --port 3
check "a table is read from the standard input" prints "nothing to change" \
	dartctl switch push --target bmv2 --thrift "localhost:$port" --port 3 - <"$directory/one"
all_state >"$directory/second"
check "the switch is as it was" cmp "$directory/first" "$directory/second"

check "packets without an entry, and invalid packets, leave where the operator wants it" prints \
	"add otherwise invalid: port 9
add otherwise absent: port 4" push one -- --port 3 --otherwise absent=4 --otherwise invalid=9
check "with other options they are dropped again" prints \
	"remove otherwise invalid
remove otherwise absent" push one -- --port 3
check "long packets leave there, too, if the operator says which" prints "change mtu: longest 1400" \
	push one -- --port 3 --mtu 1400
check "the switch knows the length" says "tea_mtu_is - 578" "table_dump tea_mtu"
check "it keeps the length without the option" prints "nothing to change" push one -- --port 3
refuse "no packet is so short" "is not from 68 to 65535" push one -- --port 3 --mtu 67
refuse "packets that have an entry have no other way" "the outcomes are" \
	push one -- --port 3 --otherwise found=4

on "$port" "register_write tea_psn 0 50" "register_write tea_outstanding 0 2" >/dev/null
table one 10.0.0.1 '{"stash": [
	{"key": "0a000000000000000000000001", "value": "01020304050608"},
	{"key": "0b000000000000000000000001", "value": "01020304050607"}]}'
check "a stash that changes needs three steps" prints \
	"remove stash: 1 entry
change stash: 1 entry
add stash: 1 entry" eval 'push one -- --port 3 | sort -r'
check "the changed entry has its value" says "tea_stashed - 1020304050608" \
	"table_dump tea_stash"
check "a server that stays keeps its PSN" says "= 50, 0," "register_read tea_psn"
check "a server that stays keeps its outstanding requests" says "= 2, 0," \
	"register_read tea_outstanding"

table one 10.0.0.1 '{"requester": {"qpn": 18, "first_psn": 99}}'
check "a new queue pair is pushed" push one -- --port 3
check "the new queue pair begins with its first PSN" says "= 99, 0," "register_read tea_psn"
check "the server of a new queue pair expects no PSN before it" says "= 99, 0," \
	"register_read tea_proven"
check "nothing is outstanding at a new queue pair" says "= 0, 0," \
	"register_read tea_outstanding"
check "the server of the new queue pair is up" says "tea_state.0.= *0" \
	"register_read tea_state 0"
check "a stash that is empty has no entries" says " 0 " "table_num_entries tea_stash"

table two 10.0.0.2 '{"requester": {"mac": "52:54:00:00:00:02"}}'
check "a replica is added" push one two -- --port 10.0.0.1=3 --port 10.0.0.2=4
check "the replica is the second server of all shares" says "tea_assign - 0, 3, 1, 4" \
	"table_dump tea_share"
check "a push of both again changes nothing" prints "nothing to change" \
	push one two -- --port 10.0.0.1=3 --port 4
check "the first server leaves" push two -- --port 4
check "its replica keeps its number" says "tea_assign - 1, 4, 1, 4" "table_dump tea_share"
check "the server that left has no entry" says_not "a000001" "table_dump tea_from"

table half 10.0.0.1 '{"server": {"shares": [0, 511]}}'
check "shares without a server are reported" eval \
	'push half -- --port 3 2>&1 | grep -q "512 of 1024 shares of table .nat. have no server"'
check "shares without a server have no entry" says " 512 " "table_num_entries tea_share"
check "packets of an outcome go to a port" push half -- --port 3 --otherwise absent=7
check "the outcome has its entry" says "tea_to_port - 7" "table_dump tea_otherwise"
check "packets of an outcome are dropped again" push half -- --port 3
check "the outcome has no entry" says_not "tea_to_port - 7" "table_dump tea_otherwise"
on "$port" "table_add tea_cache tea_cached 5 => 6" >/dev/null
check "a push removes cached entries that nothing looks up again" \
	prints "remove cache" push half -- --port 3
on "$port" "register_write tea_state 1 2" "register_write tea_state 0 2" >/dev/null
check "a server that was left stopped is started" eval \
	'push half -- --port 3 | grep -q "^start server"'

table other 10.0.0.1 null '{"value_length": 8}'
refuse "a table of other sizes is refused with one sentence" \
	"has keys of 13 bytes, values of 8 and 8 cells in a bucket, but the program has 13, 7 and 8" \
	push other -- --port 3
refuse "two files of different tables are refused" "another geometry" \
	push one other -- --port 3
refuse "a switch that is not a requester is refused" "no requester 10.0.0.8" \
	push one -- --port 3 --requester 10.0.0.8
refuse "a server without a port is refused" "server 10.0.0.2 has no port" \
	push one two -- --port 10.0.0.1=3
refuse "a port of a server that is not there is refused" "which is not a server" \
	push one -- --port 3 --port 10.0.0.7=4
refuse "too many READs are refused" "not from 1 to 16" push one -- --port 3 --outstanding 17
refuse "an unknown outcome is refused" "the outcomes are" push one -- --port 3 --otherwise x=1
refuse "commands cannot be printed for a table" "are for files of collectors" \
	dartctl switch push --target bmv2 --program "$program" --port 3 "$directory/one"

table one 10.0.0.1 '{"requester": {"qpn": 20, "first_psn": 7}}'
# Without the function, whose shell would have the number $! and leave dartctl behind.
dartctl switch push --target bmv2 --thrift "localhost:$port" --port 3 --follow "$directory/one" \
	>"$log" 2>&1 &
follower=$!
switches="$switches $follower"
check "the follower pushes the file" soon says "tea_send_to - .*, 14, 1234," \
	"table_dump tea_server"
check "a port without a link is known to the switch" soon says "tea_port_down.3.= *1" \
	"register_read tea_port_down 3"
table one 10.0.0.1 '{"requester": {"qpn": 21, "first_psn": 8}}'
check "a new queue pair in the file reaches the switch" soon says "tea_send_to - .*, 15, 1234," \
	"table_dump tea_server"
echo '{"tables' >"$directory/one"
check "an invalid file is refused with one sentence" \
	soon logged 1 "keeps its tables: $directory/one:1: not JSON"
check "the switch keeps the last table" says "tea_send_to - .*, 15, 1234," \
	"table_dump tea_server"
table one 10.0.0.1 "$stash"
check "the next valid file reaches the switch" soon says "tea_stashed - 1020304050607" \
	"table_dump tea_stash"
kill -KILL "$switch"
wait "$switch" 2>/dev/null
check "a switch that is not running is reported" \
	soon logged 1 "cannot push to 'localhost:$port': Connection refused"
start "$port" "$program"
check "a switch that runs again gets the table" soon says " 1024 " "table_num_entries tea_share"
kill -KILL "$switch"
wait "$switch" 2>/dev/null
start "$port" "$program"
check "a switch that is restarted at once gets the table" soon says " 1024 " \
	"table_num_entries tea_share"
kill $follower
wait $follower
check "SIGTERM ends a follower" [ $? -gt 128 ]

# A publisher of digests that ends each connection; the follower connects again once a second.
cat >"$directory/publisher.py" <<'END'
import socket
import sys

server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    server.accept()[0].close()
    print("ended", file=sys.stderr, flush=True)
END
mkfifo "$directory/digests"
python3 "$directory/publisher.py" >"$directory/digests" 2>"$directory/connections" &
switches="$switches $!"
read -r digests <"$directory/digests"
has_tried() {
	[ "$(wc -l <"$directory/connections")" -ge "$1" ]
}

dartctl switch push --target bmv2 --thrift "localhost:$port" --port 3 --follow \
	--digests "tcp://127.0.0.1:$digests" "$directory/one" >"$log" 2>&1 &
follower=$!
switches="$switches $follower"
check "a follower tries to listen for digests once a second" soon has_tried 5
check "it says only once that it cannot" logged 1 "keeps its tables: the connection ended"
kill $follower
wait $follower

# The command of the operator, on this machine, where the file is.
renew="jq '.tables[0].servers[0].requesters[0].qpn += 1' $directory/one >$directory/one.new &&
	mv $directory/one.new $directory/one"
table one 10.0.0.1 '{"requester": {"qpn": 40, "first_psn": 11}}'
dartctl switch push --target bmv2 --thrift "localhost:$port" --port 3 --follow --renew "$renew" \
	"$directory/one" >"$log" 2>&1 &
follower=$!
switches="$switches $follower"
check "another follower pushes the file" soon says "tea_send_to - .*, 28, 1234," \
	"table_dump tea_server"
on "$port" "register_write tea_psn 0 3430008" "register_write tea_state 0 1" >/dev/null
check "a server that stays silent gets a new queue pair" soon says "tea_send_to - .*, 29, 1234," \
	"table_dump tea_server"
check "it is up again" soon says "tea_state.0.= *0" "register_read tea_state 0"
check "it begins with its first PSN" says "= 11, 0," "register_read tea_psn"
check "the renewal is counted" soon logged 1 "renew server 10.0.0.1, which was silent: 1 so far"
kill $follower
wait $follower
finish
