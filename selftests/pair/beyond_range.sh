#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# An agent with exact exposure lets no peer read a byte beyond the exposed bytes.
. "$(dirname "$0")/../lib.sh"

rdma_up
on host host_up || exit 1
for source in cpustat vmstat softnet; do
	on host dartctl register source $source || exit 1
done
check "a READ one byte before, after or around an exposed range is refused" beyond_range
check "the agent serves other controllers after refused READs" \
	dart-controller --once host
check "the agent stops" on host host_down
finish
