#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# dartctl probe: what is loaded is an entry, what is unloaded is none; histograms
# count what the kernel itself counts.
. "$(dirname "$0")/../lib.sh"

# holds NAME JQ: of the probe in the list
holds() {
	dartctl -j probe list | jq -e --arg name "$1" \
		'.probes[] | select(.name == $name) | '"$2"
}

entries() {
	dartctl -j list | jq -c '.entries | map(.name)'
}

# between LOW VALUE HIGH
between() {
	echo "$1 <= $2 <= $3"
	[ "$1" -le "$2" ] && [ "$2" -le "$3" ]
}

# counted ENTRY FIELD: all counts of a histogram
counted() {
	dartctl -j show "$1" | jq ".entry.values.sum.$2 | add"
}

check "the agent starts" host_up
chmod 666 /run/dart/dartd.sock
check "tcp is loaded from the start" holds tcp '.loaded and .entries == ["tcp"]'
before=$(entries)
for probe in runqlat; do
	check "$probe is there to be loaded" holds $probe '.loaded | not'
	refuse "$probe is for root only" "only root" setpriv --reuid 65534 \
		--clear-groups dartctl probe load $probe
	check "$probe is loaded" dartctl probe load $probe
	check "$probe: its entries are registered" holds $probe \
		'.loaded and .entries[0] == .name'
	refuse "$probe is not loaded twice" EEXIST dartctl probe load $probe
	check "$probe: its values are shown" dartctl show $probe
	check "$probe is unloaded" dartctl probe unload $probe
	check "$probe: nothing is left" [ "$(entries)" = "$before" ]
	refuse "$probe is not unloaded twice" "not loaded" \
		dartctl probe unload $probe
done
refuse "no such probe" "no probe 'absent'" dartctl probe load absent
bpftool map create /sys/fs/bpf/taken type array key 4 value 8 entries 1 \
	name taken flags 1024
dartctl register map /sys/fs/bpf/taken as runqlat >"$output"
refuse "an entry of that name is in the way" "already" dartctl probe load runqlat
check "and nothing of the probe was loaded" holds runqlat '.loaded | not'
dartctl unregister runqlat >"$output"

# Each CPU's 9th figure: how often a task that had waited got it.
scheduled() {
	awk '/^cpu/ { sum += $10 } END { print sum }' /proc/schedstat
}

dartctl probe load runqlat
low=$(scheduled)
first=$(counted runqlat latency)
first_high=$(scheduled)
load switches 5000 >"$output"
last_low=$(scheduled)
last=$(counted runqlat latency)
high=$(scheduled)
check "runqlat counts what /proc/schedstat counts" \
	between $((last_low - first_high)) $((last - first)) $((high - low))
check "runqlat: among it what was done" [ $((last - first)) -ge 5000 ]

check "the agent ends" host_down
finish
