#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Three sketchers count DART_COUNTS packets in a period while 1 % of the frames get lost, and as
# many come twice and late: each strip is exact, or a hole that readers know, and the answers
# equal the answers of one sketch in one memory.  Then a translator adds up the strips of as many
# packets, with the same faults on both of its sides: each strip is the exact sum of as many
# sketchers as it says.  At last the agent is killed while strips come.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../restarts.sh"
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
check "the agent starts under a service manager" on host sh -c "
	rm -rf /var/lib/dart && modprobe dart_zero && rdma_up && until_ready /run/dartd.log \
		service_manager dartd --config $tests/readers.yaml"
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

# ---- the agent is killed, and back, while a translator adds up strips

# How many packets the host's soft-RoCE has accepted.
taken() {
	on host "$tests/host_counts" | gojq .taken
}

rises_by() {
	[ $(($(taken) - $1)) -ge "$2" ]
}

# renewed: the host's file has other queue pairs, and the files of all sketchers are here
renewed() {
	local address

	on host cat /run/kept.json >/run/next.json && [ -s /run/next.json ] &&
		! cmp -s /run/next.json /run/all.json || return
	for address in $translator $sketchers; do
		gojq --arg address "$address" '.sketches |= map(select(.reporter == $address))' \
			/run/next.json >/run/next && mv /run/next "/run/$address.json" || return
	done
	mv /run/next.json /run/all.json
}

# Each sketcher sends its 256 strips in ten seconds.
counts=30000 rate=25 follow=yes
check "another sketch has the same sketchers and a translator" create_sums count-min $translator
check "the host keeps a file of it" on host until_ready /run/watch.log \
	dartctl sketch export sums --watch /run/kept.json
on host cat /run/kept.json >/run/all.json
check "the translator is attached" dartctl xdp attach card1 --through eth0 \
	--source $translator --sketch /run/all.json
check "it follows the file" until_ready /run/follow.log dartctl -j xdp follow card1 \
	--sketch /run/all.json
follower=$(pgrep -nx dartctl)
before=$(taken)
count_all card0 &
counting=$!
check "sums arrive" until_true rises_by "$before" 50
old=$(on host pidof dartd)
check "the agent is killed" on host sh -c "
	kill -KILL $old; while kill -0 $old; do sleep 0.05; done 2>/dev/null"
check "the export has the next queue pairs" until_true renewed
there=$(taken)
check "$counts packets are counted" wait "$counting"
end_processes "$follower"
check "the translator is detached" dartctl xdp detach card1
check "sums arrive again" until_true rises_by "$there" 50
check "strips are exact sums of as many sketchers as they say, or missing" sums_exact $translator
read -r missing fewer </run/missing
echo "# of 256 sums, $missing are missing and $fewer lack sketchers"
check "most are there" [ "$missing" -lt 156 ]
check "readers find no count that is too low" sh -c "
	dartctl -j sketch top sums flow-count --keys /run/values --count $flows --from host |
		gojq -e 'all(.keys[]; .value.packets >= ($counts / 3 / $flows | floor) * 3) and
			.present == 1'"
check "the agent stops" on host host_down
finish
