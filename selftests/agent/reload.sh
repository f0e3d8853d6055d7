#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartd registers the objects of its configuration; SIGHUP applies only the differences.
. "$(dirname "$0")/../lib.sh"

file=/run/dartd.yaml

# configure SOURCE...: writes the configuration
configure() {
	printf 'sources:\n' >$file
	printf -- '  - %s\n' "$@" >>$file
}

entries() {
	entry_names | sort | paste -sd ' '
}

generation() {
	dartctl -j status | gojq .generation
}

# memory_regions: the kernel's numbers of dartd's memory regions
memory_regions() {
	rdma -j resource show mr | gojq -r '.[] | select(.comm == "dartd") | .mrn' |
		sort
}

# origin NAME TEXT
origin() {
	dartctl -j registration list | tee /dev/stderr | is_true \
		"any(.name == \"entry $1\" and .origin == \"$2\" and (has(\"missing\") | not))"
}

# reload: returns after dartd has read the configuration again
reload() {
	lines=$(grep -c "the configuration was" /run/dartd.log)
	kill -HUP "$(pidof dartd)"
	until [ "$(grep -c "the configuration was" /run/dartd.log)" -gt "$lines" ]; do
		sleep 0.1
	done
}

# reloads ENTRY...: afterwards these are the entries
reloads() {
	reload
	entries | tee /dev/stderr | grep -qxF "$*"
}

logs() {
	tee /dev/stderr </run/dartd.log | grep -q "$1"
}

configure cpustat vmstat '{source: snmp:tcp, netns: blue}' \
	'{source: netdev:stats, netdev: absent0}' '{source: disk:stats, disk: absent1}' \
	'{source: cgroup:cpu, cgroup: /absent2}'
printf 'maps:\n  - {pinned: /sys/fs/bpf/absent3}\n' >>$file
check "the agent starts with a configuration that names five absent objects" \
	host_up --config=$file
check "the objects of the configuration are registered when the agent is ready" \
	[ "$(entries)" = "cpustat dartd tcp vmstat" ]
check "its origin is the configuration" origin cpustat configuration
while read -r object sentence; do
	check "the absent $object is named in the log" logs "not registered: .*$sentence"
done <<'END'
namespace there is no network namespace 'blue'
device absent0
disk absent1
cgroup absent2
map absent3
END
check "each of the five is listed as missing" \
	sh -c "dartctl -j status | is_true '.missing == 5'"
check "a source is registered by command" dartctl source add softirqs

before=$(generation)
memory_regions >/run/before
configure cpustat '{source: snmp:tcp, netns: blue}' softnet
check "a reload adds a source and removes another" \
	reloads cpustat dartd softirqs softnet tcp
check "a reload is one new generation of the table" \
	[ "$(generation)" -eq $((before + 1)) ]
check "the memory regions of other entries are untouched" \
	sh -c 'dartctl -j list | gojq "[.[] | select(.name | IN(\"cpustat\", \"softirqs\",
		\"tcp\")).memory_regions] | add" >/run/kept
	rdma -j resource show mr | gojq -r ".[] | select(.comm == \"dartd\") | .mrn" |
		sort | comm -12 /run/before - | wc -l | tee /dev/stderr |
		{ read -r same; [ "$same" -gt "$(cat /run/kept)" ]; }'
before=$(generation)
check "a reload without a difference changes nothing" \
	reloads cpustat dartd softirqs softnet tcp
check "a reload without a difference is no new generation" \
	[ "$(generation)" -eq "$before" ]
ip netns add blue
check "a reload registers objects that exist by now" \
	reloads cpustat dartd snmp:tcp@blue softirqs softnet tcp

printf 'sources:\n  - cpustat\n\n\n\n\n  - {sauce: vmstat}\n' >$file
check "a configuration with an error in line 7 changes nothing" \
	reloads cpustat dartd snmp:tcp@blue softirqs softnet tcp
check "the log names the file, the line and the reason" \
	logs "the configuration was not reloaded: $file:7: "
rm $file
check "a configuration that is not there changes nothing" \
	reloads cpustat dartd snmp:tcp@blue softirqs softnet tcp

configure cpustat softirqs
check "the registration of a command can become part of the configuration" \
	reloads cpustat dartd softirqs tcp
check "its origin is then the configuration" origin softirqs configuration
check "the agent stops" host_down
configure softirqs
check "the agent starts again with another configuration" \
	host_up again --config=$file
check "objects that left the configuration are not restored" \
	[ "$(entries)" = "dartd softirqs tcp" ]

printf 'port: 4711\nsources: [softirqs, vmstat]\n' >$file
host_down
check "the agent starts with a port of the configuration" \
	host_up again --config=$file
host_down KILL
printf 'port: 4712\nsources:\n  - vmstat\n\n\n\n  - {source: cpustat, netns: blue}\n' >$file
: >/run/dartd.log
check "the agent starts though the configuration has an error in line 7" \
	host_up again --config=$file
check "the log names the file, the line, and the registrations used instead" \
	logs "$file:7: .* (the last valid configuration is used until"
check "all sources of the last valid configuration are there" \
	[ "$(entries)" = "dartd softirqs tcp vmstat" ]
check "the port of the last valid configuration is used" \
	sh -c 'dartctl -j status | is_true ".port == 4711"'
sed -i 's/, netns: blue//' $file
check "the configuration that was mended is reloaded" \
	reloads cpustat dartd tcp vmstat
check "the log names a setting that takes a restart" logs "changed .*: port"
sed -i '$a journals: [{name: events, batches: 4, entry: 8}]' $file
check "a reload adds a journal" reloads cpustat dartd tcp vmstat
check "the journal is there" \
	sh -c "dartctl -j journal list | is_true 'length == 1 and .[0].name == \"events\"'"
sed -i '$d' $file
check "a reload without the journal" reloads cpustat dartd tcp vmstat
check "deletes it" sh -c "dartctl -j journal list | is_true 'length == 0'"
sed -i '$a ledgers: [{name: flows, words: 16}]' $file
check "a reload adds a ledger" reloads cpustat dartd tcp vmstat
check "the ledger is there" \
	sh -c "dartctl -j ledger list | is_true 'length == 1 and .[0].name == \"flows\"'"
sed -i '$d' $file
check "a reload without the ledger" reloads cpustat dartd tcp vmstat
check "deletes the ledger" sh -c "dartctl -j ledger list | is_true 'length == 0'"
check "the agent stops at the end" host_down
rm -rf /var/lib/dart
refuse "without a valid configuration, now or earlier, the agent does not start" \
	"$file:1: " sh -c "echo 7 >$file; dartd --config=$file"
ip netns delete blue
finish
