#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The XDP reporter attaches, counts and detaches; a refused attachment leaves no traces.
. "$(dirname "$0")/../lib.sh"

file=$(mktemp)
pins=/sys/fs/bpf/dart/reporter

# collector REPORTER VALUE_LENGTH CHECKSUM_BITS QPN: a collector as JSON
collector() {
	gojq -n --arg reporter "$1" --argjson value "$2" --argjson bits "$3" \
		--argjson qpn "$4" '{name: "paths", $reporter,
		mac: "02:00:00:00:00:01", ip: "10.78.0.2", $qpn, rkey: 4660,
		base: "0x3a5f00000000", slots_log2: 10, value_length: $value,
		checksum_bits: $bits, redundancy: 2, first_psn: 0}'
}

# file COLLECTOR...: writes the file of collectors
file() {
	printf '%s\n' "$@" |
		gojq -s '{dart_collectors: 1, collectors: .}' >"$file"
}

attach() {
	dartctl xdp attach "$@" --collectors "$file"
}

programs() {
	bpftool -j prog list | gojq '[.[] | select(.type == "xdp")] | length'
}

# nothing_left: no pins and no program of a refused attachment
nothing_left() {
	[ ! -e "$pins/port.0" ] && [ ! -e "$pins/port:0" ] && [ "$(programs)" -eq 0 ]
}

ip link add port.0 type veth peer name port1
ip link add way0 type veth peer name way1
ip address add 10.78.0.1/24 dev port.0
ip link set port.0 up
ip link set port1 up

file "$(collector 10.78.0.1 20 32 17)"
refuse "an interface that does not exist is refused" \
	"there is no interface 'absent'" attach absent
refuse "an interface other than Ethernet is refused" "'lo' is not an Ethernet interface" attach lo
refuse "an interface without an IPv4 address to report from is refused" \
	"'way0' has no IPv4 address" attach way0
refuse "a file of collectors that does not exist is refused" "cannot open /absent" \
	dartctl xdp attach port.0 --collectors /absent
refuse "a file of collectors that is not JSON is refused" "not JSON" \
	dartctl xdp attach port.0 --collectors "$0"
refuse "an attachment without --collectors is refused" \
	"needs INTERFACE and --collectors" dartctl xdp attach port.0
refuse "a UDP port above 65535 is refused" "'65536' is not a UDP port" \
	attach port.0 --int-port 65536
refuse "the same port for INT and for postcards is refused" "different ports" \
	attach port.0 --report-port 5000
refuse "postcards of hops and copies are refused" "--postcards excludes" \
	attach port.0 --postcards 5001 --copies random
refuse "an age without postcards of hops is refused" "needs --postcards" attach port.0 --age 1s
refuse "an age that is too long is refused" "'61min' is not an age" \
	attach port.0 --postcards 5001 --age 61min
refuse "a number of rows that is no power of two is refused" "is a power of two" \
	attach port.0 --postcards 5001 --rows 1000
refuse "copies other than random or all are refused" "random or all" \
	attach port.0 --copies some
refuse "all copies are refused if the driver cannot clone packets" "which --copies all needs" \
	attach port.0 --copies all
refuse "a source address from which no collector takes reports is refused" \
	"from 10.78.0.9" attach port.0 --source 10.78.0.9
refuse "only root may attach the reporter" "only root" setpriv --reuid 65534 \
	--clear-groups dartctl xdp attach port.0 --collectors "$file"
file "$(collector 10.78.0.1 24 32 17)"
refuse "a store with values of another length than paths is refused" \
	"values of 24 bytes" attach port.0
file "$(collector 10.78.0.1 20 32 17)" "$(collector 10.78.0.1 20 64 18)"
refuse "collectors with checksums of different width are refused" "checksum_bits" \
	attach port.0
check "refused attachments leave no program and no pin" nothing_left
refuse "an interface without a reporter cannot be detached" "no XDP reporter" \
	dartctl xdp detach port.0
refuse "an interface without a reporter has no status" "no XDP reporter" \
	dartctl xdp status port.0

file "$(collector 10.78.0.1 20 32 17)"
check "the reporter can be attached to an interface" attach port.0
refuse "a second reporter on the same interface is refused" "xdp detach port.0" \
	attach port.0
check "an attached reporter is in the status" sh -c 'dartctl -j xdp status |
	is_true "length == 1 and .[0].interface == \"port.0\""'
mkdir "$pins/port1"
check "a command that did not attach its reporter hides no other one" sh -c '
	dartctl -j xdp status | is_true "map(\"\(.interface) \(.mode)\") | sort ==
		[\"port.0 generic\", \"port1 incomplete\"]"'
check "the rest of that command can be detached" dartctl xdp detach port1
other_map() {
	mkdir "$pins/port1" && bpftool map create "$pins/port1/counters" type array key 4 \
		value 24 entries 2 name other
}
check "a reporter of another dartctl is there" other_map
refuse "the status fails, as it cannot read that one" "dartctl xdp detach port1" \
	dartctl xdp status
check "it prints the other one" sh -c '! dartctl -j xdp status >/run/status 2>/dev/null &&
	is_true "map(.interface) == [\"port.0\"]" </run/status'
check "that one can be detached" dartctl xdp detach port1
check "only root may see the status of reporters" sh -c '! setpriv --reuid 65534 \
	--clear-groups dartctl xdp status'
check "an attached reporter can be detached" dartctl xdp detach port.0
check "a detached reporter leaves no program and no pin" nothing_left

check "the reporter can send through an interface other than its own" \
	attach port1 --through port.0
check "the agent starts" host_up
check "the reporter's counters can be registered as an entry" \
	dartctl register map "$pins/port1/counters" as reporter
check "the reporter's counters per collector can be registered as an entry" \
	dartctl register map "$pins/port1/reports" as reporter.to
dart-report --interface port.0 --source 10.78.0.1 --flows uniform \
	--count 100 --emit int >"$output"
check "100 packets with INT are counted as 100 reports" sh -c '
	dartctl -j show reporter | is_true ".values.sum.reports == 100"'
check "100 reports are counted for their collector, with its address and store" \
	sh -c 'dartctl -j show reporter.to | tee /dev/stderr |
	is_true ".values.rows[0] | .reports == 100 and .qpn == 17 and
		.address == \"10.78.0.2\" and .store == \"paths\""'
ip link set port1 down
refuse "a sender does not wait for a carrier for ever" "Network is down" \
	timeout 60 dart-report --interface port.0 --source 10.78.0.1 --flows uniform \
	--count 1 --emit int
check "an interface with a reporter can be deleted" ip link delete port.0
check "the status says that the reporter's interface no longer exists" sh -c '
	dartctl -j xdp status port1 | is_true ".[0].mode == \"gone\""'
check "a reporter can be detached after its interface was deleted" \
	dartctl xdp detach port1
check "the agent stops" host_down
rm -f "$file"
finish
