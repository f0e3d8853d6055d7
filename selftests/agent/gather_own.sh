#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Without the module dartd samples drivers over interfaces of the kernel: network devices of other
# namespaces, their counters per CPU, ports of RDMA devices and hardware counters.  Values lie
# between two that the kernel shows.  Deferrable gathering wakes no idle CPU.
GATHERER=programs
export GATHERER
. "$(dirname "$0")/../lib.sh"

# perf_rows: CPUs, and times in ns
perf_rows() {
	passed
	dartctl -j show perf+100ms | gojq -c '.values.rows'
}

check "the agent starts" host_up
check "the gathering is gathered" dartctl source add gathering --gather 100ms

if compgen -G "/sys/bus/event_source/devices/cpu*" >/dev/null; then
	check "the hardware counters are sampled" dartctl source add perf --gather 100ms
	before=$(perf_rows)
	after=$(perf_rows)
	check "each CPU counted for the time between two rows" is_true \
		--argjson before "$before" 'length == 2 and
			([$before, .] | transpose | all((.[1].enabled - .[0].enabled) as $counted |
				(.[1].time - .[0].time) as $passed | $counted > 0.9 * $passed and
				$counted < 1.1 * $passed and .[0].instructions < .[1].instructions))' \
		<<<"$after"
else
	refuse "a machine without a PMU has no hardware counters" "needs a virtual PMU" \
		dartctl source add perf --gather 100ms
fi

finish
