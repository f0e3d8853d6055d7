#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# dartctl reporter attach, detach, status: what is refused leaves nothing behind;
# counters are maps that the agent shows.
. "$(dirname "$0")/../lib.sh"

file=$(mktemp)
pins=/sys/fs/bpf/dart/reporter

# collector REPORTER VALUE_LENGTH CHECKSUM_BITS QPN: a line of a file
collector() {
	jq -n --arg reporter "$1" --argjson value "$2" --argjson bits "$3" \
		--argjson qpn "$4" '{name: "paths", $reporter,
		mac: "02:00:00:00:00:01", ip: "10.78.0.2", $qpn, rkey: 4660,
		base: "0x3a5f00000000", slots_log2: 10, value_length: $value,
		checksum_bits: $bits, redundancy: 2, first_psn: 0}'
}

# file LINE...
file() {
	printf '%s\n' "$@" |
		jq -s '{dart_collectors: 1, collectors: .}' >"$file"
}

attach() {
	dartctl reporter attach "$@" --collectors "$file"
}

programs() {
	bpftool -j prog list | jq '[.[] | select(.type == "xdp")] | length'
}

# nothing_left: of what was refused
nothing_left() {
	[ ! -e "$pins/port.0" ] && [ ! -e "$pins/port:0" ] && [ "$(programs)" -eq 0 ]
}

ip link add port.0 type veth peer name port1
ip link add way0 type veth peer name way1
ip address add 10.78.0.1/24 dev port.0
ip link set port.0 up
ip link set port1 up

file "$(collector 10.78.0.1 20 32 17)"
refuse "no such interface" "there is no interface 'absent'" attach absent
refuse "an interface that is no Ethernet" "'lo' is no Ethernet" attach lo
refuse "no address to report from" "way0 has no IPv4 address" attach way0
refuse "no file" "cannot open /absent" \
	dartctl reporter attach port.0 --collectors /absent
refuse "not a file of collectors" "not JSON" \
	dartctl reporter attach port.0 --collectors "$0"
refuse "no file named" "needs an interface and --collectors" \
	dartctl reporter attach port.0
refuse "no port" "'65536' is no UDP port" attach port.0 --int-port 65536
refuse "one port for two" "different ports" attach port.0 --report-port 5000
refuse "neither random nor all" "random or all" attach port.0 --copies some
refuse "all copies, where the driver does not clone" "not all copies" \
	attach port.0 --copies all
refuse "nobody takes reports from this address" "from 10.78.0.9" \
	attach port.0 --source 10.78.0.9
refuse "only root attaches" "only root" setpriv --reuid 65534 --clear-groups \
	dartctl reporter attach port.0 --collectors "$file"
file "$(collector 10.78.0.1 24 32 17)"
refuse "values that are no paths" "values of 24 bytes" attach port.0
file "$(collector 10.78.0.1 20 32 17)" "$(collector 10.78.0.1 20 64 18)"
refuse "checksums of different width" "checksum_bits" attach port.0
check "nothing is left of all that" nothing_left
refuse "nothing to detach" "no reporter" dartctl reporter detach port.0
refuse "nothing to look at" "no reporter" dartctl reporter status port.0

file "$(collector 10.78.0.1 20 32 17)"
check "a reporter is attached" attach port.0
refuse "not twice" "reporter detach port.0" attach port.0
check "it is there" sh -c 'dartctl -j reporter status |
	is_true ".reporters | length == 1 and .[0].interface == \"port.0\""'
check "others than root cannot look" sh -c '! setpriv --reuid 65534 \
	--clear-groups dartctl reporter status'
check "it is detached" dartctl reporter detach port.0
check "nothing is left" nothing_left

check "another interface leads to collectors" attach port1 --through port.0
check "the agent starts" host_up
check "its counters can be exposed" \
	dartctl register map "$pins/port1/counters" as reporter
check "and what went to each collector" \
	dartctl register map "$pins/port1/reports" as reporter.to
dart-report --interface port.0 --source 10.78.0.1 --flows uniform \
	--count 100 --emit int >"$output"
check "they count" sh -c 'dartctl -j show reporter |
	is_true ".entry.values.sum.reports == 100"'
check "each collector's, too" sh -c 'dartctl -j show reporter.to | tee /dev/stderr |
	is_true ".entry.values.rows[0] | .reports == 100 and .qpn == 17 and
		.address == \"10.78.0.2\" and .store == \"paths\""'
check "its interface ends" ip link delete port.0
check "which is said" sh -c 'dartctl -j reporter status port1 |
	is_true ".reporters[0].mode == \"gone\""'
check "and cleared away" dartctl reporter detach port1
check "the agent ends" host_down
rm -f "$file"
finish
