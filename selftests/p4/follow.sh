#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl switch push --follow takes new collectors over to a running switch.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../bmv2.sh"

program=$tests/../.output/p4/dart.json
file=$directory/paths.json
log=$directory/follow.log
port=$("$tests/free_ports")

# collector [CHANGES]: replaces the last file by a file with one collector
collector() {
	jq -n --argjson more "${1:-null}" '{dart_collectors: 1, collectors: [{
		name: "paths", reporter: "10.0.0.2", mac: "52:54:00:00:00:01",
		ip: "10.0.0.1", qpn: 17, rkey: 4660, base: "0x3a5f00000000",
		slots_log2: 10, value_length: 20, checksum_bits: 32,
		redundancy: 2, first_psn: 5, epoch: 1000} + $more]}' \
		>"$file.new" && mv "$file.new" "$file"
}

# says TEXT COMMAND: does the answer of the switch contain TEXT?
says() {
	on "$port" "$2" | grep -q -e "$1"
}

# sends_to HEX_QPN HEX_RKEY: is that the only collector of the switch, of all shares?
sends_to() {
	on "$port" "table_dump dart_collector" >"$directory/dump"
	[ "$(grep -c "dart_send_to - " "$directory/dump")" = 1 ] &&
		grep "dart_send_to - .* $1, $2," "$directory/dump" &&
		[ "$(on "$port" "table_num_entries dart_share" | grep -c -w 1024)" = 1 ]
}

follow() {
	dartctl switch push --target bmv2 --thrift "localhost:$port" --port 3 \
		--follow "$@"
}

refuse "a follower of the standard input is refused" "not the standard input" follow -
refuse "a follower that prints commands is refused" "--follow needs --thrift" \
	dartctl switch push --target bmv2 --program "$program" --port 3 --follow "$file"
refuse "a follower that changes nothing is refused" "takes no --dry-run" \
	follow --dry-run "$file"

start "$port" "$program"
# Without the function, whose shell would have the number $! and leave dartctl behind.
dartctl switch push --target bmv2 --thrift "localhost:$port" --port 3 --follow "$file" \
	>"$log" 2>&1 &
follower=$!
switches="$switches $follower"
check "a follower waits for a file that does not exist, and says so" \
	soon logged 1 "waits: cannot open $file"
collector
check "the follower pushes the file when it appears" soon sends_to 11 1234
on "$port" "register_write dart_psn 0 77" "table_add forward forward_to 02:00:00:00:00:09 => 1" \
	>/dev/null
shares=$(grep -c "share" "$log")

collector '{"qpn": 18, "rkey": 4661, "epoch": 1001, "first_psn": 9}'
check "a new queue pair and key in the file reach the switch" soon sends_to 12 1235
check "the new queue pair begins with its first PSN" \
	says "= 77, 9," "register_read dart_psn"
check "a follower keeps entries of other tables" says "forward_to" "table_dump forward"
check "the change of the shares is printed" [ "$(grep -c "share" "$log")" -gt "$shares" ]

echo '{"dart' >"$file"
check "an invalid file is refused with one sentence" \
	soon logged 1 "'localhost:$port' keeps its collectors: $file:1: not JSON"
collector '{"slots_log2": 11, "epoch": 1002}'
check "a store with another geometry is refused with one sentence" \
	soon logged 1 "store 'paths' has another name or geometry"
collector '{"name": "other", "epoch": 1003}'
check "the switch keeps the last collectors" sends_to 12 1235
collector '{"qpn": 19, "rkey": 4662, "epoch": 1004}'
check "the next valid file reaches the switch" soon sends_to 13 1236
check "each refusal was said once" logged 1 "has another name or geometry"

kill -KILL "$switch"
wait "$switch" 2>/dev/null
collector '{"qpn": 20, "rkey": 4663, "epoch": 1005}'
check "a switch that is not running is reported" \
	soon logged 1 "cannot push to 'localhost:$port': Connection refused"
start "$port" "$program"
check "a switch that runs again gets the collectors" soon sends_to 14 1237
kill -KILL "$switch"
wait "$switch" 2>/dev/null
start "$port" "$program"
check "a switch that is restarted gets them again, without a change of the file" \
	soon sends_to 14 1237
kill $follower
wait $follower
check "SIGTERM ends a follower" [ $? -gt 128 ]
cat >"$directory/as_service" <<END
echo \$\$ >"$directory/pid"
exec dartctl switch push --target bmv2 --thrift "localhost:$port" --port 3 --follow "$file"
END
check "the service manager is notified of the first push" until_ready "$log" \
	sh "$directory/as_service"
kill "$(cat "$directory/pid")"
finish
