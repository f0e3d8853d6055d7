#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Callers over RDMA and TCP get the values that controllers READ, if they are allowed, and hostile
# callers get nothing.
. "$(dirname "$0")/../lib.sh"

log=/run/dartd.log
file=/run/dart.yaml
tls=/run/tls
address=10.77.0.1

# configure LINE...
configure() {
	printf '%s\n' "$@" >$file
}

# by_tcp DIRECTORY NAME [ENTRY...]: one scrape with this certificate
by_tcp() {
	local directory=$1 name=$2
	shift 2
	call_agent tcp "$address" 1 "$directory" "$name" agent.example "$@"
}

# holds FILTER: for the status of the agent
holds() {
	dartctl -j status >/run/status
	gojq -c '{rpc_callers, tcp_callers, tcp_port, rpc_requests, tcp_requests,
		rpc_bytes, tcp_bytes, rpc_cut_off, tcp_cut_off, tcp_failure}' /run/status
	is_true "$1" /run/status
}

# counts FILTER: for the values of the entry dartd
counts() {
	dartctl -j show dartd | gojq -c '.values.rows[0]' >/run/values
	cat /run/values
	is_true "$1" /run/values
}

# connected_by_tcp: starts a caller that asks for an entry all the time
connected_by_tcp() {
	call_agent tcp "$address" 100000 "$tls/own" caller.example agent.example dartd \
		>/run/lines 2>/run/caller.log &
	echo $! >/run/caller
	soon holds '.tcp_callers | length == 1 and (.[0] | endswith("(caller.example)"))'
}

# reload LINE...: makes the agent take over this configuration
reload() {
	local line="the configuration was reloaded" before
	before=$(grep -c "$line" "$log")
	configure "$@"
	kill -HUP "$(pidof dartd)"
	soon logged $((before + 1)) "$line"
}

# errors: how many answers to callers by RDMA were an error
errors() {
	dartctl -j show dartd | gojq '.values.rows[0].rpc_errors'
}

# goes_on: no scrape of a caller fails when a table changes that is older than a lease
goes_on() {
	local before
	before=$(errors)
	call_agent rpc "$address" 80 dartd >/run/changing &
	# 50 of its scrapes take longer than a lease.
	until [ "$(wc -l </run/changing)" -ge 50 ]; do
		kill -0 $! || return
		sleep 0.1
	done
	dartctl register source snmp:icmp
	wait $! || return
	[ "$(wc -l </run/changing)" = 80 ] && [ "$(errors)" = "$before" ]
}

# answers_meanwhile: dartctl is answered while two callers ask without a pause
answers_meanwhile() {
	eager_callers "$address" "$patience" header &
	soon holds '.rpc_callers | length == 2' || return
	kill -TERM $! && wait $!
}

# late_agent: two callers get long answers, though the agent stands still for two leases
late_agent() {
	eager_callers "$address" 16 table &
	soon holds '.rpc_callers | length == 2'
	kill -STOP "$(pidof dartd)"
	sleep 8
	kill -CONT "$(pidof dartd)"
	wait $!
}

# killed_caller: the agent ends the connection of a caller that ends without a farewell
killed_caller() {
	call_agent rpc "$address" 10000 dartd >/run/killed &
	soon holds '.rpc_callers | length == 1'
	kill -KILL $!
	soon holds '.rpc_callers == []'
}

# has_seen TRANSPORT: the constant values equal those of a READ
has_seen() {
	local filter='.entries.dartd.rows[0] | [.start_realtime, .start_boottime]'
	dart-controller --once --json --entries dartd "$address" |
		gojq -c "$filter" >/run/read
	if [ "$1" = rpc ]; then
		call_agent rpc "$address" 1 dartd
	else
		by_tcp "$tls/own" caller.example dartd
	fi | gojq -c "$filter" >/run/called
	cat /run/read /run/called
	[ -s /run/read ] && cmp /run/read /run/called
}

rdma_up
ip address show dev eth0 | grep -q $address || ip address add $address/24 dev eth0
mkdir -p $tls/own $tls/other
tls_files $tls/own agent.example caller.example stranger.example expired
tls_files $tls/other agent.example caller.example

check "the agent starts without a configuration" host_up
refuse "without a list no caller over RDMA may connect, and dartd tells it so" \
	"its address is not in allow: callers of the agent's configuration" \
	call_agent rpc $address 1
refuse "without the setting the agent does not listen for callers over TCP" \
	"has dartd there 'tcp' in its configuration" by_tcp $tls/own caller.example
check "its status says that it does not" holds '.tcp_port == 0'
check "the agent stops" host_down

settings=("tcp: {certificate: $tls/own/agent.example.pem,"
	"  key: $tls/own/agent.example.key, authorities: $tls/own/authority.pem,"
	"  subjects: [caller.example, expired], listen: [$address]}")
configure "allow: {callers: [$address]}" "${settings[@]}"
check "the agent starts with callers" host_up --config=$file
check "sources are registered" sh -ec 'dartctl register source cpustat
	dartctl register source softnet; dartctl register source vmstat'
for transport in rpc tcp; do
	check "a caller by $transport gets the values that a controller READs" \
		has_seen $transport
done
check "requests and bytes of both are counted" holds '.rpc_requests == 2 and
	.tcp_requests == 2 and .rpc_bytes > 500 and .tcp_bytes == .rpc_bytes and
	.rpc_callers == [] and .tcp_callers == []'
check "all entries can be asked for at once" call_agent rpc $address 3
check "a caller asks all the time, whose address and certificate are in the status" \
	connected_by_tcp

# ---- callers that may not connect

refuse "a certificate for a name that is not a subject is refused" \
	"refuses the certificate of this side" by_tcp $tls/own stranger.example
refuse "a certificate of another authority is refused" \
	"certificate is refused" by_tcp $tls/other caller.example
cp $tls/own/authority.pem $tls/other/authority.pem
refuse "a certificate of another authority is refused by the agent as well" \
	"refuses the certificate of this side" by_tcp $tls/other caller.example
refuse "a certificate that has expired is refused" \
	"refuses the certificate of this side" by_tcp $tls/own expired
refuse "a caller refuses an agent with another name" "for another name" \
	call_agent tcp $address 1 $tls/own caller.example other.example
check "the log names the reason" grep -q \
	"caller $address:.* rejected: its certificate is for another name" $log
check "the refused handshakes are counted" counts '.tcp_failed_handshakes >= 4'

# ---- callers that break the rules

check "hostile callers over RDMA are disconnected, and told why" \
	hostile_callers $address
check "a client of libdart fetches a table message by message, and again when it is stale" \
	rpc_client $address
check "the three that did not take their answers were cut off" holds '.rpc_cut_off == 3'
check "two callers get long answers back to back for longer than a lease" \
	eager_callers $address 8 table
check "the status is told while two callers ask without a pause" answers_meanwhile
check "a request that comes while the agent does not run has its time afterwards" late_agent
check "none of them was cut off" holds '.rpc_cut_off == 3'
check "a caller that is killed while it asks is noticed" killed_caller
check "afterwards a caller over RDMA is served" has_seen rpc
check "the caller over TCP was served all the time" sh -c \
	"kill -0 \$(cat /run/caller) && [ \$(wc -l </run/lines) -gt 20 ]"

# ---- changes

check "a caller goes on when entries come and go" sh -ec "
	call_agent rpc $address 30 dartd vmstat >/run/changing &
	caller=\$!
	for round in 1 2 3 4 5; do
		dartctl register source snmp:tcp
		dartctl unregister snmp:tcp
	done
	wait \$caller
	[ \$(wc -l </run/changing) = 30 ]"
check "no scrape fails when a table changes that is older than a lease" goes_on
refuse "a caller is told of an entry that does not exist" "no such entry" \
	call_agent rpc $address 1 absent

cat $tls/own/authority.pem $tls/other/authority.pem >$tls/both.pem
check "the configuration is reloaded with a further authority" reload \
	"allow: {callers: [$address]}" "${settings[@]/own\/authority.pem/both.pem}"
check "callers over TCP are disconnected" soon holds '.tcp_callers == []'
check "the log says that the authorities have changed" grep -q \
	"the authorities or the revoked certificates have changed" $log
check "the caller connects again" connected_by_tcp
check "the configuration is reloaded with another subject" reload \
	"allow: {callers: [$address]}" \
	"${settings[@]/caller.example/another.example}"
check "a caller that is no longer allowed is disconnected" soon holds \
	'.tcp_callers == []'
check "the log says why" grep -q "the configuration no longer allows it" $log
check "the configuration is reloaded without callers" reload \
	"allow: {callers: []}" "${settings[@]}"
refuse "no caller over RDMA may connect any longer" "not in allow: callers" \
	call_agent rpc $address 1
refuse "no address may call over TCP any longer, and dartd tells the caller so" \
	"does not allow the address of this side" \
	by_tcp $tls/own caller.example
check "the connections that were not allowed are counted" counts '.tcp_not_allowed >= 1'
check "the agent stops with callers" host_down

configure "device: none" "allow: {callers: [$address]}" "${settings[@]}"
check "the agent starts without an RDMA device" host_up --config=$file
check "its status says that it uses no device" holds '.device == "none"'
check "a caller over TCP gets values from memory that no peer can READ" sh -ec "
	dartctl register source cpustat
	call_agent tcp $address 3 $tls/own caller.example agent.example"
refuse "no peer can READ" "no agent listens there" dart-controller --once $address
refuse "no store can be created" "stores need an RDMA device" \
	dartctl store create paths --slots 2^8 --value 8
check "the agent without a device stops" host_down

configure "allow: {callers: [$address]}" "${settings[@]/own\/agent.example.pem/absent.pem}"
check "the agent starts without its certificate" host_up --config=$file
check "the log names the file" grep -q \
	"callers over TCP cannot connect: cannot read the certificate $tls/absent.pem: No such file" \
	$log
check "the status says why it does not listen" holds \
	'.tcp_port == 0 and (.tcp_failure | contains("absent.pem"))'
check "controllers READ all the same" dart-controller --once --entries dartd $address
chmod 644 $tls/own/agent.example.key
check "the configuration is reloaded with a key that every user may read" reload \
	"allow: {callers: [$address]}" "${settings[@]}"
check "the status says that this key is refused" holds \
	'.tcp_port == 0 and (.tcp_failure | contains("every user may use the key"))'
chmod 600 $tls/own/agent.example.key
check "the configuration is reloaded with files as they should be" reload \
	"allow: {callers: [$address]}" "${settings[@]}"
check "the agent listens" holds '.tcp_port == 4793 and (has("tcp_failure") | not)'
check "a caller over TCP gets values" by_tcp $tls/own caller.example dartd
check "the agent stops in the end" host_down
finish
