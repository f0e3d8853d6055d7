#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Lookup tables keep their entries over a crash in the middle of changes and over a restart of the
# agent, which hands their memory to the service manager, or keeps it in a file.
. "$(dirname "$0")/../lib.sh"

log=/run/dartd.log

# up [OPTION...]: starts dartd under a service manager with these options
up() {
	rm -rf /var/lib/dart
	modprobe dart_zero && rdma_up && ip link set eth0 mtu 4200 &&
		until_ready "$log" service_manager "$@" dartd
}

# answers OLD: another dartd than the process OLD does
answers() {
	[ "$(pidof dartd)" != "$1" ] && dartctl status >/dev/null 2>&1
}

# again SIGNAL PROGRAM [COMMAND...]: runs COMMAND, and waits until dartd answers after
# this signal
again() {
	local old

	old=$(pidof dartd)
	"${@:3}"
	pkill "-$1" -x "$2"
	soon answers "$old"
}

# line WORDS: a request is one line
line() {
	echo "$*" | tr -d '\n\t'
}

# ask MEMBERS: sends {"request": MEMBERS} and prints the reply; fails if the reply is an error
ask() {
	request "$(line "{\"request\": $1}")" | tee /run/reply
	grep -q '"ok": *true' /run/reply
}

# create NAME MEMBERS
create() {
	ask "\"table-create\", \"name\": \"$1\", \"key_length\": 13, \"value_length\": 7, $2"
}

# table NAME FIELD
table() {
	ask '"table-list"' >/dev/null &&
		gojq ".tables[] | select(.name == \"$1\") | $2" /run/reply
}

# exported FIELD: of the first requester
exported() {
	ask '"table-export", "name": "flows"' >/dev/null &&
		gojq ".tables[0].servers[0].requesters[0].$1" /run/reply
}

requester() {
	ask "\"requester-$1\", \"table\": \"$2\", \"address\": \"$3\""
}

check "the agent starts under a service manager" up
for address in 10.77.0.2 10.77.0.3; do
	ip neighbour replace "$address" lladdr 02:00:00:00:00:01 dev eth0
done
check "a table is created" create flows '"rows_log2": 15'
check "a requester is added" requester add flows 10.77.0.2
check "the table's memory is in the hands of the service manager" \
	logged 1 "^stored table-flows,15,8,13,7,0-1023$"
check "entries are inserted" table_entries insert flows 0 20000 1
epoch=$(table flows .epoch)
rkey=$(exported rkey)
check "the epoch of a table has 24 bits" [ "$epoch" -gt 0 -a "$epoch" -lt 16777216 ]

asked=$(grep -c "^more time$" $log)
check "the agent is killed and starts again" again KILL dartd
check "it asks the service manager for more time where a table and its copy may be large" \
	[ "$(grep -c "^more time$" $log)" -ge $((asked + 6)) ]
check "after a crash the table has its entries" table_entries have flows 0 20000 1
check "after a crash it has no further entries" [ "$(table flows .entries)" = 20000 ]
check "the table's memory is not stored twice" logged 1 "^stored table-flows"
check "the log says that the entries are in the table" \
	logged 1 "created table flows: .* with the entries in it"
check "the log lists the repairs" logged 1 \
	"table flows has 20000 entries; mended: 0 repeated, 0 torn, 0 misplaced, 0 of other servers, 32768 rows"
again_epoch=$(table flows .epoch)
check "the table has another epoch" [ "$again_epoch" != "$epoch" ]
check "its requester is back" [ "$(table flows .requesters)" = 1 ]
check "the requester's copy has another key" [ "$(exported rkey)" != "$rkey" ]
check "the service manager restarts the agent" again HUP service_manager
check "after a restart the table has its entries" table_entries have flows 0 20000 1
check "after a restart it has a third epoch" sh -c \
	"[ $(table flows .epoch) != $epoch ] && [ $(table flows .epoch) != $again_epoch ]"

# ---- no crash loses an entry whose insertion dartd acknowledged

first=100000
for batch in 1 7 100 500 2048; do
	old=$(pidof dartd)
	acknowledged=$(table_entries stream flows $first $batch 3 "$old")
	check "the agent starts again" soon answers "$old"
	check "the agent was killed in a stream of batches of $batch changes" \
		[ "$acknowledged" -gt 0 ]
	check "each of $acknowledged entries that were answered is there" \
		table_entries have flows $first "$acknowledged" 3
	check "so are the earlier entries" table_entries have flows 0 20000 1
	table_entries remove flows $first $((acknowledged + batch)) >/dev/null
	first=$((first + 1000000))
done
check "all others could be removed" [ "$(table flows .entries)" = 20000 ]

# ---- deletion, and a table that is not created as it was

check "the agent is killed, and starts again without its state" \
	again KILL dartd rm -r /var/lib/dart
check "the log names the table whose memory is kept" \
	logged 1 "the memory of table flows is kept, but the table is not registered"
check "the table is created again" create flows '"rows_log2": 15'
check "it has the entries that were kept" table_entries have flows 0 20000 1
check "the agent is killed, and starts again without its state" \
	again KILL dartd rm -r /var/lib/dart
check "a table of the same name for other shares can be created" \
	create flows '"rows_log2": 15, "shares": [0, 511]'
check "it drops the memory with the old shares" \
	logged 1 "^removed table-flows,15,8,13,7,0-1023: 1$"
check "it is empty" [ "$(table flows .entries)" = 0 ]
check "the table is deleted" ask '"table-delete", "name": "flows"'
check "the service manager forgets the memory of a deleted table" \
	logged 1 '^removed table-flows,15,8,13,7,0-511: 1$'
check "a table is created" create other '"rows_log2": 4'
check "the agent is killed, and starts again without its state" \
	again KILL dartd rm -r /var/lib/dart
check "the memory of a table that does not exist can be deleted" \
	ask '"table-delete", "name": "other"'
check "the agent stops" host_down

# ---- hostile descriptors

rm -f $log
truncate -s 384 /run/short
truncate -s 8192 /dev/shm/file
check "the agent starts with damaged descriptors of tables" up \
	-d "table-short,4,8,13,7,0-1023=/run/short" \
	-d "table-file,4,8,13,7,0-1023=/dev/shm/file" \
	-d "table-zero,4,8,13,7,0-1023=/dev/zero"
for table in short file zero; do
	check "a table does not use a descriptor of other memory: $table" \
		create $table '"rows_log2": 4'
	check "the new memory of the table is kept instead: $table" \
		logged 1 "^stored table-$table,4,8,13,7,0-1023$"
done
check "the agent stops" host_down

# ---- a file, without a service manager

rm -f $log
check "the agent starts without a service manager" host_up
ip link set eth0 mtu 4200
: >/dev/shm/table
check "a table is created in a file" request_with /dev/shm/table "$(line '{"request":
	"table-create", "name": "filed", "file": "/dev/shm/table", "rows_log2": 12,
	"key_length": 13, "value_length": 7, "path": "/dev/shm/table"}')"
check "entries are inserted" table_entries insert filed 0 20000 1
check "a requester is added" requester add filed 10.77.0.3
check "a table without a file is created" create empty '"rows_log2": 4'
check "entries are inserted there" table_entries insert empty 0 50 1
check "the log says once that tables without a file do not last" \
	logged 1 "tables without a file are empty after a restart of dartd"
check "the agent is killed" host_down KILL
check "the agent starts again, with its registrations" host_up again
check "the table in the file has its entries" table_entries have filed 0 20000 1
check "it has its requester" [ "$(table filed .requesters)" = 1 ]
check "the other table is empty" [ "$(table empty .entries)" = 0 ]
check "the table is deleted" ask '"table-delete", "name": "filed"'
check "its file is left" [ -s /dev/shm/table ]
check "the agent stops" host_down
finish
