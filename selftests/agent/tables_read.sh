#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Readers of tables connect over RDMA, find all entries, do not make the agent run, and are
# listed and disconnected; the configuration makes tables and says who may read them.
. "$(dirname "$0")/../lib.sh"

log=/run/dartd.log
file=/run/agent.yaml

# ask MEMBERS: sends {"request": MEMBERS} and prints the reply; fails if the reply is an error
ask() {
	request "{\"request\": $1}" | tee /run/reply
	grep -q '"ok": *true' /run/reply
}

# has FILTER MEMBERS: the reply passes the filter
has() {
	ask "$2" >/dev/null && is_true "$1" /run/reply
}

# tables FILTER: the list of tables is such
tables() {
	has ".tables | $1" '"table-list"'
}

# configure READERS LINE...
configure() {
	printf '%s\n' "allow: {readers: $1}" "${@:2}" >$file
}

reload() {
	kill -HUP "$(pidof dartd)"
}

# agent_has FILTER: of the values of the entry "dartd"
agent_has() {
	dartctl -j show dartd | is_true ".values.rows[0] | $1"
}

# read_all [ARGUMENT...]: a reader of all entries, once
read_all() {
	table_reader 10.77.0.1 "$@" </dev/null
}

# switches: context switches of the agent, one each time that it slept
switches() {
	awk '/^voluntary_ctxt_switches/ { print $2 }' "/proc/$(pidof dartd)/status"
}

# lines COUNT: the reader printed COUNT lines
lines() {
	[ "$(wc -l </run/found)" -ge "$1" ]
}

modprobe dart_zero
rdma_up
ip address show dev eth0 | grep -q 10.77.0.1 ||
	ip address add 10.77.0.1/24 dev eth0
ip link set eth0 mtu 4200
ip neighbour replace 10.77.0.2 lladdr 02:00:00:00:00:01 dev eth0
flows='{name: flows, rows: 2^12, key: 13, value: 7, requesters: [10.77.0.2]}'
configure '[]' "tables: [$flows]"
check "the agent starts with a table in its configuration" host_up --config=$file
check "the table and its requester are there" tables '
	length == 1 and (.[0] | .name == "flows" and .rows_log2 == 12 and
	.requesters == 1)'
check "both are registered by the configuration" has '.registrations | map(select(
	.name == "table flows" or .name == "requester flows 10.77.0.2") |
	select(.origin == "configuration" and .missing == null)) | length == 2' \
	'"registration-list"'
check "entries are inserted" table_entries insert flows 0 25000 1
refuse "a reader whose address is not in the list is refused" \
	"its address is not in allow: readers" read_all flows 0 1 1
check "the refusal is counted" soon agent_has '.rejected_not_allowed == 1'
configure '[10.77.0.0/24]' "tables: [$flows]"
reload
check "a reader that a reload allows finds all entries" \
	soon read_all flows 0 25000 1
check "the entries are still there after the reload" tables '.[0].entries == 25000'
refuse "a reader of a table that does not exist is refused" "there is no table 'absent'" \
	read_all absent 0 1 1
check "an entry that is not there is not found" sh -c '
	table_reader 10.77.0.1 flows 25000 100 1 </dev/null | grep -q "^100 of 100"'

# ---- a reader that stays

mkfifo /run/lines
table_reader 10.77.0.1 flows 0 25000 1 </run/lines >/run/found 2>/run/reader.log &
reader=$!
exec 7>/run/lines
check "a reader is connected" soon lines 1
check "it is listed as a table reader, with its table" has '.controllers |
	length == 1 and (.[0] | .kind == "table reader" and .table == "flows" and
	(has("store") | not) and (.peer | startswith("10.77.0.1:")))' '"controller-list"'
check "the table has it" tables '.[0].readers == 1'
check "the entry dartd has it" soon agent_has '.table_readers == 1 and
	.table_readers_total > 1 and .readers == 0'
before=$(switches)
echo >&7
soon lines 2
after=$(switches)
check "25,000 lookups do not wake the agent" [ "$after" = "$before" ]
table_entries insert flows 100000 1000 1 >/dev/null
echo >&7
check "a reader finds all entries after others were inserted" soon lines 3
peer=$(ask '"controller-list"' | head -n 1 | gojq -r '.controllers[0].peer')
check "a reader can be disconnected by its address" \
	ask "\"controller-disconnect\", \"peer\": \"$peer\""
echo >&7
wait $reader
status=$?
check "a reader that was disconnected fails" [ $status -eq 1 ]
exec 7>&-

# ---- the configuration

table_reader 10.77.0.1 flows 0 25000 1 </run/lines >/run/found 2>/run/reader.log &
reader=$!
exec 7>/run/lines
check "another reader is connected" soon lines 1
configure '[10.77.0.0/24]' "tables: [{name: other, rows: 2, key: 4, value: 4}]"
reload
check "a table that the configuration no longer has is deleted" soon tables '
	length == 1 and .[0].name == "other"'
check "its requester has gone with it" has '.requesters == []' '"requester-list"'
check "its reader is disconnected, and the log says why" logged 1 \
	"table reader 10.77.0.1:.* disconnected: its table was deleted"
echo >&7
wait $reader
status=$?
check "a reader of a deleted table fails" [ $status -eq 1 ]
exec 7>&-
check "the registrations equal the configuration" has '.registrations |
	map(.name // "" | select(test("^(table|requester) "))) == ["table other"]' \
	'"registration-list"'
check "dartctl save prints the table as a configuration" sh -c '
	dartctl save | tee /dev/stderr | grep -q "  - name: other"'
configure '[10.77.0.0/24]' "tables: [{name: other, rows: 2, key: 4, value: 4}]" \
	"port: 4800x"
reload
soon grep -q "the configuration was not reloaded" $log
check "an invalid configuration changes no table" tables 'length == 1'
check "the agent stops" host_down
finish
