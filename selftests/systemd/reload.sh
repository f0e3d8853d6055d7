#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# systemctl reload fails if the configuration, a key or a certificate cannot be used, and changes
# nothing then; otherwise it opens, moves and closes the listener for TCP callers.
. "$(dirname "$0")/../lib.sh"

file=/etc/dart/dartd.yaml
tls=/run/tls

# configure LINE...: writes the configuration
configure() {
	printf '%s\n' "$@" >$file
}

# with_tcp [MEMBER...]: writes a configuration with callers over TCP
with_tcp() {
	configure "sources: [cpustat]" "allow: {callers: [10.77.0.0/24]}" \
		"tcp: {certificate: $tls/agent.example.pem, key: $tls/agent.example.key," \
		"  authorities: $tls/authority.pem, subjects: [caller.example]$*}"
}

# status FILTER: the filter holds for the status of the running dartd
status() {
	dartctl -j status | is_true "$1"
}

entries() {
	dartctl -j list | gojq -r '.[].name' | sort | paste -sd ' '
}

# logs TEXT: the log of the service since the last call of systemctl contains TEXT
logs() {
	journalctl --sync
	journalctl --no-pager --unit dartd.service --lines 40 --output cat | tee /dev/stderr |
		grep -q -e "$1"
}

# listens PORT [ADDRESS]: does dartd listen there?
listens() {
	ss -Htln "sport = :$1" | grep -q "${2-}:$1 "
}

# by_tcp PORT: one scrape of cpustat
by_tcp() {
	# shellcheck disable=SC2086 # options
	call_agent tcp 10.77.0.1:"$1" 1 $tls caller.example agent.example cpustat
}

configure "sources: [cpustat]"
mkdir -p $tls
tls_files $tls agent.example caller.example
check "the service starts" systemctl start dartd.service
pid=$(systemctl show --property MainPID --value dartd.service)

while IFS='|' read -r mistake line; do
	configure "sources: [vmstat]" "$line"
	refuse "a reload with $mistake fails" failed systemctl reload dartd.service
	check "the log names the line of $mistake" logs "$file:2: "
done <<'END'
invalid YAML|}
an unknown key|sourcs: []
a source that does not exist|probes: [tcpp]
END
configure "sources: [nosuch]" "port: 0" "listen: [x]"
refuse "a reload with three mistakes fails" failed systemctl reload dartd.service
for line in 1 2 3; do
	check "the log names mistake $line of three" logs "$file:$line: "
done
with_tcp
chmod 644 $tls/agent.example.key
refuse "a reload with a key that everybody may read fails" failed \
	systemctl reload dartd.service
check "the log says that everybody may read the key" logs "every user may use the key"
chmod 600 $tls/agent.example.key
mv $tls/authority.pem $tls/moved.pem
refuse "a reload without the file of authorities fails" failed systemctl reload dartd.service
mv $tls/moved.pem $tls/authority.pem
check "after all of this the same dartd runs with its registrations" \
	[ "$(entries) $(systemctl show --property MainPID --value dartd.service)" = \
	"cpustat dartd tcp $pid" ]

with_tcp
check "a reload with callers over TCP succeeds" systemctl reload dartd.service
check "then dartd listens for them" soon listens 4793
check "a caller over TCP gets values" by_tcp 4793
with_tcp ", port: 4800, listen: [10.77.0.1]"
check "a reload with another port and address succeeds" systemctl reload dartd.service
check "then dartd listens there" soon listens 4800 10.77.0.1
check "it does not listen where it was" sh -c "! ss -Htln 'sport = :4793' | grep ."
check "its status names the port" status '.tcp_port == 4800'
check "a caller over TCP gets values there" by_tcp 4800
refuse "no restart is asked for" "lacks" sh -c 'journalctl --no-pager --unit dartd.service |
	grep "when dartd starts again" || { echo lacks; exit 1; }'
configure "sources: [cpustat]"
check "a reload without callers over TCP succeeds" systemctl reload dartd.service
check "then dartd does not listen for them" soon status '.tcp_port == 0'
check "the service stops" systemctl stop dartd.service
rm $file
rm -r $tls

# A controller that reads a configuration again does the same.
file=/etc/dart/controller.yaml
configure "agents: [{host: 10.77.0.1}]"
check "the service of the controller starts" systemctl start dart-controller.service
check "it has read its configuration" soon test -S /run/dart-controller/control.sock
configure "agents: [{host: 10.77.0.1}" "}"
refuse "a reload of the controller with invalid YAML fails" failed \
	systemctl reload dart-controller.service
configure "agents: [{host: 10.77.0.1}]" \
	"tls: {certificate: $tls/a.pem, key: $tls/a.key, authorities: $tls/b.pem}"
refuse "a reload of the controller without its certificate fails" failed \
	systemctl reload dart-controller.service
check "the controller still runs" sh -c 'systemctl is-active dart-controller.service || {
	journalctl --no-pager --unit dart-controller.service --lines 20
	exit 1
}'
configure "agents: [{host: 10.77.0.1}, {host: 10.77.0.2}]"
check "a reload of the controller with a valid configuration succeeds" \
	systemctl reload dart-controller.service
check "the service of the controller stops" systemctl stop dart-controller.service
rm $file
finish
