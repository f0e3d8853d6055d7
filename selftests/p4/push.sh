#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# dartctl switch push, checked by the state that the switch itself prints.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../bmv2.sh"

program=$tests/../.output/p4/dart.json

# silent_switch: accepts connections and never answers; prints its port
silent_switch() {
	exec python3 -c 'import signal, socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
signal.pause()'
}

# forger OLD NEW: relays one connection to the switch, with the bytes OLD replaced by
# NEW (hexadecimal digits); prints its port
forger() {
	exec python3 - "$port" "$1" "$2" <<END
import select, socket, sys
port, old, new = int(sys.argv[1]), *map(bytes.fromhex, sys.argv[2:])
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
client, switch = listener.accept()[0], socket.create_connection(
    ("127.0.0.1", port))
while True:
    for end in select.select([client, switch], [], [])[0]:
        data = end.recv(65536)
        if not data:
            sys.exit()
        if end is client:
            switch.sendall(data.replace(old, new))
        else:
            client.sendall(data)
END
}

# push_forged OLD NEW NAME [OPTION...]: pushes through a forger
push_forged() {
	forger "$1" "$2" >"$directory/pipe" &
	switches="$switches $!"
	read -r forged <"$directory/pipe"
	shift 2
	push "$@" --thrift "localhost:$forged"
}

# collector IP QPN [CHANGES]: prints an entry of a file of collectors
collector() {
	jq -n --arg ip "$1" --argjson qpn "$2" --argjson more "${3:-null}" '{
		name: "paths", reporter: "10.0.0.2", mac: "52:54:00:00:00:01",
		$ip, $qpn, rkey: 4660, base: "0x3a5f00000000", slots_log2: 10,
		value_length: 20, checksum_bits: 32, redundancy: 2,
		first_psn: 5} + $more'
}

# file NAME ENTRY...: writes a file of collectors
file() {
	path=$directory/$1
	shift
	printf '%s\n' "$@" | jq -s '{dart_collectors: 1, collectors: .}' \
		>"$path"
}

# push NAME [OPTION...]: pushes that file
push() {
	path=$directory/$1
	shift
	dartctl switch push --target bmv2 --thrift "localhost:$port" "$@" \
		"$path"
}

# commands PROGRAM [OPTION...]: prints commands equivalent to a push of "two"
commands() {
	path=$1
	shift
	dartctl switch push --target bmv2 --program "$path" --port 3 "$@" \
		"$directory/two"
}

push_by_pipe() {
	dartctl switch push --target bmv2 --thrift "localhost:$port" "$@" - \
		<"$directory/two"
}

push_as_json() {
	push "$@" -j | jq -c .
}

# state: prints all that a push may change, and its neighbours
state() {
	on "$port" "table_dump dart_share" "table_dump dart_collector" \
		"table_dump dart_reporter" "table_dump forward" \
		"register_read dart_psn" "mirroring_get 4" "mirroring_get 5" \
		"mirroring_get 9"
}

# says TEXT COMMAND: does the answer of the switch contain TEXT?
says() {
	on "$port" "$2" | grep -q -e "$1"
}

says_not() {
	! says "$@"
}

# entries TABLE COUNT: does the table contain COUNT entries?
entries() {
	[ "$(on "$port" "table_num_entries $1" | grep -c -w -e "$2")" = 1 ]
}

# prints TEXT COMMAND...: does it print exactly TEXT?
prints() {
	text=$1
	shift
	"$@" >"$directory/printed" || return
	printf '%s\n' "$text" | diff - "$directory/printed"
}

# lacks PATTERN FILE: does no line match?
lacks() {
	! grep -i -e "$1" "$2"
}

# is_unchanged: is the state that in "before"?
is_unchanged() {
	state >"$directory/after"
	diff "$directory/before" "$directory/after"
}

first=$(collector 10.0.0.1 17)
second=$(collector 10.0.0.3 18)
file two "$first" "$second"
port=$("$tests/free_ports")
start "$port" "$program"

mkfifo "$directory/pipe"
silent_switch >"$directory/pipe" &
switches="$switches $!"
read -r silent <"$directory/pipe"
push two --port 3 --thrift "localhost:$silent" >"$directory/silence" 2>&1 &
silence=$!

# ---- refused pushes

on "$port" "mirroring_add 9 1" \
	"table_add forward forward_to 02:00:00:00:00:09 => 1" >/dev/null
state >"$directory/before"
file bytes "$(collector 10.0.0.1 17 '{"value_length": 8}')"
file bits "$first" "$(collector 10.0.0.3 18 '{"checksum_bits": 64}')"
file reporters "$first" "$(collector 10.0.0.3 18 '{"reporter": "10.0.0.7"}')"
file none
# shellcheck disable=SC2046 # words
jq -n '{dart_collectors: 1, collectors: [range(65) as $i | $line |
	.qpn += $i]}' --argjson line "$first" >"$directory/65"
jq '.collectors |= .[:64]' "$directory/65" >"$directory/64"

refuse "a value length that is not a path's is refused" "values of 8 bytes" push bytes --port 3
refuse "collectors with different checksum widths are refused" \
	"another value_length or checksum_bits" \
	push bits --port 3
refuse "more collectors than a switch can hold are refused" \
	"65 collectors, but a switch has room for 64" push 65 --port 3
refuse "collectors of two reporters are refused" "another reporter than those before" \
	push reporters --port 3
refuse "a file without collectors is refused" \
	"no collector takes reports from" push none --port 3
refuse "a file that does not exist is refused" \
	"cannot open .*absent" push absent --port 3
refuse "a collector without a port is refused" \
	"collector 10.0.0.3 has no port" \
	push two --port 10.0.0.1=3
refuse "a port of an unknown collector is refused" "port names 10.0.0.9" \
	push two --port 3 --port 10.0.0.9=3
refuse "the port that drops packets, 511, is refused" \
	"'511' is not a port" push two --port 511
refuse "two ports for all collectors are refused" \
	"has a port already" push two --port 3 --port 4
refuse "a port of a collector without an IPv4 address is refused" \
	"'a=3' is not ADDRESS=PORT" \
	push two --port a=3
refuse "an unknown target is refused" "no target 'tna'" push two --port 3 --target tna
refuse "a push without a target is refused" "needs --target" \
	dartctl switch push --thrift localhost:1 "$directory/two"
refuse "a push without a switch and without a program is refused" \
	"needs --thrift, or --program" \
	dartctl switch push --target bmv2 --port 3 "$directory/two"
refuse "a push with both a switch and a program is refused" \
	"needs --thrift, or --program" \
	push two --port 3 --program "$program"
refuse "an address of a switch without a port is refused" \
	"'localhost' is not HOST:PORT" \
	push two --port 3 --thrift localhost
refuse "a push to a port without a listener fails" \
	"cannot push to 'localhost:[0-9]*': Connection refused" \
	push two --port 3 --thrift "localhost:$("$tests/free_ports")"
check "a refused push changes nothing in the switch" is_unchanged

# ---- pushes, and the state of the switch

prints_two="change psn 0: 5
add collector 0: mac 52:54:00:00:00:01, ip 10.0.0.1, qpn 17, rkey 4660, base 0x3a5f00000000, mask 0x3ff, redundancy 2
change psn 1: 5
add collector 1: mac 52:54:00:00:00:01, ip 10.0.0.3, qpn 18, rkey 4660, base 0x3a5f00000000, mask 0x3ff, redundancy 2
add session 4: port 3
add session 5: port 4
add reporter: mac 02:00:0a:00:00:02, ip 10.0.0.2, checksum_bytes 4, all_copies 0
add share 0-511: collector 0, session 4
add share 512-1023: collector 1, session 5"

check "a dry run prints the changes that a push would make" prints "$prints_two" \
	push two --port 3 --port 10.0.0.3=4 --dry-run
check "a dry run changes nothing in the switch" is_unchanged
check "a push prints and makes the same changes" prints "$prints_two" \
	push two --port 3 --port 10.0.0.3=4
check "after a push the switch has all shares" entries dart_share 1024
check "share 511 belongs to the first collector" \
	says "dart_assign - 00, 04" "table_dump_entry_from_key dart_share 511"
check "share 512 belongs to the second collector" \
	says "dart_assign - 01, 05" "table_dump_entry_from_key dart_share 512"
check "the second collector has the members in the file" says \
	"- 525400000001, 0a000003, 12, 1234, 3a5f00000000, 03ff, 02" \
	"table_dump_entry_from_key dart_collector 1"
check "the switch has the addresses of the reporter" \
	says "dart_report_from - 02000a000002, 0a000002, 04, 00" \
	"table_dump dart_reporter"
check "the mirroring session leads to the port" says "port=3" "mirroring_get 4"
check "the PSNs are the first PSNs in the file" \
	says "= 5, 5, 0," "register_read dart_psn"
check "a push keeps entries of other tables" entries forward 1
check "a push keeps other mirroring sessions" says "port=1" "mirroring_get 9"

# As if the switch had sent reports.
on "$port" "register_write dart_psn 0 77" "register_write dart_psn 1 78" \
	>/dev/null
state >"$directory/before"
check "a second push of the same file finds nothing to change" \
	prints "nothing to change" \
	push two --port 3 --port 10.0.0.3=4
check "a push of the same collectors by a pipe finds nothing to change" \
	prints "nothing to change" \
	push_by_pipe --port 3 --port 10.0.0.3=4
check "a push without changes keeps PSNs and entries" is_unchanged

# ---- changes

file two "$(collector 10.0.0.1 17 '{"rkey": 9}')" "$second"
check "a new rkey changes the collector in one step, while reports go on" \
	prints "change collector 0: mac 52:54:00:00:00:01, ip 10.0.0.1, qpn 17, rkey 9, base 0x3a5f00000000, mask 0x3ff, redundancy 2" push two --port 3 --port 10.0.0.3=4
check "a new rkey keeps the PSN of the queue pair" \
	says "= 77, 78, 0," "register_read dart_psn"
file two "$second" "$(collector 10.0.0.1 19 '{"rkey": 9}')"
check "a new queue pair can be pushed" push two --port 3 --port 10.0.0.3=4
check "a new queue pair begins with its first PSN, and others keep theirs" \
	says "= 77, 78, 5, 0," "register_read dart_psn"
check "the collector with the new queue pair has an unused number" \
	says "0a000001, 13," "table_dump_entry_from_key dart_collector 2"
check "collectors in another order keep their numbers" \
	says "dart_assign - 01, 05" "table_dump_entry_from_key dart_share 0"

file one "$(collector 10.0.0.4 20)"
check "a file with another collector can be pushed" push one --port 4
check "collectors that are not in the file are removed from the table" \
	entries dart_collector 1
check "the new collector has an unused number" \
	says "0a000004" "table_dump_entry_from_key dart_collector 0"
check "--all-copies changes only the reporter" \
	prints "change reporter: mac 02:00:0a:00:00:02, ip 10.0.0.2, checksum_bytes 4, all_copies 1" \
	push one --port 4 --all-copies
check "a push without --all-copies changes it back, and -j prints JSON" \
	prints '[{"verb":"change","object":"reporter","first":0,"last":0,"mac":"02:00:0a:00:00:02","ip":"10.0.0.2","checksum_bytes":4,"all_copies":0}]' \
	push_as_json one --port 4

file shares "$(collector 10.0.0.4 20 '{"shares": "0-9,20"}')"
on "$port" "table_add dart_collector dart_send_to 200 => \
02:00:00:00:00:09 10.0.0.9 9 9 9 9 1" "mirroring_add_mc 5 1" >/dev/null
check "a push removes foreign collectors, shares and multicast groups" \
	prints "remove share 10-19
remove share 21-1023
remove collector 200
change session 5: port 4" push shares --port 4
check "only the shares in the file are left" entries dart_share 11
check "the mirroring session leads to a port again, not to a multicast group" \
	says "port=4" "mirroring_get 5"

check "64 collectors can be pushed" push 64 --port 3
check "the switch has all 64 collectors" entries dart_collector 64
check "the last collector takes a number used before, because no other is unused" \
	says "dart_assign - 00, 04" "table_dump_entry_from_key dart_share 1023"

# ---- commands

port=$("$tests/free_ports")
start "$port" "$program"
commands "$program" --port 10.0.0.3=4 >"$directory/commands"
simple_switch_CLI --thrift-port "$port" <"$directory/commands" \
	>"$directory/printed" 2>&1
check "simple_switch_CLI accepts all printed commands" lacks \
	"error\|invalid\|unknown" "$directory/printed"
check "after the commands a push finds nothing to change" prints "nothing to change" \
	push two --port 3 --port 10.0.0.3=4
simple_switch_CLI --thrift-port "$port" <"$directory/commands" \
	>"$directory/printed"
check "after the same commands again a push finds nothing to change" \
	prints "nothing to change" push two --port 3 --port 10.0.0.3=4

# polynomials_agree: do the commands set the polynomials of the golden vectors?
polynomials_agree() {
	PYTHONPATH=$tests/vectors python3 - "$program" "$directory/commands" <<END
import json, re, sys
import generate
purposes = {f"slot{n}": crc for n, crc in enumerate(generate.SLOTS)}
purposes |= {f"checksum{n}": crc for n, crc in enumerate(generate.CHECKSUMS)}
purposes["share"] = generate.SHARE
wanted = {}
with open(sys.argv[1]) as file:
    actions = json.load(file)["actions"]
for primitive in (p for action in actions for p in action["primitives"]):
    if primitive["op"] == "modify_field_with_hash_based_offset":
        field, _, name, _ = (p["value"] for p in primitive["parameters"])
        purpose = re.search(r"_(slot\d|checksum\d|share)(_\d+)?$", field[-1])
        if purpose:
            wanted[name] = purposes[purpose[1]]
with open(sys.argv[2]) as file:
    words = [line.split() for line in file]
found = {line[1]: int(line[2], 0) for line in words
         if line[0] == "set_crc32_parameters"
         and line[3:] == ["0xffffffff", "0xffffffff", "true", "true"]}
assert found == wanted and len(set(found.values())) == 11, (found, wanted)
END
}
check "each hash in the commands has the polynomial of its purpose" polynomials_agree

# ---- a switch that does not follow

file two "$(collector 10.0.0.1 17 '{"rkey": 7}')" "$second"
refuse "a push notices an address in the table that it did not write" \
	"it does not have what it was told (left to do: remove share 0-511) (it is partly changed: push again)" \
	push_forged 0a000001 0a000063 two --port 3 --port 10.0.0.3=4
check "the next push corrects the address" push two --port 3 --port 10.0.0.3=4
file two "$(collector 10.0.0.1 16 '{"first_psn": 1193046}')" "$second"
refuse "a push notices a PSN in the register that it did not write" \
	"dart_psn\[2\] is 1193047, not 1193046" \
	push_forged 0000000000123456 0000000000123457 two --port 3 \
	--port 10.0.0.3=4
check "a collector is not added before its PSN is right" entries dart_collector 2
check "the next push corrects the PSN" push two --port 3 --port 10.0.0.3=4
refuse "a switch that disconnects is reported" \
	"it does not speak Thrift\|it has disconnected" \
	push_forged 80010001 00000000 two --port 3 --port 10.0.0.3=4

# ---- other programs

other=$("$tests/free_ports")
sed 's/"dart_share"/"other_share"/; s/"dart_psn"/"other_psn"/' "$program" \
	>"$directory/other.json"
refuse "a program without DART's tables and registers is refused with their names" \
	"cannot use .*: the program has no table dart_share, register dart_psn" \
	commands "$directory/other.json"
start "$other" "$directory/other.json"
refuse "a switch that runs such a program is refused" "no table dart_share" \
	push two --port 3 --thrift "localhost:$other"
refuse "a program that cannot be read is refused" "cannot read .*two.no" \
	commands "$directory/two.no"

wait "$silence"
check "a push to a switch that never answers ends with a message" grep -q \
	"^dartctl: cannot push to 'localhost:[0-9]*': it does not answer in time$" \
	"$directory/silence"
finish
