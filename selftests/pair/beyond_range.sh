#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# An agent with exact exposure, and a controller that asks for more.
. "$(dirname "$0")/../lib.sh"

rdma_up
on host host_up || exit 1
for source in cpustat vmstat softnet; do
	on host dartctl register source $source || exit 1
done
check "bytes beside what is exposed cannot be read" beyond_range
check "the agent still serves others" dart-controller --once host
check "the agent ends" on host host_down
finish
