#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Three sketchers count DART_COUNTS packets in a period while 1 % of the frames get lost, and as
# many come twice and late: each strip is exact, or a hole that readers know, and the answers
# equal the answers of one sketch in one memory.  Then a translator adds up the strips of as many
# packets, with the same faults on both of its sides: each strip is the exact sum of as many
# sketchers as it says.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../faulty_link.sh"
. "$(dirname "$0")/../counted_sketch.sh"

counts=${DART_COUNTS:-1000000}
flows=200
sketchers="10.77.0.1 10.77.0.3 10.77.0.4"
rate=10000
translator=10.77.0.9

rdma_up
add_sketchers
ip address add "$translator/24" dev eth0
modprobe -a veth sch_netem
ip link add card0 type veth peer name card1
ip link set card0 up
ip link set card1 up
check "the agent starts" on host sh -c "modprobe dart_zero && rdma_up &&
	host_up --config $tests/readers.yaml"
list_flows

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
	check "$counts packets are counted" count_all eth0
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
	check "the answers equal the answers of one memory, or holes are told" judged heavy 3
	check "the sketch is deleted" on host dartctl sketch delete heavy

	check "another sketch has the same sketchers and a translator" create_sums "$kind" $translator
	check "the translator is attached" dartctl xdp attach card1 --through eth0 \
		--source $translator --sketch /run/all.json
	check "frames get lost, come twice and late" faulty_link 1 1 1
	check "so they do on the way to the translator" tc qdisc replace dev card0 root netem \
		loss 1% duplicate 1% delay 2ms reorder 99%
	check "$counts packets are counted" count_all card0
	check "the translator is detached" dartctl xdp detach card1
	sound_link
	check "strips are exact sums of as many sketchers as they say, or missing" sums_exact $translator
	read -r missing fewer </run/missing
	echo "# of 256 sums, $missing are missing and $fewer lack sketchers"
	check "readers count both" sums_counted "$missing" "$fewer"
	check "the answers equal the answers of one memory, or holes are told" judged sums 1
	check "the sketch is deleted" on host dartctl sketch delete sums
done
check "the agent stops" on host host_down
finish
