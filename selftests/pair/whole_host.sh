#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A controller reads a whole host with 500 cgroups and 100 namespaces with a few READs a scrape,
# and the values agree with the kernel.
. "$(dirname "$0")/../lib.sh"

lib=$(cd "$(dirname "$0")/../lib" && pwd)

rdma_up
check "the agent starts" on host host_up
check "500 cgroups, 100 namespaces and disks are made on the host" on host many_objects 500 100
check "the whole host is registered" on host dartctl register host --gather 1s
check "a controller scrapes it" sh -c \
	"dart-controller --json -i 1s -n 5 -e '*+1s' host >/run/lines"
grep -m 1 '"entries":' /run/lines >/run/first
summaries /run/lines >/run/summary
entries=$(gojq '.entries | length' /run/first)
summary=$(gojq -c '.summary | {reads_per_scrape, bytes_per_scrape}' /run/summary)
cost=$(grep '"entries":' /run/lines | tail -n 1 | gojq -c '.entries["gathering+1s"].sum |
	{records, passes, time_ns, longest_ns}')
# Of that, 153 kB are the counters of namespaces, 1.5 kB each, and 320 kB the values of
# cgroups, 640 bytes each.
check "$entries entries of the host take at most 4 READs and 512 KiB: $summary" is_true \
	'.summary | .scrapes == 5 and .failed == 0 and
		.reads_per_scrape <= 4 and .bytes_per_scrape <= 524288' /run/summary
check "500 cgroups, 100 namespaces and the agent's own are in them: $cost" is_true \
	'.entries | keys | (map(select(startswith("cgroup:cpu@/box"))) | length == 500)
		and (map(select(startswith("snmp:tcp@ns"))) | length == 100)
		and any(. == "snmp:tcp+1s")' /run/first
on host python3 "$lib/kernel_values.py" >/run/before
# The passes of the last three scrapes began after the values were read.
check "the controller reads records of later passes" sh -c \
	"dart-controller --json -i 1s -n 5 -e '*+1s' host >/run/lines"
on host python3 "$lib/kernel_values.py" >/run/after
compared=$(python3 "$lib/values_between.py" /run/before /run/after /run/lines 2>/run/outside)
cat /run/outside
check "each of $(gojq .compared <<<"$compared") values is between what the kernel says before and after" \
	is_true '.outside == 0 and .absent == 0 and .compared > 30000' <<<"$compared"
check "the host is unregistered" on host dartctl unregister host
check "the agent stops" on host host_down
finish
