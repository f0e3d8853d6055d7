#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The configuration decides which controllers and readers may connect, and how many.
. "$(dirname "$0")/../lib.sh"

file=/run/dart.yaml

# configure LINE...
configure() {
	on host sh -c 'printf "%s\n" "$@" >'$file sh "$@"
}

# has_scraped COUNT: the controller scraped COUNT times
has_scraped() {
	[ "$(wc -l </run/lines)" -ge "$1" ]
}

# Context switches of the agent: one each time that it slept.
# shellcheck disable=SC2016 # awk expands it
switches() {
	on host sh -c 'awk "/^voluntary_ctxt_switches/ { print \$2 }" \
		"/proc/$(pidof dartd)/status"'
}

rdma_up
configure 'allow:' '  controllers: [10.77.0.9, 10.78.0.0/16]' \
	'limits: {controllers: 1, readers: 1}'
check "the agent starts with a list of allowed controllers" \
	on host host_up --config=$file
check "a store is created" on host dartctl store create paths --slots 2^8 --value 8
refuse "a controller that is not on the list is told why it is refused" \
	"refused the connection: its address is not in allow: controllers of the agent's configuration" \
	dart-controller --once host
check "the log of the agent names the controller and the reason" \
	on host grep "controller 10.77.0.1:.* rejected: its address is not" /run/dartd.log
refuse "without a list of readers no reader is allowed, and it is told so" \
	"its address is not in allow: readers of the agent's configuration" \
	dartctl query paths mirror --query 1 --from host
refuse "a query on the host itself is served without a list" "none of the 2 slots" \
	on host dartctl query paths mirror --query 1
check "the agent stops" on host host_down

configure 'allow:' '  controllers: [10.77.0.1]' '  readers: []' \
	'limits: {controllers: 1}'
check "the agent starts with other lists" on host host_up --config=$file
check "a store is created again" \
	on host dartctl store create paths --slots 2^8 --value 8
check "a controller that is on the list is served" dart-controller --once host
refuse "an empty list of readers allows no reader" \
	"its address is not in allow: readers" \
	dartctl query paths mirror --query 1 --from host

dart-controller --json --interval 200ms host >/run/lines 2>/run/controller.log &
controller=$!
check "the only controller that the limit allows is connected" soon connected 1
refuse "a further controller is told the limit" \
	"as many controllers are connected as the configuration allows (1)" \
	dart-controller --once host
check "it did not disturb the first controller" soon connected 1
before=$(switches)
soon has_scraped $(($(wc -l </run/lines) + 20))
check "with the default keepalive, 20 scrapes do not wake the agent" [ "$(switches)" = "$before" ]
kill $controller
check "the first controller ended" soon connected 0
check "afterwards another controller is served" dart-controller --once host

dart-controller --json --interval 200ms host >/run/lines 2>/run/controller.log &
controller=$!
check "a controller is connected before a reload" soon connected 1
configure 'port: 4793' 'allow:' '  controllers: [10.77.0.9]' \
	'  readers: [10.77.0.1]'
on host pkill -HUP -x dartd
check "a reload disconnects a controller that is no longer allowed" soon connected 0
refuse "a reload changes who is allowed" "is not in allow: controllers" \
	dart-controller --once host
refuse "a reader that a reload allows is served" "none of the 2 slots" \
	dartctl query paths mirror --query 1 --from host
check "the log names the setting that needs a restart" on host grep -q \
	"used when dartd starts again: port (systemctl restart dartd)" /run/dartd.log
kill $controller
check "the agent stops at the end" on host host_down
finish
