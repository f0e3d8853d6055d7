#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Three sketchers count DART_COUNTS packets in a period while 1 % of the frames get lost, and as
# many come twice and late: each strip is exact, or a hole that readers know, and the answers
# equal the answers of one sketch in one memory.  Then a translator adds up the strips of as many
# packets, with the same faults on both of its sides: each strip is the exact sum of as many
# sketchers as it says.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../faulty_link.sh"

counts=${DART_COUNTS:-1000000}
flows=200
sketchers="10.77.0.1 10.77.0.3 10.77.0.4"
translator=10.77.0.9
model=$tests/lib/sketch.py

# count ADDRESS INTERFACE
count() {
	dart-report --json --interface "$2" --sketch "/run/$1.json" --source "$1" --flows uniform \
		--count "$flows" --packets $((counts / 3)) >"/run/$1.counted"
}

# count_all INTERFACE: all sketchers count a third of the packets, in one period
count_all() {
	local address counting=

	# All have ten seconds to begin before the next period.
	until [ $(($(date +%s) % 30)) -lt 20 ]; do
		sleep 1
	done
	for address in $sketchers; do
		count "$address" "$1" &
		counting="$counting $!"
	done
	# shellcheck disable=SC2086 # words
	wait $counting
}

# judged KIND PRESENT: the answers equal the answers of one memory
judged() {
	gojq -e --argjson n "$counts" --argjson flows "$flows" --argjson present "$2" '
		(.keys | length) + .unknown == $flows and .present == $present and .absent == 0 and
		.unknown <= $flows / 50 and
		if .kind == "count-min" then all(.keys[]; .value.packets >= ($n / 3 / $flows | floor) * 3)
		else true end' "/run/top.$1"
}

rdma_up
ip address add 10.77.0.3/24 dev eth0
ip address add 10.77.0.4/24 dev eth0
ip address add "$translator/24" dev eth0
modprobe -a veth sch_netem
ip link add card0 type veth peer name card1
ip link set card0 up
ip link set card1 up
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
	dartctl -j sketch top heavy flow-count --keys /run/values --count "$flows" --from host \
		>"/run/top.$kind"
	check "the answers equal the answers of one memory, or holes are told" judged "$kind" 3
	gojq -r '"# \(.unknown) flows have no count, epsilon \(.epsilon)"' "/run/top.$kind"
	check "the sketch is deleted" on host dartctl sketch delete heavy

	check "another sketch has the same sketchers and a translator" on host sh -ec "
		dartctl sketch create sums --columns 2^12 --period 30s --kind $kind --parts 4
		for address in $translator $sketchers; do
			dartctl sketcher add sums \$address
		done"
	on host dartctl sketch export sums >/run/all.json
	for address in $translator $sketchers; do
		gojq --arg address "$address" '.sketches |= map(select(.reporter == $address))' \
			/run/all.json >"/run/$address.json"
	done
	check "the translator is attached" dartctl xdp attach card1 --through eth0 \
		--source $translator --sketch /run/all.json
	check "frames get lost, come twice and late" faulty_link 1 1 1
	check "so they do on the way to the translator" tc qdisc replace dev card0 root netem \
		loss 1% duplicate 1% delay 2ms reorder 99%
	check "$counts packets are counted" count_all card0
	check "the translator is detached" dartctl xdp detach card1
	sound_link
	on host "$model" memory sums >/run/memory
	# shellcheck disable=SC2046,SC2086 # words
	check "strips are exact sums of as many sketchers as they say, or missing" sh -c "
		\"$model\" summed /run/memory /run/$translator.json 0 /run/keys \
			$(printf '/run/%s.counted ' $sketchers) >/run/missing"
	read -r missing fewer </run/missing
	echo "# of 256 sums, $missing are missing and $fewer lack sketchers"
	check "readers count both" sh -c "
		dartctl -j sketch show sums --from host | gojq -e '.present == 1 and .unused == 3 and
			.holes.empty == $missing and .holes.fewer == $fewer and
			.holes.older + .holes.newer + .holes.torn == 0'"
	dartctl -j sketch top sums flow-count --keys /run/values --count "$flows" --from host \
		>"/run/top.$kind"
	check "the answers equal the answers of one memory, or holes are told" judged "$kind" 1
	gojq -r '"# \(.unknown) flows have no count, epsilon \(.epsilon)"' "/run/top.$kind"
	check "the sketch is deleted" on host dartctl sketch delete sums
done
check "the agent stops" on host host_down
finish
