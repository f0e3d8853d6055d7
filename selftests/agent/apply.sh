#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl save prints the registrations as a file, and dartctl apply registers them.
. "$(dirname "$0")/../lib.sh"

map=/sys/fs/bpf/pinned
file=/run/saved.yaml
state=/var/lib/dart/registrations.json

# registrations: the registrations that a file can express, one per line
registrations() {
	dartctl -j registration list |
		gojq -c ".[] | [.name, .request, .path, .missing]" | sort
}

# table: entries, followers, stores, journals, ledgers, sketches and probes, without members that a restart changes
table() {
	dartctl -j list | gojq -c '.[] | del(.age_s, .counters_id, .map_id)' | sort
	dartctl -j probe list | gojq -c '.[] | del(.missed)'
	dartctl -j store list | gojq -c '.[] | del(.epoch)' | sort
	dartctl -j reporter list | gojq -c '.[] | del(.qpn, .first_psn, .expected_psn)' | sort
	dartctl -j journal list | gojq -c '.[] | del(.epoch)' | sort
	dartctl -j ledger list | gojq -c '.[] | del(.epoch)' | sort
	dartctl -j adder list | gojq -c '.[] | del(.qpn, .first_psn, .expected_psn)' | sort
	dartctl -j appender list | gojq -c '.[] | del(.qpn)' | sort
	dartctl -j sketch list | gojq -c '.[] | del(.epoch)' | sort
	dartctl -j sketcher list | gojq -c '.[] | del(.qpn)' | sort
}

# same COMMAND FILE: the command prints the contents of the file
same() {
	"$1" | diff "$2" -
}

# applies COUNT RESULT FILE...: exactly COUNT items end with this result, and no item with another
applies() {
	count=$1 result=$2
	shift 2
	dartctl apply "$@" | tee /run/applied /dev/stderr
	[ "${PIPESTATUS[0]}" -eq 0 ] &&
		[ "$(grep -c "^$result " /run/applied)" -eq "$count" ] &&
		[ "$(wc -l </run/applied)" -eq "$count" ]
}

# Bytes that the agent wrote since its start.
written() {
	awk '$1 == "wchar:" { print $2 }' "/proc/$(pidof dartd)/io"
}

# How often the agent read as many bytes as the kernel's types have.
types_read() {
	awk -v size="$(stat -c %s /sys/kernel/btf/vmlinux)" \
		'$1 == "rchar:" { print int($2 / size) }' "/proc/$(pidof dartd)/io"
}

# warns TEXT COMMAND...: which succeeds
warns() {
	text=$1
	shift
	"$@" 2>/run/errors >/dev/null && tee /dev/stderr </run/errors |
		grep -qF "$text"
}

mount -t bpf bpf /sys/fs/bpf 2>/dev/null
mount -t cgroup2 cgroup /sys/fs/cgroup 2>/dev/null
mkdir -p /sys/fs/cgroup/a/b
mkdir -p /dev/shm && mount -t tmpfs tmpfs /dev/shm
modprobe brd rd_nr=1
ip netns add blue
ip link add dummy7 type dummy
ip -n blue link add dummy8 type dummy
bpftool map create $map type array key 4 value 8 entries 4 name pinned flags 0x400

check "the agent starts" host_up
types='snmp:ip snmp:ip6 snmp:udp6 snmp:icmp6 softirqs'
# shellcheck disable=SC2086 # words
printf '  - %s\n' $types | sed '1i sources:' >/run/types.yaml
before=$(types_read)
check "five sources are applied whose fields are the kernel's" applies 5 added /run/types.yaml
check "the agent reads the kernel's types for all of them at once" \
	[ "$(types_read)" -le $((before + 2)) ]
for source in $types; do
	check "$source is unregistered" dartctl unregister "$source"
done
for number in 2 3 4; do	# reporters
	ip neigh replace 10.77.0.$number lladdr 52:54:00:00:00:0$number dev eth0
done
while read -r command; do
	# shellcheck disable=SC2086 # words
	check "dartctl $command succeeds" dartctl $command
done <<'LINES'
source add cpustat
source add snmp:tcp --netns blue
source add netdev:stats --netdev dummy7
source add netdev:core --netdev dummy8 --netns blue
source add disk:stats --disk ram0
source add cgroup:cpu --cgroup /a
source follow cgroup:cpu --cgroup /a/b
source follow snmp:icmp
map add /sys/fs/bpf/pinned as requests
counters add drops a b
probe load runqlat
probe unload tcp
store create paths --slots 2^10 --value 20 --redundancy 4 --checksum 16
store create kept --slots 2^8 --value 4 --file /dev/shm/kept
reporter add paths 10.77.0.2
reporter add kept 10.77.0.3
reporter add paths 10.77.0.4
journal create events --batches 2^4 --entry 16 --lists 2^2 --parts 3
appender add events 10.77.0.2
ledger create flows --words 2^8 --rows 3
adder add flows 10.77.0.2
sketch create heavy --columns 2^6 --kind count-sketch --period 2s --parts 3
sketcher add heavy 10.77.0.2
LINES
registrations >/run/registrations
table >/run/table
count=$(wc -l </run/registrations)
check "an object of each kind is registered" [ "$count" -eq 22 ]
bpftool map update pinned $map key 0 0 0 0 value 255 255 255 255 255 255 255 255
for shown in show '-j show'; do
	check "dartctl $shown prints 2^64 - 1 as an integer" \
		sh -c "dartctl $shown requests | grep -w 18446744073709551615"
done
dartctl save >$file
check "save prints a configuration that is valid" dartd --check --config=$file
check "save as JSON prints the registrations" \
	sh -c "dartctl -j save | is_true 'length == $count'"
check "a file that has all that is registered changes nothing" \
	applies "$count" unchanged $file
check "nothing was changed" same table /run/table

check "the agent stops" host_down
check "the agent starts without a state" host_up
check "the probe that a first start loads is unloaded" dartctl probe unload tcp
before=$(written)
start=$(date +%s)
check "a file that was saved is registered by an agent that has nothing" \
	applies "$count" added $file
size=$(stat -c %s $state)
most=$((size * ($(date +%s) - start + 2)))
check "it is in the state file when apply ends" \
	is_true ".registrations | length == $count" <$state
check "the state file was written once a second, not once for each item" \
	[ $(($(written) - before)) -lt $most ]
check "the registrations are those before" same registrations /run/registrations
check "the entries, probes, stores and reporters are those before" \
	same table /run/table
check "dartd saves the registrations in the same words" \
	sh -c "dartctl save | diff $file -"

check "the agent stops again" host_down
check "the agent starts with the file as its configuration" host_up --config=$file
check "the probe that the file lacks is unloaded" dartctl probe unload tcp
check "its registrations are the same" same registrations /run/registrations
check "its entries, probes, stores and reporters are the same" same table /run/table

# ---- limits of apply

printf '%s\n' 'port: 4800' 'sources:' '  - cpustat' '  - vmstat' >/run/more.yaml
check "settings in the file are not applied, which a warning says" \
	warns "warning: /run/more.yaml:1: settings of dartd are not applied" \
	dartctl apply /run/more.yaml
check "objects that the file lacks stay registered" \
	[ "$(registrations | wc -l)" -eq $((count + 1)) ]
printf '%s\n' 'sources:' '  - softnet' '  - {source: snmp:udp, netns: absent}' \
	'  - absent' '  - softirqs' 'stores:' '  - {name: paths, slots: 2^4, value: 4}' \
	>/run/wrong.yaml
dartctl apply /run/wrong.yaml >/run/applied 2>/run/errors
check "refused items make apply fail" [ $? -eq 1 ]
while IFS='|' read -r message; do
	check "a refused item is named with its line and the reason: $message" \
		grep -qF "dartctl: /run/wrong.yaml:$message" /run/errors
done <<'LINES'
3: source snmp:udp, netns absent: there is no network namespace 'absent'
4: source absent: there is no source 'absent'
7: store paths: 
LINES
check "the other items were added" [ "$(grep -c '^added ' /run/applied)" -eq 2 ]
dartctl -j apply /run/wrong.yaml >/run/applied 2>/run/errors
check "as JSON each item has its line and result" is_true \
	'[.[] | [.line, .result]] == [[2, "unchanged"], [3, "refused"],
		[4, "refused"], [5, "unchanged"], [7, "refused"]] and
		(.[2].message | length > 5)' /run/applied
printf '%s\n' '' '' '' '' '' '' 'sourcs: []' >/run/wrong.yaml
refuse "a file with an error in line 7 changes nothing" \
	"^dartctl: /run/wrong.yaml:7: unknown key 'sourcs'" \
	dartctl apply /run/wrong.yaml
bpftool map create /sys/fs/bpf/other type array key 4 value 8 entries 4 name other \
	flags 0x400
check "a map without a path is registered" dartctl map add name other
check "save says how many registrations a file cannot have" \
	warns "a file cannot have 1 of the registrations" dartctl save
check "the agent stops at the end" host_down
finish
