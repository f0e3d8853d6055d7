#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reports of a program that follows the export go on over DART_ROTATIONS rotations of a store on
# another machine: as many flows are found in its epochs as in those of a run without rotations.
. "$(dirname "$0")/../lib.sh"

rotations=${DART_ROTATIONS:-100}
# Slow enough for a virtual network to drop nothing.
rate=400
flows=$((rotations * 100))
collectors=/run/epochs.json
files=/var/lib/dart/epochs/paths

export_collectors() {
	on host dartctl store export paths >"$collectors.new" && mv "$collectors.new" "$collectors"
}

# start SEED: both copies of all flows, in the background
start() {
	dart-report -i eth0 -c "$collectors" --follow -f uniform -n $flows --copies all \
		--rate $rate --seed "$1" --json >/run/report.json &
	reporter=$!
}

# rotate_all: while reports go on; each rotation waits until the last epoch is in a file
rotate_all() {
	local i

	for ((i = 0; i < rotations; i++)); do
		on host dartctl store rotate paths >/dev/null && export_collectors || return
	done
}

written() {
	on host dartctl -j store list | is_true ".[0].epochs | .written == $1 and .lost == 0"
}

# found SEED: how many flows are in any epoch; prints those in the wrong one as well
found() {
	on host sh -c "for file in $files/*; do
		zstdcat -c \$file >/run/slots && flows_found /run/slots uniform $flows $1
	done" | gojq -s 'map(.correct) | add'
}

rdma_up
check "the agent starts" on host host_up
check "the host creates a store with epochs" on host dartctl store create paths \
	--slots 2^18 --value 20 --epoch 1440min
check "this machine is added as a reporter of the store" \
	on host dartctl reporter add paths 10.77.0.1
check "the numbers for reporters are exported" export_collectors
start 1
check "flows are reported without rotations" wait "$reporter"
check "the store rotates" on host dartctl store rotate paths
check "its epoch is in a file" soon written 1
plain=$(found 1)
check "the network dropped none of them" [ "$plain" = $flows ]
on host sh -c "rm $files/*"

check "the numbers for reporters are exported again" export_collectors
start 2
check "the store rotates $rotations times meanwhile" rotate_all
check "flows are reported" wait "$reporter"
check "the store rotates again" on host dartctl store rotate paths
check "all epochs are in files" soon written $((rotations + 2))
check "no report is lost at a rotation: each flow is in an epoch" [ "$(found 2)" -ge $flows ]
check "epochs follow each other without a gap" sh -c "on host ls $files | sort -n | gojq -R -s -e '
	split(\"\n\")[:-1] | map(rtrimstr(\".dart\") / \"-\") |
	length == $rotations + 1 and ([.[1:][][0]] == [.[:-1][][1]])'"
check "the agent stops" on host host_down
rm -f "$collectors"
finish
