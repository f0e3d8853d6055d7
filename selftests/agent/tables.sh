#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tables of switches and their requesters are made, changed, shown and deleted; invalid
# requests and batches change nothing.
. "$(dirname "$0")/../lib.sh"

log=/run/dartd.log

# line WORDS: a request is one line
line() {
	echo "$*" | tr -d '\n\t'
}

# ask MEMBERS: sends {"request": MEMBERS} and prints the reply; fails if the reply is an error
ask() {
	request "$(line "{\"request\": $1}")" | tee /run/reply
	grep -q '"ok": *true' /run/reply
}

# has FILTER MEMBERS: the reply passes the filter
has() {
	ask "$2" >/dev/null && is_true "$1" /run/reply
}

# create NAME MEMBERS: with keys of 13 bytes and values of 7
create() {
	ask "\"table-create\", \"name\": \"$1\", \"key_length\": 13, \"value_length\": 7, $2"
}

# create_in FILE NAME MEMBERS: FILE is the member, and is sent
create_in() {
	request_with "$1" "$(line "{\"request\": \"table-create\", \"name\": \"$2\",
		\"file\": \"$1\", \"key_length\": 13, \"value_length\": 7, $3}")"
}

# named NAME FILTER: the table is such
named() {
	has "[.tables[] | select(.name == \"$1\")] | length == 1 and (.[0] | $2)" \
		'"table-list"'
}

requester() {
	ask "\"requester-$1\", \"table\": \"$2\", \"address\": \"$3\""
}

# agent_has FILTER: of the values of the entry "dartd"
agent_has() {
	dartctl -j show dartd | is_true ".values.rows[0] | $1"
}

# changes FILTER ARGUMENT...: the output of table_entries passes the filter
changes() {
	local filter=$1

	shift
	table_entries "$@" | is_true "$filter"
}

# first FIELD: of the first requester, as table-export says
first() {
	ask '"table-export", "name": "flows"' | head -n 1 |
		gojq -r ".tables[0].servers[0].requesters[0].$1"
}

# write RKEY: the switch 10.77.0.2 sends a WRITE to the scratchpad of row 0
write() {
	table_switch switch0 10.77.0.2 10.77.0.1 "$(cat /sys/class/net/eth0/address)" \
		"$(first qpn)" "$1" $(($(first base) + 400)) "$(first first_psn)"
}

# others_during VERB ADDRESS: sends requests while dartd has not answered a request about a
# requester, and prints the longest time until an answer
others_during() {
	meanwhile "{\"request\": \"requester-$1\", \"table\": \"flows\", \"address\": \"$2\"}" \
		'{"request": "status"}' >/run/others
	sed 's/.*after \([0-9]* ms\) at most.*/\1/' /run/others
}

# answered: dartd answered other requests, and then refused the request about the requester
answered() {
	cat /run/others
	grep -q "^answered [1-9].*does not answer ARP" /run/others
}

# is FILTER: the first requester of the list is such
is() {
	has ".requesters[0] | $1" '"requester-list"'
}

# cable: eth0 becomes one end of a cable; the test plays a switch at the other end, switch0
cable() {
	rdma link delete rxe0 2>/dev/null
	if [ -e /sys/class/net/eth0 ]; then
		ip link set eth0 down && ip link set eth0 name unplugged || return
	fi
	ip link add eth0 type veth peer name switch0 &&
		ip address add 10.77.0.1/24 dev eth0 && ip link set eth0 up &&
		ip link set switch0 mtu 9000 up
}

# uncable: restores eth0
uncable() {
	rdma link delete rxe0
	ip link delete eth0
	[ ! -e /sys/class/net/unplugged ] ||
		{ ip link set unplugged name eth0 && ip link set eth0 up; }
}

check "a switch is plugged in" cable
check "the agent starts" host_up
before=$(objects)

# ---- creation

check "a table of 2^10 rows can be created" create flows '"rows_log2": 10'
check "a table has 8 cells, packets of 1514 bytes and all shares by default" named flows '
	.cells == 8 and .packet_length == 1514 and .shares == [0, 1023] and
	.entries == 0 and .load == 0 and .requesters == 0 and .readers == 0'
check "a table is listed with the bytes of its copies" named flows '
	.bytes == 1024 * 400 + (128 + 7) * 24 and .view_bytes == 1024 * 2048'
refuse "a table under a name that is taken is refused" "already exists" \
	create flows '"rows_log2": 4'
while IFS='|' read -r members message; do
	refuse "a table is refused: $message" "$message" create bad "$members"
done <<END
"rows_log2": -1|rows of a table: -1 is not a number from 0 to 28
"rows_log2": 29|rows of a table: 29 is not a number from 0 to 28
"rows_log2": 4294967296|rows of a table: 4294967296 is not
"rows_log2": "4"|invalid request
"rows_log2": 4, "cells": 0|cells of a bucket: 0 is not a number from 1 to 8
"rows_log2": 4, "cells": 9|cells of a bucket: 9 is not
"rows_log2": 4, "packet_length": 63|bytes of a packet: 63 is not a number from 64
"rows_log2": 4, "packet_length": 4000|a row with its packet has more than 4096 bytes
"rows_log2": 4, "shares": [0, 1024]|the last share: 1024 is not
"rows_log2": 4, "shares": [-1, 5]|the first share: -1 is not
"rows_log2": 4, "shares": [6, 5]|the last share: 5 is not a number from 6
"rows_log2": 4, "shares": [0]|invalid request
"rows_log2": 4, "shares": [0, 1, 2]|invalid request
"rows_log2": 4, "more": 1|more.* is neither
"rows_log2": 4, "size": 1|invalid request
"rows_log2": 4, "file": "/dev/shm/absent"|a name and a descriptor
"rows_log2": 28|the table needs .* MiB of memory; only
END
refuse "a table under a name of 40 characters is refused" "at most 39" \
	create "$(printf 'n%.0s' $(seq 40))" '"rows_log2": 4'
refuse "a table under a name with a space is refused" "letters, digits" \
	create 'a b' '"rows_log2": 4'
for lengths in '65, "value_length": 7' '0, "value_length": 7' \
	'13, "value_length": 65' '13, "value_length": 0'; do
	refuse "a table with a key or value of no such length is refused: $lengths" \
		"is not a number from 1 to 64" ask '"table-create", "name": "bad",
		"rows_log2": 4, "key_length": '"$lengths"
done
check "no table that was refused is there" has '.tables | length == 1' '"table-list"'

# ---- files

mkdir -p /run/small
mount -t tmpfs -o size=1m tmpfs /run/small
: >/run/small/kept
check "a table can be created in a file" create_in /run/small/kept kept '"rows_log2": 4'
check "the file of a table has whole pages" [ "$(stat -c %s /run/small/kept)" = 8192 ]
: >/run/small/big
refuse "a table larger than the file system of its file is refused" \
	"the table needs .* of the file system" \
	create_in /run/small/big big '"rows_log2": 12'
check "the file of a refused table stays empty" [ ! -s /run/small/big ]
refuse "a file that is not on tmpfs or hugetlbfs is refused" "a table can only be in a file" \
	create_in /proc/version bad '"rows_log2": 4'
refuse "a second table in the same file is refused" "in use, perhaps by another table" \
	create_in /run/small/kept twice '"rows_log2": 4'
check "entries are inserted into a table in a file" \
	changes '.inserted == 100' insert kept 0 100 1
check "a table in a file is deleted" ask '"table-delete", "name": "kept"'
check "a table is created in the file of another, for the first half of the shares" \
	create_in /run/small/kept half '"rows_log2": 4, "shares": [0, 511]'
check "it has exactly the entries of its shares" named half '
	.entries > 20 and .entries < 80'
check "the log says how many were of other servers" logged 1 "table half has 100 entries; mended: 0 repeated, 0 torn, 0 misplaced, [2-7][0-9] of other servers, 16 rows"
check "keys of other shares are foreign, and are not inserted" changes '
	.changed + .inserted + .foreign == 100 and .inserted == 0 and .foreign > 20' \
	insert half 0 100 1
check "removals of keys of other shares are foreign, too" changes '
	.removed + .foreign == 100 and .missing == 0 and .foreign > 20' \
	remove half 0 100
check "the table in the file is deleted" ask '"table-delete", "name": "half"'
head -c 8192 /dev/urandom >/run/small/kept
check "a table is created in a file of random bytes" \
	create_in /run/small/kept random '"rows_log2": 4'
check "random bytes become no entry" named random '.entries == 0'
check "a table in a file of random bytes takes entries" \
	changes '.inserted == 100' insert random 0 100 1
check "these are found" table_entries have random 0 100 1
check "it is deleted" ask '"table-delete", "name": "random"'

# ---- changes

check "entries are inserted" changes '
	.inserted == 7000 and .changed == 0 and .full == 0 and .foreign == 0' \
	insert flows 0 7000 1
check "each of them is found in the memory of the agent" table_entries have flows 0 7000 1
check "an entry that was not inserted is not found" table_entries lack flows 7000 1000
check "a table is listed with its entries and its load" named flows '
	.entries == 7000 and .load > 0.85 and .load < 0.86 and .stashed < 700'
check "insertions of keys that are there change their entries" changes '
	.inserted == 0 and .changed == 1000' insert flows 0 1000 2
check "a changed entry has the new value" table_entries have flows 0 1000 2
check "the other entries keep the old value" table_entries have flows 1000 6000 1
check "entries are removed, and absent ones count as missing" changes '
	.removed == 500 and .missing == 500' remove flows 6500 1000
check "a removed entry is not found" table_entries lack flows 6500 500
check "too many entries do not find a place, and are counted" changes '
	.inserted + .full == 3000 and .full > 100' insert flows 10000 3000 1
check "the table has the sum of that" named flows '.full > 100 and .load < 1.13'
check "the entries of before are all there" table_entries have flows 1000 5500 1
check "entries are removed" changes '.removed + .missing == 3000' remove flows 10000 3000

# ---- hostile batches

# records OPERATION...: a record for each, of 21 bytes, to /run/batch
records() {
	local operation

	for operation; do
		printf "%b%020d" "\\x$operation" 7
	done >/run/batch
}

# batch COUNT [FILE]
batch() {
	request_with "${2-/run/batch}" "$(line "{\"request\": \"table-change\",
		\"name\": \"flows\", \"count\": $1}")"
}

entries=$(ask '"table-list"' | head -1 | gojq '.tables[] | select(.name == "flows").entries')
records 01 01 03
refuse "a batch with an unknown operation is refused" "change 2 has an unknown operation, 3" \
	batch 3
records 00
refuse "a batch with the operation 0 is refused" "change 0 has an unknown operation, 0" \
	batch 1
records 01 01
refuse "a batch that is shorter than its count is refused" \
	"42 bytes of changes, but 'count' means 63" batch 3
truncate -s 41 /run/batch
refuse "a batch whose last record is cut is refused" "41 bytes of changes" batch 2
: >/run/batch
refuse "an empty batch is refused" "0 bytes of changes" batch 1
refuse "a batch of no changes is refused" "1 to 2048" batch 0
refuse "a batch of too many changes is refused" "1 to 2048" batch 2049
refuse "a batch of a negative number of changes is refused" "1 to 2048" batch -1
refuse "a batch from a device is refused" "regular file" batch 1 /dev/zero
mkfifo /run/fifo
refuse "a batch from a pipe is refused" "regular file" batch 1 /run/fifo
refuse "a batch without its descriptor is refused" "lacks its file descriptor" \
	ask '"table-change", "name": "flows", "count": 1'
refuse "a batch for a table that does not exist is refused" "no table 'absent'" \
	request_with /run/batch '{"request": "table-change", "name": "absent", "count": 1}'
check "no refused batch has changed the table" named flows ".entries == $entries"
head -c $((21 * 2048)) /dev/zero | tr '\0' '\2' >/run/batch
check "a batch of as many changes as can be is carried out" batch 2048
check "the agent survives batches in a file that shrinks meanwhile" request_with -s \
	/run/batch '{"request": "table-change", "name": "flows", "count": 2048}' 50
check "the entries are still there" named flows ".entries == $entries"

# ---- requesters

reach 10.77.0.2
reach 10.77.0.3
ip link set eth0 mtu 1500
refuse "a requester is refused if the path MTU of the device is less than 4096" \
	"must be at least 4200 (ip link set eth0 mtu 4200" requester add flows 10.77.0.2
ip link set eth0 mtu 4200
while IFS='|' read -r address message; do
	refuse "the requester $address is refused: $message" "$message" \
		requester add flows "$address"
done <<END
fe80::1|IPv6, and requests of switches
10.77.0|not an IPv4 address
224.0.0.1|not the address of a host
127.0.0.1|not an address of RDMA device
192.0.2.1|no route to
10.77.0.99|does not answer ARP
END
longest=$(others_during add 10.77.0.98)
check "requests do not wait for a switch that does not answer, but $longest at most" answered
check "a requester can be added" requester add flows 10.77.0.2
refuse "a requester is refused if the table already has it" "already" \
	requester add flows 10.77.0.2
refuse "a requester of a table that does not exist is refused" "no table" \
	requester add absent 10.77.0.2
check "another requester can be added" requester add flows 10.77.0.3
check "a requester is listed with the state of its queue pair" has '.requesters |
	length == 2 and all(.[]; .table == "flows" and .state == "ready" and
		.first_psn == .expected_psn and .renewals == 0 and
		.bytes == 2097152)' '"requester-list", "table": "flows"'
check "a requester has an RC queue pair that is ready to receive" sh -c '
	[ "$(rdma resource show qp | grep -c "type RC state RTR")" = 2 ]'
check "the export says where each requester finds the table" has '
	.tables | length == 1 and (.[0] | .name == "flows" and .rows_log2 == 10 and
	.cells == 8 and .key_length == 13 and .value_length == 7 and
	.packet_length == 1514 and (.servers | length == 1 and (.[0] |
	.shares == [0, 1023] and .epoch > 0 and .epoch < 16777216 and
	(.requesters | length == 2 and (.[0] | .address == "10.77.0.2" and
		.server == "10.77.0.1" and .mac == "'"$(cat /sys/class/net/eth0/address)"'" and
		(.base | startswith("0x")) and .qpn > 1 and .rkey > 0) and
		.[0].rkey != .[1].rkey and .[0].base != .[1].base))))' \
	'"table-export", "name": "flows"'
check "the export has all stashed entries" has "
	.tables[0].servers[0].stash | length == $(ask '"table-list"' |
		gojq '.tables[] | select(.name == "flows").stashed') and
	all(.[]; (.key | length == 26) and (.value | length == 14))" \
	'"table-export", "name": "flows"'
check "the entry dartd has the numbers of tables and requesters" soon agent_has '
	.tables == 1 and .requesters == 2 and .requester_renewals == 0'
qpn=$(ask '"requester-list"' | head -1 | gojq '.requesters[0].qpn')
rkey=$(ask '"table-export", "name": "flows"' | head -1 | gojq '.tables[0].servers[0].requesters[0].rkey')
request '{"request": "monitor"}' >/run/monitor 2>/dev/null &
monitor=$!
soon grep -q monitor /run/monitor
check "a requester can be renewed" requester renew flows 10.77.0.2
check "it has another queue pair, and the same key" has "
	.tables[0].servers[0].requesters[0] | .qpn != $qpn and .rkey == $rkey" \
	'"table-export", "name": "flows"'
check "the renewal is counted" has '.requesters[0].renewals == 1' '"requester-list"'
check "the entry dartd counts it, too" soon agent_has '.requester_renewals == 1'
check "a monitor is told of the renewal" soon is_true -s '
	any(.event == "renewed" and .object == "requester" and .name == "10.77.0.2" and
		.table == "flows")' /run/monitor
check "a WRITE of the switch to its copy is sent" write "$(first rkey)"
check "it is taken: the next PSN is expected" soon is \
	'.state == "ready" and .expected_psn == (.first_psn + 1) % 16777216'
requester renew flows 10.77.0.2 >/dev/null
check "a WRITE of the switch with the key of another switch's copy is sent" \
	write "$(ask '"table-export", "name": "flows"' | head -n 1 |
		gojq '.tables[0].servers[0].requesters[1].rkey')"
check "its queue pair is in the error state" soon is '.state == "error"'
check "the queue pair of the other switch is ready" has \
	'.requesters[1].state == "ready"' '"requester-list"'
requester renew flows 10.77.0.2 >/dev/null
check "after it was renewed it is ready" is '.state == "ready" and
	.expected_psn == .first_psn and .renewals == 3'
check "it takes a WRITE" write "$(first rkey)"
check "the next PSN is expected" soon is \
	'.expected_psn == (.first_psn + 1) % 16777216'
ip neighbour delete 10.77.0.2 dev eth0
longest=$(others_during renew 10.77.0.2)
check "nor do they wait for one that is to be renewed, but $longest at most" answered
check "its queue pair stays" is '.state == "ready" and .renewals == 3'
reach 10.77.0.2
refuse "a requester that does not exist cannot be renewed" "no requester" \
	requester renew flows 10.77.0.9
check "entries can be inserted while there are requesters" \
	changes '.inserted == 100' insert flows 20000 100 1
check "a requester can be removed" requester remove flows 10.77.0.2
refuse "a requester that was removed cannot be removed again" "no requester" \
	requester remove flows 10.77.0.2
check "the other requester is left" has '.requesters | length == 1' '"requester-list"'

# ---- huge pages

if [ -e /proc/sys/vm/nr_hugepages ]; then
	echo 16 >/proc/sys/vm/nr_hugepages
	check "a table is created while 16 huge pages are free" \
		create huge '"rows_log2": 13'
	check "it is in huge pages" named huge .huge_pages
	check "a requester is added" requester add huge 10.77.0.2
	check "its copy is in huge pages, too" has '.requesters |
		map(select(.table == "huge")) | length == 1 and all(.[]; .huge_pages)' \
		'"requester-list"'
	check "they take 10 of them" grep -q "^HugePages_Free: *6$" /proc/meminfo
	check "the table is deleted" ask '"table-delete", "name": "huge"'
	check "a deleted table and its copies return all huge pages" \
		grep -q "^HugePages_Free: *16$" /proc/meminfo
	echo 0 >/proc/sys/vm/nr_hugepages
fi

# ---- memory

check "a table of 2^19 rows can be created" create large '"rows_log2": 19'
refuse "a requester whose copy does not fit into memory is refused" \
	"the copy for a switch needs .* MiB of memory; only" \
	requester add large 10.77.0.2
check "the table has no requester then" named large '.requesters == 0'
check "a large table can be deleted" ask '"table-delete", "name": "large"'
come_and_go() {
	local _

	for _ in 1 2 3 4 5 6 7 8 9 10; do
		create large '"rows_log2": 14' &&
			requester add large 10.77.0.2 &&
			ask '"table-delete", "name": "large"' || return
	done
}

at_first=$(available)
check "ten tables, each with a requester, take 39 MiB in turn" come_and_go
check "deleted tables return their memory" soon has_available $((at_first - 32768))

# ---- unprivileged users

chmod 666 /run/dart/dartd.sock
install -m 755 "$(command -v request)" "$(command -v request_with)" /run
unprivileged() {
	setpriv --reuid 65534 --clear-groups "$@" | tee /run/output
	grep -q '"ok": *true' /run/output
}
while read -r members; do
	refuse "only root may ask for $members" '"EPERM"' \
		unprivileged /run/request "{\"request\": $members}"
done <<END
"table-create", "name": "own", "rows_log2": 4, "key_length": 4, "value_length": 4
"table-delete", "name": "flows"
"table-export", "name": "flows"
"requester-add", "table": "flows", "address": "10.77.0.2"
"requester-remove", "table": "flows", "address": "10.77.0.3"
"requester-renew", "table": "flows", "address": "10.77.0.3"
END
records 01
chmod 666 /run/batch
refuse "only root and the user of a table may change it" '"EPERM".*user .dart-flows' \
	unprivileged /run/request_with /run/batch \
	'{"request": "table-change", "name": "flows", "count": 1}'
check "a table is created for another user" create own '"rows_log2": 4, "user": "nobody"'
check "this user may change it" unprivileged /run/request_with /run/batch \
	'{"request": "table-change", "name": "own", "count": 1}'
check "it is listed with its user" named own '.user == "nobody"'
check "it is saved with its user" sh -c 'dartctl save | grep -A 9 "name: own" | grep "user: nobody"'
check "a file with another user is not the same table" sh -c '
	dartctl save | sed "s/user: nobody/user: root/" >/run/own.yaml
	dartctl apply /run/own.yaml 2>&1 | grep "own.*exists"'
refuse "a user without a name is refused" '"EINVAL"' \
	create nobodys '"rows_log2": 4, "user": ""'
refuse "a user with a long name is refused" '"EINVAL".*1 to 32 bytes' \
	create nobodys "\"rows_log2\": 4, \"user\": \"$(printf 'u%.0s' $(seq 33))\""
check "this table is deleted" ask '"table-delete", "name": "own"'
for members in '"table-list"' '"requester-list"' '"table-open", "name": "flows"'; do
	check "every client may ask for $members" \
		unprivileged /run/request "{\"request\": $members}"
done

# ---- deletion

check "a deleted table takes its requesters with it" ask '"table-delete", "name": "flows"'
check "no requester is left" has '.requesters == []' '"requester-list"'
check "a deleted table leaves nothing of the device" [ "$(objects)" = "$before" ]
check "a monitor is told of all of these" soon is_true -s '
	any(.event == "removed" and .object == "table" and .name == "flows") and
	any(.event == "removed" and .object == "requester" and .name == "10.77.0.3")' \
	/run/monitor
refuse "a table that was deleted cannot be deleted again" "no table" \
	ask '"table-delete", "name": "flows"'
check "nothing of them is registered" has '.registrations | map(.name // "") |
	all(.[]; startswith("table") or startswith("requester") | not)' \
	'"registration-list"'
check "the agent stops" host_down
check "the switch is unplugged" uncable
kill $monitor 2>/dev/null
finish
