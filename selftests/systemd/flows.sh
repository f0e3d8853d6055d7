#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The installed service dart-flows works in its sandbox: with dartd's table, over a reload and a
# restart.
. "$(dirname "$0")/../lib.sh"

packets=$tests/lib/nat_packets.py
known=/run/known.json
rm -f $known

# says COUNT TEXT: the service has said so often
says() {
	[ "$(journalctl -u dart-flows --no-pager --output cat | grep -c "$2")" -ge "$1" ]
}

# entered COUNT: the table contains COUNT flows
entered() {
	dartctl -j flow show | is_true ".flows.entered == $1 and .table.waiting == 0" &&
		dartctl -j table show nat | is_true ".entries == $((2 * $1))"
}

# refused_check: the only server has refused one
refused_check() {
	dartctl -j flow servers |
		is_true '.[0].state == "down" and .[0].reason == "Connection refused"'
}

"$tests/package_install"
ip link add flows0 type veth peer name flows1
for interface in flows0 flows1; do
	echo 1 >/proc/sys/net/ipv6/conf/$interface/disable_ipv6
	ip link set $interface up
done
printf '%s\n' 'interface: flows0' 'table: nat' 'inside: [10.0.0.0/8]' 'flows: 20000' \
	'pools: [{addresses: 203.0.113.0/30, ports: 2000-65000}]' \
	'routes:' ' - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}' \
	' - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}' >/etc/dart/flows.yaml

check "dartd starts" host_up
check "a table is created" dartctl table create nat --entries 20000
check "the service starts" systemctl start dart-flows
check "it has a user of its own" [ "$(ps -o user= -C dart-flows)" = dart-flows ]
# rb: the bytes of a socket's queue, which the kernel doubles
check "the queues of its port take 8 MiB each" [ "$(ss --packet --processes --memory --no-header |
	grep -A1 '"dart-flows"' | grep -c 'rb16777216')" = 2 ]
check "it keeps no capability" grep -q '^CapPrm:.0*$' "/proc/$(pidof dart-flows)/status"
check "first packets come back translated, and so do answers" \
	"$packets" $known flows1 udp 100 answers
check "their flows are in the table" soon entered 100
check "the service takes its policy again" systemctl reload dart-flows
check "it says so" soon says 1 "the policy of /etc/dart/flows.yaml is in use"
sed -i 's/^table: nat/table: /' /etc/dart/flows.yaml
refuse "a reload with a wrong policy fails" "Job for dart-flows.service failed" \
	systemctl reload dart-flows
sed -i 's/^table: /table: nat/' /etc/dart/flows.yaml
check "the service starts again" systemctl restart dart-flows
check "it knows all flows" soon entered 100
check "they have their ports" "$packets" $known flows1 udp 100 answers
check "the service is killed" systemctl kill --signal=KILL dart-flows
check "systemd starts it once more" soon says 3 "table 'nat' is there"
check "flows have their ports after that" "$packets" $known flows1 udp 100 answers
check "the service ends" systemctl stop dart-flows

# ---- another function, with the same journal

printf '%s\n' 'function: balancer' 'interface: flows0' 'table: nat' 'flows: 20000' \
	'routes: [{prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}]' \
	'services: [{address: 192.0.2.10:80, protocol: tcp, check: {interval: 200ms},' \
	' servers: [{address: 127.0.0.1:9}]}]' >/etc/dart/flows.yaml
check "the service starts as a load balancer" systemctl start dart-flows
check "it may connect to servers" soon refused_check
check "flows of NAT are in the table no longer" soon entered 0
check "the service ends again" systemctl stop dart-flows
ip link del flows0
rm -rf /var/lib/dart-flows /etc/dart/flows.yaml $known
check "dartd ends" host_down
finish
