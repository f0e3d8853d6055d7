#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# dartd --check needs no device and no privilege, and knows all sources and probes.
. "$(dirname "$0")/../../../lib.sh"

top=$tests/..
directory=$(mktemp -d)
file=$directory/dartd.yaml

# dartd LINE...: checks these lines
dartd_checks() {
	printf '%s\n' "$@" >"$file"
	"$top/.output/bin/dartd" --check --config="$file"
}

# says TEXT LINE...: the configuration is valid, and this is all that is printed
says() {
	text=$1
	shift
	[ "$(dartd_checks "$@" 2>&1 | tee /dev/stderr)" = "$file is valid and registers $text" ]
}

check "the configuration that is installed is valid" \
	"$top/.output/bin/dartd" --check --config="$top/agent/dartd.yaml"
mkdir "$directory/tls"
"$top/.output/selftests/helpers/tls_files" "$directory/tls" host
cp "$directory/tls/authority.pem" "$directory/tls/authorities.pem"
sed -n '/^.Bd -literal/,/^.Ed/p' "$top/agent/dartd.yaml.5.in" |
	sed "1d; \$d; s|/etc/dart/tls|$directory/tls|" >"$file"
check "the example of the manual page is valid" \
	sh -c "[ -s $file ] && $top/.output/bin/dartd --check --config=$file"
check "the registrations of the file are printed in one line" \
	says "2 sources, 1 follower, 1 probe, 1 store, 2 reporters" \
	'sources: [cpustat, vmstat, {source: "snmp:tcp", follow: true}]' \
	'probes: [tcp]' \
	'stores: [{name: a, slots: 2, value: 4, reporters: [10.0.0.1, 10.0.0.2]}]'
check "tables and requesters are counted" says "1 table, 1 requester" \
	'tables: [{name: a, rows: 2^17, key: 13, value: 7, requesters: [10.0.0.1]}]'
check "ledgers and adders are counted" says "1 ledger, 1 adder" \
	'ledgers: [{name: a, words: 2^16, adders: [10.0.0.1]}]'
check "sketches and sketchers are counted" says "1 sketch, 1 sketcher" \
	'sketches: [{name: a, columns: 2^16, sketchers: [10.0.0.1]}]'
check "journals and appenders are counted" says "1 journal, 1 appender" \
	'journals: [{name: a, batches: 2^10, entry: 41, appenders: [10.0.0.1]}]'
check "network devices and disks are followed" says "2 followers" \
	'sources: [{source: "netdev:stats", follow: true}, {source: "disk:stats", follow: true}]'
check "a host is registered as a whole" says "1 host" "host: {gather: 1s}"
check "an empty configuration is valid and registers nothing" says nothing ""
printf 'sources: [vmstat]\n' >"$directory/more.yaml"
mkdir "$directory/dartd.d"
mv "$directory/more.yaml" "$directory/dartd.d"
check "files in its directory count as well" \
	says "2 sources" "sources: [cpustat]"
while IFS='|' read -r line message; do
	refuse "a configuration with $line is refused: $message" \
		"^$file:7: $message" dartd_checks "" "" "" "" "" "" "$line"
done <<'LINES'
host: {gather: 1}|'1' is not an interval
sources: [cpustats]|there is no source 'cpustats'
sources: [{source: cpustat, netns: blue}]|source cpustat does not take a network namespace
sources: [{source: disk:stats, netns: blue}]|source disk:stats does not take a network namespace
sources: ['disk:stats']|source disk:stats needs a disk
sources: [{source: snmp:tcp, netdev: eth0}]|source snmp:tcp does not take a network device
sources: [{source: vmstat, follow: true}]|there is one vmstat of a host: it cannot be followed
sources: [{source: disk:stats, cgroup: /a, follow: true}]|source disk:stats does not take a cgroup
sources: [{source: cgroup:cpu, follow: true}]|source cgroup:cpu needs a cgroup
sources: [{source: snmp:tcp, cgroup: /a, follow: true}]|source snmp:tcp does not take a cgroup
probes: [tcpp]|there is no probe 'tcpp'
maps: [{pinned: /sys/fs/bpf/a, name: 'a b'}]|invalid name
counters: [{name: 'a b'}]|invalid name
stores: [{name: 'a b', slots: 2, value: 4}]|invalid name
tables: [{name: 'a b', rows: 2, key: 4, value: 4}]|invalid name
tables: [{name: a, rows: 2, key: 4, value: 4, packet: 4000}]|a row with its packet has more than 4096 bytes
counters: [{name: a}, {name: b}, {name: a}]|counters 'a' occurs twice
sourcs: []|unknown key 'sourcs'
LINES
refuse "two items of different kinds with the same name are refused" \
	"^$file:2: entry 'cpustat' occurs twice, also at $file:1" \
	dartd_checks "sources: [cpustat]" "counters: [{name: cpustat}]"
dartd_checks "sources: [a, b]" "probes: [c]" >"$directory/out" 2>&1
check "each mistake of a file is printed" [ "$(wc -l <"$directory/out")" = 3 ]
# mistakes LINE...: the lines with mistakes, in the order of the output
mistakes() {
	dartd_checks "$@" 2>&1 | tee /dev/stderr | sed -n "s|^$file:\([0-9]*\): .*|\1|p" |
		paste -sd ' '
}

# has LINES LINE...: these are the lines with mistakes
has() {
	lines=$1
	shift
	[ "$(mistakes "$@")" = "$lines" ]
}

check "mistakes in the form of a file are printed with mistakes in its values" \
	has "1 2 3 4 5" "sourcs: []" "port: 70000" "exposure: none" "allow: [a]" "sources: [a]"
check "each mistake of a list of mappings is printed" has "1 1 2 4 4" \
	"sources: [{sauce: vmstat}, {source: cpustat, follow: maybe}]" \
	"stores: [{name: a, slots: 3, value: 4}, {name: b, slots: 2, value: 4}]" \
	"tables:" "- {name: c, rows: 2, key: 65, value: 0}"
check "hosts of a store that is refused are looked at" has "1 1" \
	"stores: [{name: a, slots: 3, value: 4, reporters: [host]}]"
check "two of the same name and a wrong value are both printed" has "3 1" \
	"sources: [a]" "port: 1" "port: x"
printf 'listen: [x]\n' >"$directory/dartd.d/more.yaml"
printf '}\n' >"$directory/dartd.d/syntax.yaml"
dartd_checks "port: 0" >"$directory/out" 2>&1
check "mistakes of all files are printed" [ "$(sed -n 's/:.*//; s|.*/||p' "$directory/out" |
	paste -sd ' ')" = "dartd.yaml more.yaml syntax.yaml" ]
rm "$directory/dartd.d/syntax.yaml" "$directory/dartd.d/more.yaml"

# with_tls: a configuration with the files of tcp
with_tls() {
	dartd_checks "sources: [vmstat]" \
		"tcp: {certificate: $directory/tls/${1-host.pem}," \
		"  key: $directory/tls/host.key," \
		"  authorities: $directory/tls/authorities.pem, subjects: [a]}"
}

check "a configuration with certificates is valid" with_tls
refuse "a certificate that is missing is a mistake" "^$file:2: tcp: .*absent.pem" \
	with_tls absent.pem
chmod 604 "$directory/tls/host.key"
refuse "a key that everybody may read is a mistake" \
	"^$file:2: tcp: .*every user may use the key" with_tls
chmod 600 "$directory/tls/host.key"
refuse "a missing configuration of the command line is refused" "cannot read it" \
	"$top/.output/bin/dartd" --check --config="$directory/absent.yaml"
rm -r "$directory"
finish
