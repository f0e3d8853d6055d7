#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The XDP program is attached to append to a journal, follows its file, and is detached; journals
# that it cannot append to are refused.
. "$(dirname "$0")/../lib.sh"

file=/run/journals.json
stores=/run/collectors.json
log=/run/follow.log
pins=/sys/fs/bpf/dart/reporter

# file QPN BATCH_LOG2 ENTRY_LENGTH: replaces the file of journals
file() {
	gojq -n --argjson qpn "$1" --argjson batch "$2" --argjson entry "$3" '{dart_journals: 1,
		journals: [{name: "events", reporter: "10.78.0.1", mac: "02:00:00:00:00:01",
		ip: "10.78.0.2", $qpn, rkey: 4660, base: "0x3a5f00000000", first_psn: 0,
		epoch: (1000 + $qpn), lists_log2: 2, batches_log2: 4, batch_log2: $batch,
		entry_length: $entry}]}' >$file.new && mv $file.new $file
}

attach() {
	dartctl xdp attach port1 --through port.0 --journal "$file" "$@"
}

# send COUNT: packets of IPv4 with INT-MD
send() {
	dart-report --interface port.0 --source 10.78.0.1 --flows uniform --count "$1" --emit int \
		>/dev/null
}

status() {
	dartctl -j xdp status port1 | is_true ".[0] | $1"
}

# nothing_left: no pins and no program
nothing_left() {
	[ ! -e "$pins/port1" ] && ! bpftool prog list | grep -q ' xdp '
}

gojq -n '{dart_collectors: 1, collectors: [{name: "paths", reporter: "10.78.0.1",
	mac: "02:00:00:00:00:01", ip: "10.78.0.2", qpn: 17, rkey: 4660, base: "0x3a5f00000000",
	slots_log2: 10, value_length: 20, checksum_bits: 32, redundancy: 2, first_psn: 0}]}' >$stores
ip link add port.0 type veth peer name port1
ip address add 10.78.0.1/24 dev port.0
ip link set port.0 up
ip link set port1 up

file 17 7 41
refuse "an appender to nothing is refused" \
	"needs INTERFACE and --collectors FILE, --journal FILE or --sketch FILE" \
	dartctl xdp attach port1
refuse "a journal and stores are refused" "--journal excludes --collectors" \
	attach --collectors $file
refuse "a journal and a port of postcards, which entries have no room for, are refused" \
	"--journal excludes .*--report-port" attach --report-port 5001
refuse "a journal and copies are refused" "--journal excludes .*--copies" attach --copies random
refuse "an address that is no appender is refused" "no journal takes entries from 10.78.0.9" \
	attach --source 10.78.0.9
file 17 7 20
refuse "entries without room for a flow are refused" \
	"entries of journal 'events' have 20 bytes, but a flow needs 21" attach
echo '{"dart_journals": 1, "journals": [{}]}' >$file
refuse "a file that is damaged is refused" "journals\[0\]" attach
check "refused appenders leave nothing" nothing_left

file 17 7 41
check "the appender is attached" attach
check "100 packets with INT-MD arrive" send 100
check "each of them is an entry" status '.reports + .appended == 100 and .reports >= 48'
check "the status names the journal" status '.collectors[0] |
	.store == "events" and .qpn == 17 and .reports >= 48'

file 17 8 41
refuse "a follower of a journal with another geometry is refused" \
	"journal 'events' has another name or geometry" \
	dartctl xdp follow port1 --journal $file
refuse "a follower of stores is refused" "store 'paths' has another name or geometry" \
	dartctl xdp follow port1 --collectors $stores
refuse "a follower of a journal and of stores is refused" "needs INTERFACE and --collectors" \
	dartctl xdp follow port1 --collectors $file --journal $file
file 17 7 41
check "the follower is ready" until_ready $log dartctl xdp follow port1 --journal $file
file 33 7 41
check "the follower takes another queue pair over" soon logged 1 \
	"port1 appends to journal events of 10.78.0.2 at queue pair 33, not 17"
check "100 more packets arrive" send 100
check "each of them is an entry" status '.reports + .appended == 200 and .unassigned == 0'
check "the appender is detached" dartctl xdp detach port1
check "it leaves nothing" nothing_left
file 50 7 41
check "the follower ends, because its appender no longer exists" soon sh -c "! pgrep -x dartctl"

file 17 8 41
check "an appender of batches of the default length is attached, in native XDP" sh -c "
	dartctl xdp attach port1 --through eth0 --source 10.78.0.1 --journal $file |
		grep -q 'native XDP'"
check "100 packets that are much shorter arrive" send 100
shortest=$(for i in $(seq 0 99); do flow uniform 100 0 "$i"; done | grep -c '^path: [0-9]*$')
check "each of them is an entry, except a few whose path is one switch: they have 62 bytes" status \
	".reports + .appended + .cramped == 100 and .reports >= 15 and .cramped <= $shortest"
check "the appender is detached" dartctl xdp detach port1

file 17 10 41
check "an appender of batches that generic XDP has no room for is attached" attach
check "packets arrive" send 100
check "they pass, and are counted" status '.cramped == 100 and .appended == 0'
check "the appender is detached" dartctl xdp detach port1

file 17 7 41
check "an appender is attached once more" attach
check "a packet arrives, and waits" send 1
ip link set port1 down
check "without a carrier it is detached, too" timeout 30 \
	sh -c "dartctl xdp detach port1 2>/run/unsent"
check "it says that the entry is lost" grep -q \
	"warning: cannot send its last reports: Network is down" /run/unsent
check "it leaves nothing" nothing_left
ip link delete port.0
rm -f $file $stores
finish
