#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Readers here and on the host find the sum of what two sketchers counted in a period, and do not
# take strips that got lost for zeros. The bytes of strips, restarts of the agent and packets that
# arrive are in long/sketches.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../faulty_link.sh"

flows=8

# count SKETCHER RUN: this sketcher counts 4,000 packets of all flows in a period
count() {
	dart-report --json --interface eth0 --sketch "/run/$1.json" --source "10.77.0.$1" \
		--flows uniform --count "$flows" --packets 4000 >"/run/$1.$2"
}

# count_both RUN: both begin in the same period, which has at least two seconds left; on a busy
# machine one may begin later, and then both count another period
count_both() {
	local other try

	for try in 1 2 3 4 5; do
		echo "try $try"
		until [ $(($(date +%s) % 3)) -eq 0 ]; do
			sleep 0.2
		done
		count 3 "$1" &
		other=$!
		count 1 "$1" && wait "$other" || return
		gojq -se '.[0].sketch.first_period == .[1].sketch.first_period' \
			"/run/1.$1" "/run/3.$1" && return
	done
	return 1
}

rdma_up
ip address add 10.77.0.3/24 dev eth0
check "the agent starts" on host host_up --config "$tests/readers.yaml"
check "a sketch has two sketchers" on host sh -ec '
	dartctl sketch create flows --columns 2^10 --period 3s --parts 3
	dartctl sketcher add flows 10.77.0.1
	dartctl sketcher add flows 10.77.0.3'
for sketcher in 1 3; do
	on host dartctl sketch export flows --sketcher 10.77.0.$sketcher >/run/$sketcher.json
done
for i in $(seq 0 $((flows - 1))); do
	flow uniform "$flows" 0 "$i" | head -n 1
done >/run/keys
awk '{ print $2, $4, $6, $8, $10 }' /run/keys >/run/values
read -r key </run/keys
refuse "a sketch without strips has no period" "no sketcher has written a period yet" \
	dartctl sketch show flows --from host

check "both sketchers count one period" count_both first
# shellcheck disable=SC2086 # words
check "readers here and on the host find the sum of both, and how far it may be off" sh -c "
	on host dartctl -j sketch query flows flow-count $key >/run/here &&
	dartctl -j sketch query flows flow-count $key --from host >/run/there &&
	gojq -s -e 'map(del(.collector)) | .[0] == .[1]' /run/here /run/there &&
	gojq -e '.outcome == \"counted\" and .value.packets == 1000 and .total == 8000 and
		.epsilon == 15 and .probability == 0.9375 and .rows == 4 and .present == 2 and
		.unused == 1 and .reporters == 2' /run/here"
check "the sums of all keys of a list are exact" sh -c "
	dartctl -j sketch top flows flow-count --keys /run/values --count $flows --from host |
		gojq -e '(.keys | length) == $flows and all(.keys[]; .value.packets == 1000)'"

# All 128 strips arrive once in 10^12 runs.
check "frames get lost" faulty_link 20 0 0
check "both sketchers count another period" count_both second
sound_link
period=$(gojq .sketch.first_period /run/1.second)
check "a reader finds holes, and says of which kind" sh -c "
	dartctl -j sketch show flows --from host --period $period |
		gojq -e '.holes.empty + .holes.older > 0 and
			.holes.newer + .holes.torn + .holes.fewer == 0'"
check "no hole is taken for zeros" sh -c "
	dartctl -j sketch top flows flow-count --keys /run/values --count $flows --from host \
		--period $period |
		gojq -e '(.keys | length) + .unknown == $flows and
			all(.keys[]; .value.packets >= 1000) and .total <= 8000'"

check "a sketcher is removed" on host dartctl sketcher remove flows 10.77.0.3
check "the sketch is deleted" on host dartctl sketch delete flows
refuse "a reader does not find it any more" "there is no sketch 'flows'" \
	dartctl sketch show flows --from host
check "the agent stops" on host host_down
finish
