#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# One agent is scraped by read, rpc and tcp at once: all three agree with each other and with
# the kernel, all come back when the agent does, and a wrong certificate is refused.
# shellcheck disable=SC2016 # variables of jq
. "$(dirname "$0")/../lib.sh"

kinds="read rpc tcp"
work=$(mktemp -d)
tls=/run/tls
log=$work/log
socket=$work/control.sock

# The names of the agent: each target uses another name.
configure() {
	cat >"$work/configuration" <<-end
		interval: 250ms
		tls: {certificate: $tls/caller.example.pem, key: $tls/caller.example.key,
		  authorities: $tls/authority.pem}
		agents:
		  - {host: host, labels: {by: read}}
		  - {host: 10.77.0.2, transport: rpc, labels: {by: rpc}}
		  - {host: host, transport: tcp, labels: {by: tcp}}
	end
}

# agree_with_kernel: 60 scrapes by each, between snapshots of the kernel's values
agree_with_kernel() {
	local kind pid pids=()
	for kind in $kinds; do
		mkfifo "$work/$kind.fifo"
		grep --line-buffered -F "\"labels\":{\"by\":\"$kind\"}" <"$work/$kind.fifo" |
			tee "$work/$kind.lines" |
			compare host 4799 >"$work/$kind" &
		pids+=($!)
	done
	dart-controller --json --config "$work/configuration" --count 60 |
		tee "$work/read.fifo" "$work/rpc.fifo" >"$work/tcp.fifo"
	for pid in "${pids[@]}"; do
		wait "$pid" || { cat "$work"/{read,rpc,tcp}; return 1; }
	done
}

# The constant values in the last line of a kind
identity() {
	gojq -s 'map(select(.entries)) | last |
		{node, host_id, boot_id, instance, generation, online, nohz_full,
		 entries: .entries | map_values(del(.sum, .cpus, .rows)),
		 fixed: .entries.fixed.rows, start: .entries.dartd.rows[0].start_realtime}' \
		"$work/$1.lines"
}

# same: all three show the same table, and the same constant values
same() {
	for kind in $kinds; do
		identity "$kind" >"$work/$kind.identity"
	done
	is_true '(.fixed | map(.value)) == [11, 22, 33, 44] and .start > 0 and
		(.entries | length) >= 5' "$work/read.identity" &&
		cmp "$work/read.identity" "$work/rpc.identity" &&
		cmp "$work/read.identity" "$work/tcp.identity"
}

# costs: READs include gaps; each scrape takes one request
costs() {
	gojq -c '{by: .labels.by, reads, bytes, took: (.landed_ns - .start_ns)}' \
		"$work"/*.lines | tail -n 3
	is_true -s 'map(select(.entries)) | length > 10 and all(.reads == 1) and
		(map(.bytes) | unique | length) == 1' "$work/rpc.lines" "$work/tcp.lines"
}

status() {
	dart-controller status --socket "$socket" "$@"
}

# up: are all three, each by its transport?
up() {
	status --json >"$work/status" || return
	gojq -c '.targets[] | {agent, transport, state, error}' "$work/status"
	is_true '(.targets | map([.agent, .transport, .state]) | sort) ==
		[["10.77.0.2:4792", "rpc", "up"], ["host:4792", "read", "up"],
		 ["host:4793", "tcp", "up"]]' "$work/status"
}

# down: does the status tell why, of each?
down() {
	status --json >"$work/status" || return
	is_true '.targets | length == 3 and all(.state != "up" and .error)' "$work/status"
}

# instances COUNT: did each kind show values of COUNT runs of the agent? Takes the lines that are
# there now: a slow reader of a file that grows would not come to its end.
instances() {
	head -c "$(stat -c %s "$work/lines")" "$work/lines" | grep '"instance":.*}$' |
		grep -oE '"by":"[a-z]*"|"instance":"[0-9a-f]*"' | cut -d '"' -f 4 |
		paste - - | sort -u | tee "$work/instances"
	for kind in $kinds; do
		[ "$(grep -c "^$kind" "$work/instances")" = "$1" ] || return
	done
}

# by_tcp DIRECTORY HOST: one scrape with the certificate of this directory
by_tcp() {
	dart-controller --once --json --entries fixed --transport tcp \
		--tls-certificate "$1/caller.example.pem" \
		--tls-key "$1/caller.example.key" \
		--tls-authorities "$tls/authority.pem" "$2"
}

rdma_up
check "certificates are made on the host" certificates $tls host caller.example
check "and others, by another authority" certificates $tls-other host caller.example
on host sh -c "cat >/run/dart.yaml <<end
allow: {callers: [10.77.0.0/24]}
tcp: {certificate: $tls/host.pem, key: $tls/host.key,
  authorities: $tls/authority.pem, subjects: [caller.example]}
end"
check "the agent starts with callers" on host host_up --config=/run/dart.yaml
check "it has sources, and a map whose values do not change" on host sh -ec '
	for source in cpustat vmstat softnet; do
		dartctl register source $source
	done
	bpftool map create /sys/fs/bpf/fixed type array key 4 value 8 entries 4 \
		name fixed flags 1024
	for row in 0 1 2 3; do
		bpftool map update name fixed key $row 0 0 0 \
			value $(((row + 1) * 11)) 0 0 0 0 0 0 0
	done
	dartctl map add name fixed as fixed'
check "the host serves snapshots of its /proc files" on host \
	until_ready /run/snapshots.log snapshots 4799 true

configure
check "by read, rpc and tcp at once every value lies between two snapshots of the kernel's" \
	agree_with_kernel
for kind in $kinds; do
	check "by $kind values of several sources were compared" is_true \
		'.scrapes_compared > 5 and (.comparisons | length) >= 2' "$work/$kind"
done
check "all three show the same table, and the same constant values" same
check "a scrape is one request, and its bytes are the same over rpc and over tcp" costs

dart-controller --json --config "$work/configuration" --socket "$socket" \
	>"$work/lines" 2>"$log" &
controller=$!
check "the status says by which transport each agent is up" soon up
check "the table for people says it, too" sh -c \
	"dart-controller status --socket $socket | grep -E 'host:4793 +tcp +up'"
check "each has values" soon instances 1
check "a controller has one thread for all called targets" sh -c \
	"[ \$(cat /proc/$controller/task/*/comm | grep -c '^io call$') = 1 ]"
check "the agent is killed" on host host_down KILL
check "all three are lost, and the status says why" soon down
check "the agent starts again, with its registrations" on host \
	host_up again --config=/run/dart.yaml
check "all three come back" soon up
check "all three have values of the new run" soon instances 2
check "entries come and go on the host" on host sh -ec '
	for round in 1 2 3 4 5 6; do
		dartctl register source snmp:udp
		dartctl unregister snmp:udp
	done'
check "none of the three targets was lost meanwhile" sh -c \
	"[ \$(grep -c ': lost: ' $log) = 3 ]"
check "the controller ends" sh -c "kill -INT $controller"
wait $controller

check "with its certificate a controller gets values" by_tcp $tls host
refuse "a certificate of another authority is refused by the agent, and the controller says so" \
	"refuses the certificate of this side" by_tcp $tls-other host
refuse "an agent whose certificate is for another name is refused" \
	"its certificate is for another name" by_tcp $tls 10.77.0.2
refuse "without certificates tcp is refused at once" \
	"agent 'host:4793': tcp needs --tls-certificate" \
	dart-controller --once --transport tcp host
refuse "a key that is not there is refused by name" \
	"cannot read the key /absent/caller.example.key: No such file" by_tcp /absent host
on host sh -c "sed -i 's/^allow:.*/allow: {callers: []}/' /run/dart.yaml
	pkill -HUP -x dartd"
check "the agent reloads a configuration without callers" on host sh -c \
	'until grep -q "the configuration was reloaded" /run/dartd.log; do sleep 0.1; done'
refuse "a controller that may not call is told why" "not in allow: callers" \
	dart-controller --once --transport rpc host
check "and can READ" dart-controller --once --entries fixed host

check "the agent stops" on host host_down
on host pkill -x snapshots
rm -r "$work"
finish
