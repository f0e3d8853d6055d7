#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A controller closes a removed RDMA device, and uses it again when it is back.
. "$(dirname "$0")/../lib.sh"

# scrapes: some lines with values come after this call
scrapes() {
	: >/run/lines
	for _ in $(seq 600); do
		grep -q '"entries"' /run/lines && return
		sleep 0.1
	done
	cat /run/controller.log
	return 1
}

removed() {
	timeout 120 rdma link delete rxe0
}

rdma_up
check "the agent starts" on host host_up
on host dartctl register source cpustat
dart-controller --json --interval 100ms host localhost >/run/lines 2>/run/controller.log &
controller=$!
check "a controller reads a host" scrapes
for round in first second; do
	check "$round round: the kernel removes the device while it is read through" removed
	check "$round round: the controller still runs" kill -0 $controller
	rdma link add rxe0 type rxe netdev eth0
	check "$round round: it reads through the device that is back" scrapes
done
check "the agent ends" on host host_down
check "the controller has no connection any more" soon sh -c \
	'! rdma resource show qp link rxe0/1 | grep -v "type GSI" | grep dart-controller'
check "the kernel removes the device without a connection" removed
rdma link add rxe0 type rxe netdev eth0
check "the agent starts again" on host host_up again
check "the controller reads once more" scrapes
kill $controller
check "the agent stops" on host host_down
finish
