#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# dartd takes its device, addresses, port, exposure and limits from the configuration.
. "$(dirname "$0")/../lib.sh"

file=/run/dart.yaml

# starts LINE... [-- OPTION...]: with these lines as the configuration
starts() {
	: >"$file"
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		echo "$1" >>"$file"
		shift
	done
	[ $# -eq 0 ] || shift
	host_up --config="$file" "$@"
}

# status JQ
status() {
	dartctl -j status | tee /dev/stderr | is_true "$1"
}

# listens ADDRESS:PORT...: at these and at no other address
listens() {
	rdma -j resource show cm_id | tee /dev/stderr |
		gojq -r '.[] | select(.state == "LISTEN")."src-addr"' | sort |
		paste -sd ' ' | tee /dev/stderr | grep -qxF "$*"
}

rdma_up
ip link add eth1 type dummy
ip address add 10.78.0.1/24 dev eth1
ip address add 10.78.0.2/24 dev eth1
ip address add fd78::1/64 dev eth1 nodad
ip link set eth1 up
rdma link add rxe1 type rxe netdev eth1

for device in rxe0 rxe1; do
	check "the agent starts with the device $device of the configuration" \
		starts "device: $device"
	check "the agent uses $device" status ".device == \"$device\""
	check "the agent that used $device stops" host_down
done
check "the agent waits for a device that is absent" starts "device: rxe7"
check "its status names the existing devices" status ".device == \"rxe7\" and
	(.device_missing | test(\"no RDMA device 'rxe7', but rxe[01], rxe[01] .choose\"))"
check "the agent that waits stops" host_down

check "the agent starts with three addresses, a port and an exposure" \
	starts "device: rxe1" "listen: [10.78.0.1, 'fd78::1', 10.78.0.2]" \
	"port: 4800" "exposure: page"
check "it listens at these addresses and no other" \
	listens 10.78.0.1:4800 10.78.0.2:4800 fd78::1:4800
check "its status has the port and the exposure" \
	status '.port == 4800 and .exposure == "page"'
check "a controller connects to one of them" \
	dart-controller --once 10.78.0.2:4800
check "the agent with three addresses stops" host_down

check "options of the command line win over the configuration" \
	starts "port: 4800" "exposure: page" -- --port=4801 --exposure=exact
check "the command line sets port and exposure" \
	status '.port == 4801 and .exposure == "exact"'
check "the agent with options stops" host_down

refuse "an address of another device is refused with both devices" \
	"10.77.0.1: it is an address of RDMA device rxe0, and the agent uses rxe1" \
	starts "device: rxe1" "listen: [10.77.0.1]"
refuse "an address that the host lacks is refused with the question for it" \
	"at 10.99.0.1, port 4792: .* (is it an address of this host" \
	starts "listen: [10.99.0.1]"

refuse "an unknown key in line 7 is refused with its line" \
	"$file:7: unknown key 'soures'" starts "" "" "" "" "" "" "soures: []"
check "a file that is refused leaves no agent" sh -c '! pgrep -x dartd'
refuse "a configuration of the command line that is missing is refused" \
	"/run/absent.yaml: cannot read it" host_up --config=/run/absent.yaml
check "without a configuration the agent starts with its defaults" host_up
check "its defaults are port 4792 and exact exposure" \
	status '.port == 4792 and .exposure == "exact"'
check "the agent with defaults stops" host_down

check "the agent starts with a limit of two clients" starts "limits: {clients: 2}"
# are_two: two monitors are clients, and dartd refuses a third client. A client that has ended may
# still count when a monitor comes: dartd refuses the monitor then, and the test starts another.
are_two() {
	for number in 1 2; do
		[ ! -e "/run/monitor$number" ] || [ -s "/run/monitor$number" ] || continue
		dartctl monitor >"/run/monitor$number" 2>&1 &
		eval "monitor$number=$!"
	done
	! dartctl list
}
# The first refusal may be because of a client that has ended; it does not count any more then.
both_stay() { are_two && are_two; }
soon both_stay
refuse "a third client is refused with the limit" "too many clients" dartctl list
# shellcheck disable=SC2154 # set by eval
kill "$monitor1"
check "when a client leaves, another is served" \
	timeout 120 sh -c 'until dartctl list; do sleep 0.1; done'
# shellcheck disable=SC2154 # set by eval
kill "$monitor2"
check "the agent stops" host_down
finish
