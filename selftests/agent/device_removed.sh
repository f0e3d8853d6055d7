#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartd outlives its RDMA device: it closes the device at once, serves callers over TCP meanwhile,
# and when the device is back, all registered objects are available again.
. "$(dirname "$0")/../lib.sh"

tls=/run/tls
log=/run/dartd.log
export log

# status FILTER: the filter holds for the status of the running dartd
status() {
	dartctl -j status | tee /dev/stderr | is_true "$1"
}

# by_tcp: one scrape of cpustat
by_tcp() {
	call_agent tcp 10.77.0.1:4793 1 "$tls" caller.example agent.example cpustat
}

# by_read ENTRIES: a controller READs these
by_read() {
	dart-controller --json --once 10.77.0.1 >/run/scraped &&
		[ "$(gojq -r '.entries | keys | join(" ")' /run/scraped | tee /dev/stderr)" = "$1" ]
}

# removed DEVICE: does the kernel finish its removal?
removed() {
	timeout 120 rdma link delete "$1"
}

# reporters COUNT: COUNT reporters of the store own a queue pair
reporters() {
	[ "$(dartctl -j reporter list | gojq length)" = "$1" ]
}

requesters() {
	[ "$(dartctl -j requester list | gojq length)" = "$1" ]
}

# without_device [OPTION...]: starts dartd without a device, with the registrations kept
without_device() {
	until_ready "$log" dartd "$@"
}

doctor_says() {
	dartctl doctor | tee /dev/stderr | grep -q "device.*gone\|device.*no RDMA device"
}

rdma_up
mkdir -p $tls /run/dart
tls_files $tls agent.example caller.example
cat >/run/dartd.yaml <<END
allow: {callers: [10.77.0.0/24]}
tcp: {certificate: $tls/agent.example.pem, key: $tls/agent.example.key,
  authorities: $tls/authority.pem, subjects: [caller.example]}
sources: [cpustat]
stores: [{name: paths, slots: 2^12, value: 20, reporters: [10.77.0.9]}]
END
ip link set eth0 mtu 4200
reach 10.77.0.9
check "the agent starts" host_up --config=/run/dartd.yaml
check "a source is gathered" dartctl source add vmstat --gather 1s
check "a table is created" dartctl table create nat --rows 2^6 --key 4 --value 4
check "a requester is added" dartctl requester add nat 10.77.0.9
entries="cpustat dartd tcp vmstat+1s"
check "a controller READs all entries" by_read "$entries"
check "a caller over TCP gets values" by_tcp
pid=$(pidof dartd)
before=$(dartctl store export paths | gojq -c '.collectors[0] | [.base, .first_psn]')
epoch=$(dartctl store export paths | gojq '.epoch // .collectors[0].epoch')

call_agent tcp 10.77.0.1:4793 100000 $tls caller.example agent.example cpustat \
	>/run/caller.log 2>&1 &
caller=$!
check "a caller stays connected over TCP" soon status '.tcp_callers | length == 1'
for round in first second; do
	check "$round round: the kernel removes the device while dartd runs" removed rxe0
	check "$round round: the same dartd still runs" [ "$(pidof dartd)" = "$pid" ]
	check "$round round: its status says that the device is gone" \
		soon status '.device_missing | test("RDMA device")'
	check "$round round: dartctl status says so to people" \
		sh -c 'dartctl status | grep device_missing'
	check "$round round: the log says so" grep "rxe0: it is being removed" "$log"
	check "$round round: the caller over TCP is still connected" \
		status '.tcp_callers | length == 1'
	check "$round round: another caller over TCP gets values" by_tcp
	check "$round round: there is no reporter without the device" reporters 0
	check "$round round: the store is there" dartctl store show paths
	refuse "$round round: a store cannot be created" "not there now" \
		dartctl store create other --slots 2^4 --value 4
	refuse "$round round: a reporter cannot be added" "not there now" \
		dartctl reporter add paths 10.77.0.8
	check "$round round: a source can be registered" dartctl source add softirqs
	check "$round round: a source can be unregistered" dartctl unregister softirqs
	check "$round round: the doctor names the device" doctor_says
	check "$round round: the device comes back" rdma link add rxe0 type rxe netdev eth0
	check "$round round: dartd takes it" soon status 'has("device_missing") | not'
	check "$round round: a controller READs all entries again" soon by_read "$entries"
	check "$round round: the reporter is there again" soon reporters 1
	check "$round round: the requester is there again" soon requesters 1
	check "$round round: the reporter has the same address and PSN" [ "$before" = \
		"$(dartctl store export paths | gojq -c '.collectors[0] | [.base, .first_psn]')" ]
	check "$round round: the epoch of the store is new" [ "$epoch" != \
		"$(dartctl store export paths | gojq '.epoch // .collectors[0].epoch')" ]
	epoch=$(dartctl store export paths | gojq '.epoch // .collectors[0].epoch')
	check "$round round: nothing is missing" status '.missing == 0'
done
kill $caller

check "another device comes" sh -c 'ip link add other0 type dummy &&
	ip address add 10.78.0.1/24 dev other0 && ip link set other0 up &&
	rdma link add rxe7 type rxe netdev other0'
refuse "dartd does not serve through another device" "rxe0" \
	timeout 120 dart-controller --once --json 10.78.0.1
check "the kernel removes the other device while dartd runs" removed rxe7
check "dartd has not lost its own" status 'has("device_missing") | not'
check "the agent stops" host_down

check "the device is removed" removed rxe0
check "the agent starts without a device" without_device --config=/run/dartd.yaml
check "a caller over TCP gets values without a device" by_tcp
check "the store waits for the device" status '.missing > 0'
check "the device comes" rdma link add rxe0 type rxe netdev eth0
check "a controller READs all entries then" soon by_read "$entries"
check "the store is there with its reporter" soon reporters 1
check "nothing is missing then" soon status '.missing == 0'
check "the agent stops at the end" host_down
ip link delete other0
rm -r $tls /run/dartd.yaml
finish
