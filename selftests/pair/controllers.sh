#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# dartctl controller lists the controllers that are connected, and disconnects them.
. "$(dirname "$0")/../lib.sh"

rdma_up
check "the agent starts" on host host_up
check "no controller is connected at first" soon connected 0
dart-controller --json --interval 200ms host >/run/lines 2>/run/controller.log &
controller=$!
check "a controller that is connected is listed" soon connected 1
check "the list has its address, kind and age" is_true \
	'.[0] | (.peer | test("^[0-9.]+:[0-9]+$")) and .kind == "controller" and
		.age_s >= 0' /run/controllers
check "a controller reads in the entry dartd how many controllers are connected" sh -c \
	'dart-controller --once --json --entries dartd host | tee /dev/stderr |
		is_true ".entries.dartd.rows[0] | .controllers >= 1 and .controllers <= 2"'
peer=$(gojq -r '.[0].peer' /run/controllers)
check "the list for people has the address and the kind" sh -c \
	"on host dartctl controller list | grep -q '^$peer *controller'"
check "a controller can be disconnected" \
	on host dartctl controller disconnect "$peer"
refuse "a controller that is not connected cannot be disconnected" "$peer" \
	on host dartctl controller disconnect "$peer"
check "a controller that was disconnected connects again" soon connected 1
kill $controller
wait $controller
check "a controller that has ended is no longer listed" soon connected 0

dart-controller --json --interval 200ms host >/run/lines 2>&1 &
first=$!
dart-controller --json --interval 200ms host >/run/lines 2>&1 &
second=$!
check "two controllers are connected" soon connected 2
on host sh -c 'dartctl monitor >/run/monitor 2>&1 &
	until [ -s /run/monitor ]; do
		dartctl source add softirqs
		dartctl unregister softirqs
	done'
check "the agent stops" on host host_down
check "a monitor prints each controller that the agent disconnects when it stops" \
	soon on host sh -c "[ \$(grep -c 'disconnected controller' /run/monitor) = 2 ]"
kill $first $second
finish
