#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A file of tables follows its table, and requesters whose queue pairs failed are renewed.
. "$(dirname "$0")/../lib.sh"

file=/run/tables/flows.json
log=/run/watch.log
mkdir /run/tables

# holds FILTER: is that true for the file?
holds() {
	gojq -e "$1" "$file"
}

says() {
	grep -e "$1" "$log"
}

# first FIELD: of the first requester in the file
first() {
	gojq -r ".tables[0].servers[0].requesters[0].$1" "$file"
}

# write RKEY: the switch 10.77.0.2 sends a WRITE to the scratchpad of row 0
write() {
	table_switch switch0 10.77.0.2 10.77.0.1 "$(cat /sys/class/net/eth0/address)" \
		"$(first qpn)" "$1" $(($(first base) + 400)) "$(first first_psn)"
}

# shellcheck disable=SC2016 # $file is of jq
is_exported() {
	dartctl table export flows | is_true --slurpfile file "$file" '. == $file[0]'
}

# ends SIGNAL: does the signal end the watch?
ends() {
	kill "-$1" "$watch"
	wait "$watch"
	[ $? -gt 128 ]
}

# The other end of the cable, where the test plays a switch, replaces the interface that
# tests of one machine use.
if ! ip link show eth0 >/dev/null 2>&1 || ip -d link show eth0 | grep -q " dummy "; then
	rdma link delete rxe0 2>/dev/null
	ip link delete eth0 2>/dev/null
	ip link add eth0 type veth peer name switch0
	ip address add 10.77.0.1/24 dev eth0
	ip link set eth0 up
	ip link set switch0 mtu 9000 up
fi
ip link set eth0 mtu 4200

dartctl table export flows --watch "$file" 2>$log &
watch=$!
check "a watch waits for an agent that is not running, and says so" \
	soon says "'$file' waits: cannot reach dartd"
check "the agent starts" host_up
ip address show dev eth0 | grep -q 10.77.0.1 ||
	ip address add 10.77.0.1/24 dev eth0
reach 10.77.0.2
reach 10.77.0.3
check "a watch waits for the table, and says so" \
	soon says "'$file' waits: there is no table 'flows'\|no table 'flows'"
check "the table is created" dartctl table create flows --rows 2^4 --key 13 --value 7
check "the watch writes a table without requesters" \
	soon holds '.tables[0].servers[0].requesters == []'
check "a requester is added" dartctl requester add flows 10.77.0.2
check "the watch adds it" soon holds '.tables[0].servers[0].requesters | length == 1'
check "the file is that of table export" is_exported
check "only its owner may read the file" [ "$(stat -c %a "$file")" = 600 ]
table_entries insert flows 0 140 1 >/run/changes
stashed=$(gojq .stashed /run/changes)
check "entries are stashed" [ "$stashed" -gt 0 ]
check "the watch writes the stash" soon holds ".tables[0].servers[0].stash | length == $stashed"
check "the entries are removed" table_entries remove flows 0 140
check "the watch writes the empty stash" soon holds '.tables[0].servers[0].stash == []'

written=$(stat -c %i "$file")
check "another table is created" dartctl table create other --rows 2^4 --key 13 --value 7
check "a requester of this table is renewed" dartctl requester renew flows 10.77.0.2
check "the watch replaces the file" soon sh -c "[ \"\$(stat -c %i $file)\" != $written ]"
check "the file is up to date" soon is_exported
if [ -e /sys/class/net/switch0 ]; then
	qpn=$(first qpn)
	check "a WRITE with a wrong key is sent" write 1
	check "the watch renews the queue pair, which failed" soon holds \
		".tables[0].servers[0].requesters[0].qpn != $qpn"
	check "the new queue pair is ready" soon sh -c \
		"dartctl -j requester list flows | gojq -e '.[0].state == \"ready\"'"
fi

check "the table is deleted" dartctl table delete flows
check "the watch says so" soon says "no table 'flows'"
check "the file stays as it was" holds '.tables[0].servers[0].requesters | length == 1'
check "SIGTERM ends a watch" ends TERM
refuse "a file in a directory that does not exist is refused" \
	"cannot create '/absent/t.json.new'" dartctl table export other --watch /absent/t.json
refuse "a watch without a file is refused" "need the name of a file" \
	dartctl table export other --watch ""
check "the agent stops" host_down
finish
