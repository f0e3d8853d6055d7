#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Three sketchers count DART_COUNTS packets in a period while 1 % of the frames get lost, and as
# many come twice and late: each strip is exact, or a hole that readers know, and the answers
# equal the answers of one sketch in one memory.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../faulty_link.sh"

counts=${DART_COUNTS:-1000000}
flows=200
sketchers="10.77.0.1 10.77.0.3 10.77.0.4"
model=$tests/lib/sketch.py

# count ADDRESS PACKETS
count() {
	dart-report --json --interface eth0 --sketch "/run/$1.json" --source "$1" --flows uniform \
		--count $flows --packets "$2" >"/run/$1.counted"
}

# judged KIND: the answers equal the answers of one memory
judged() {
	gojq -e --argjson n "$counts" --argjson flows "$flows" '
		(.keys | length) + .unknown == $flows and .present == 3 and .absent == 0 and
		.unknown <= $flows / 50 and
		if .kind == "count-min" then all(.keys[]; .value.packets >= ($n / 3 / $flows | floor) * 3)
		else true end' "/run/top.$1"
}

rdma_up
ip address add 10.77.0.3/24 dev eth0
ip address add 10.77.0.4/24 dev eth0
check "the agent starts" on host sh -c "modprobe dart_zero && rdma_up &&
	host_up --config $tests/readers.yaml"
for i in $(seq 0 $((flows - 1))); do
	flow uniform $flows 0 "$i" | head -n 1
done >/run/keys
awk '{ print $2, $4, $6, $8, $10 }' /run/keys >/run/values

for kind in count-min count-sketch; do
	check "a sketch of kind $kind has three sketchers" on host sh -ec "
		dartctl sketch create heavy --columns 2^12 --period 30s --kind $kind --parts 4
		for address in $sketchers; do
			dartctl sketcher add heavy \$address
		done"
	for address in $sketchers; do
		on host dartctl sketch export heavy --sketcher "$address" >"/run/$address.json"
	done
	check "frames get lost, come twice and late" faulty_link 1 1 1
	# All have ten seconds to begin before the next period.
	until [ $(($(date +%s) % 30)) -lt 20 ]; do
		sleep 1
	done
	counting=
	for address in $sketchers; do
		count "$address" $((counts / 3)) &
		counting="$counting $!"
	done
	# shellcheck disable=SC2086 # words
	check "$counts packets are counted" wait $counting
	sound_link
	on host "$model" memory heavy >/run/memory
	part=0 lost=0
	for address in $sketchers; do
		check "strips of sketcher $part are exact or missing" \
			sh -c "\"$model\" same /run/memory /run/$address.json $part /run/keys \
				/run/$address.counted >/run/missing"
		lost=$((lost + $(cat /run/missing)))
		part=$((part + 1))
	done
	echo "# $lost of 768 strips are missing"
	check "readers count the missing ones" sh -c "
		dartctl -j sketch show heavy --from host |
			gojq -e '.holes.empty + .holes.older == $lost and
				.holes.newer + .holes.torn + .holes.fewer == 0'"
	dartctl -j sketch top heavy flow-count --keys /run/values --count "$flows" --from host \
		>"/run/top.$kind"
	check "the answers equal the answers of one memory, or holes are told" judged "$kind"
	gojq -r '"# \(.unknown) flows have no count, epsilon \(.epsilon)"' "/run/top.$kind"
	check "the sketch is deleted" on host dartctl sketch delete heavy
done
check "the agent stops" on host host_down
finish
