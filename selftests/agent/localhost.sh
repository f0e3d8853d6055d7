#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A controller reads the host that it runs on by the name localhost, although no RDMA device
# reaches 127.0.0.1 and ::1.
. "$(dirname "$0")/../lib.sh"

cat >/run/agent.yaml <<'END'
allow: {callers: [10.77.0.0/24]}
sources: [cpustat]
END

# values OPTION... HOST: does one scrape of the host contain values of CPUs?
values() {
	timeout 120 dart-controller --json --count 1 "$@" >/run/scrape &&
		is_true -s '[.[] | select(.entries)][0].entries.cpustat.sum.system > 0' /run/scrape
}

check "dartd starts" host_up --config=/run/agent.yaml
for name in localhost 127.0.0.1 127.1.2.3 ::1; do
	check "$name is read" values $name
done
check "localhost answers rpc" values --transport rpc localhost
check "the doctor of the controller finds its way to localhost" \
	dart-controller doctor localhost
host_down
ip address save dev eth0 >/run/addresses
ip address flush dev eth0
check "dartd starts without an address" host_up again --config=/run/agent.yaml
refuse "without an address of a device the host cannot be read, and the message says so" \
	"No such device" values localhost
host_down
check "eth0 has its addresses again" ip address restore </run/addresses
finish
