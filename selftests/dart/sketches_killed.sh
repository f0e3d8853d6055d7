#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The agent of a sketch is killed, and back, while a translator adds up the strips of three sketchers:
# all of them go on with the next agent, and each sum is exact, or a hole.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../restarts.sh"
. "$(dirname "$0")/../counted_sketch.sh"

flows=200
sketchers="10.77.0.1 10.77.0.3 10.77.0.4"
translator=10.77.0.9
# Each sketcher sends its 256 strips in 21 of the 30 seconds of a period.
counts=30000 rate=12 follow=yes

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

rdma_up
add_sketchers
ip address add "$translator/24" dev eth0
modprobe -a veth
ip link add card0 type veth peer name card1
ip link set card0 up
ip link set card1 up
check "the agent starts under a service manager" on host sh -c "
	rm -rf /var/lib/dart && modprobe dart_zero && rdma_up && until_ready /run/dartd.log \
		service_manager dartd --config $tests/readers.yaml"
list_flows
check "a sketch has three sketchers and a translator" create_sums count-min $translator
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
# The sketchers wait for a period to begin, and count until it ends.
sums_come() {
	until_true rises_by "$before" 30 || until_true rises_by "$before" 30
}
check "sums arrive" sums_come
old=$(on host pidof dartd)
check "the agent is killed" on host sh -c "
	kill -KILL $old; while kill -0 $old; do sleep 0.05; done 2>/dev/null"
check "the export has the next queue pairs" until_true renewed
there=$(taken)
check "$counts packets are counted" wait "$counting"
end_processes "$follower"
check "the translator is detached" dartctl xdp detach card1
check "sums arrive again" until_true rises_by "$there" 20
check "strips are exact sums of as many sketchers as they say, or missing" sums_exact $translator
read -r missing fewer </run/missing
echo "# of 256 sums, $missing are missing and $fewer lack sketchers"
check "readers find no count that is too low" sh -c "
	dartctl -j sketch top sums flow-count --keys /run/values --count $flows --from host |
		gojq -e 'all(.keys[]; .value.packets >= ($counts / 3 / $flows | floor) * 3) and
			.present == 1'"
check "the agent stops" on host host_down
finish
