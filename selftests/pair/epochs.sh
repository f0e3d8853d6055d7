#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reports go on over rotations of a store on another machine, by the same queue pair: each epoch has
# the reports of its time, and no later ones, which are counted.
. "$(dirname "$0")/../lib.sh"

collectors=$(mktemp)
files=/var/lib/dart/epochs/paths

export_collectors() {
	on host dartctl store export paths >"$collectors"
}

# report SEED: both copies of 1000 flows
report() {
	dart-report -i eth0 -c "$collectors" -f uniform -n 1000 --copies all --rate 4000 \
		--seed "$1"
}

rotate() {
	on host dartctl store rotate paths && export_collectors
}

# in_files COUNT
in_files() {
	on host dartctl -j store list | is_true ".[0].epochs | .written == $1 and .lost == 0"
}

# has NUMBER SEED PART: file NUMBER, from 1, has at least PART of 1000 flows, and nothing wrong
has() {
	on host sh -c "zstdcat -c \"\$(ls -d $files/* | sed -n $1p)\" >/run/slots &&
		flows_found /run/slots uniform 1000 $2" | tee /dev/stderr |
		is_true ".correct >= $3 and .wrong == 0"
}

# lacks NUMBER SEED: file NUMBER has none of these flows
lacks() {
	on host sh -c "zstdcat -c \"\$(ls -d $files/* | sed -n $1p)\" >/run/slots &&
		flows_found /run/slots uniform 1000 $2" | is_true ".correct == 0"
}

rdma_up
check "the agent starts" on host host_up
check "the host creates a store with epochs of an hour" on host dartctl store create paths \
	--slots 2^16 --value 20 --epoch 60min
check "this machine is added as a reporter of the store" \
	on host dartctl reporter add paths 10.77.0.1
check "the numbers for reporters are exported" export_collectors
first=$(cat "$collectors")
for seed in 1 2 3; do
	check "flows are reported ($seed)" report $seed
	check "the store rotates ($seed)" rotate
done
check "the queue pair is the one of the first epoch" is_true --argjson first "$first" '
	(.collectors[0] | [.qpn, .first_psn, .epoch]) ==
	($first.collectors[0] | [.qpn, .first_psn, .epoch]) and
	.collectors[0].rkey != $first.collectors[0].rkey' <"$collectors"
check "three epochs are in files" soon in_files 3
# A virtual network drops some frames.
for seed in 1 2 3; do
	check "the flows of epoch $seed are in its file" has $seed $seed 900
done
check "flows of an epoch are not in the next one" lacks 2 1

echo "$first" >"$collectors"
check "flows are reported with the key of the first epoch" report 9
check "the numbers for reporters are exported again" export_collectors
former=$(cat "$collectors")
check "the store rotates (4)" rotate
check "its epoch is in a file" soon in_files 4
echo "$former" >"$collectors"
check "flows are reported with the key of the epoch before, which is in its file" report 8
check "the numbers for reporters are exported once more" export_collectors
check "flows are reported in the present epoch" report 4
check "the store rotates (5)" rotate
check "its epoch is in a file, too" soon in_files 5
check "the flows of the present epoch are there" has 5 4 900
check "reports with a key of the past change nothing" lacks 4 9
check "late reports are in neither epoch" eval "lacks 4 8 && lacks 5 8"
is_counted() {
	on host dartctl -j store list | is_true ".[0].epochs.late_slots | . >= 1700 and . <= 2000"
}
check "they are counted" is_counted
are_counted_for_all() {
	on host dartctl -j show dartd | is_true ".values.rows[0] |
		.written_epochs == 5 and .lost_epochs == 0 and .late_slots >= 1700"
}
check "controllers read the counts of all stores" are_counted_for_all
check "the log tells of them" on host grep -q \
	"store paths: reports wrote 1[0-9]* slots .* their reporters followed the rotation too late" \
	/run/dartd.log

# Fewer packets than a reporter sends between two looks at its files, if packets come quickly.
dart-report -i eth0 -c "$collectors" --follow -f uniform -n 40 --copies all --rate 4 --seed 5 &
reporter=$!
check "the store rotates while a slow reporter follows its file" rotate
check "the store rotates again, as soon as the last epoch is in a file" rotate
check "the reporter still sends" kill -0 "$reporter"
check "the reporter has sent all" wait "$reporter"
check "the store rotates (8)" rotate
check "all epochs are in files" soon in_files 8
# found: how many of its flows are in any epoch
found() {
	on host sh -c "for file in $files/*; do
		zstdcat -c \$file >/run/slots && flows_found /run/slots uniform 40 5
	done" | gojq -s 'map(.correct) | add'
}
there=$(found)
check "none of its reports is lost, as $there of 40 flows are in an epoch" [ "$there" -ge 39 ]
check "the agent stops" on host host_down
rm -f "$collectors"
finish
