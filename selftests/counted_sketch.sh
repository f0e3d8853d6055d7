# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for tests in which the sketchers $sketchers, three addresses of this machine, count $counts
# packets of $flows flows in one period for a sketch of "host", and send $rate strips in a second.
#
#	. "$(dirname "$0")/../lib.sh"
#	. "$(dirname "$0")/../counted_sketch.sh"

model=$tests/lib/sketch.py

add_sketchers() {
	local address

	for address in ${sketchers:?}; do
		ip address replace "$address/24" dev eth0
	done
}

# list_flows: the keys of all flows, as arguments of queries and as lines of values
list_flows() {
	local i

	for i in $(seq 0 $((${flows:?} - 1))); do
		flow uniform "$flows" 0 "$i" | head -n 1
	done >/run/keys
	awk '{ print $2, $4, $6, $8, $10 }' /run/keys >/run/values
}

# count ADDRESS INTERFACE: if $follow is not empty, with the present queue pair of the file
count() {
	dart-report --json --interface "$2" --sketch "/run/$1.json" --source "$1" --flows uniform \
		--count "$flows" --packets $((${counts:?} / 3)) --rate "${rate:?}" ${follow:+--follow} \
		>"/run/$1.counted"
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

# judged SKETCH PRESENT: the answers of the host equal the answers of one memory, except for a few
# flows without an answer, and of as many parts as PRESENT
judged() {
	dartctl -j sketch top "$1" flow-count --keys /run/values --count "$flows" --from host \
		>/run/top || return
	gojq -r '"# \(.unknown) flows have no count, epsilon \(.epsilon)"' /run/top
	gojq -e --argjson n "$counts" --argjson flows "$flows" --argjson present "$2" '
		(.keys | length) + .unknown == $flows and .present == $present and .absent == 0 and
		.unknown <= $flows / 50 and
		if .kind == "count-min" then all(.keys[]; .value.packets >= ($n / 3 / $flows | floor) * 3)
		else true end' /run/top
}

# create_sums KIND TRANSLATOR: the sketch "sums" of the sketchers and a translator.  Their exports are
# /run/ADDRESS.json, and /run/all.json has all of them.
create_sums() {
	local address

	# shellcheck disable=SC2086 # words
	on host sh -ec '
		dartctl sketch create sums --columns 2^12 --period 30s --kind $0 --parts 4
		for address; do
			dartctl sketcher add sums $address
		done' "$1" "$2" $sketchers >/dev/null &&
		on host dartctl sketch export sums >/run/all.json || return
	for address in "$2" $sketchers; do
		gojq --arg address "$address" '.sketches |= map(select(.reporter == $address))' \
			/run/all.json >"/run/$address.json"
	done
}

# sums_exact TRANSLATOR: each strip of "sums" is missing, or the sum of as many sketchers as it says;
# how many are missing, and how many lack sketchers, is in /run/missing
sums_exact() {
	local address counted=()

	for address in $sketchers; do
		counted+=("/run/$address.counted")
	done
	on host "$model" memory sums >/run/memory &&
		"$model" summed /run/memory "/run/$1.json" 0 /run/keys "${counted[@]}" >/run/missing
}

# sums_counted MISSING FEWER: readers of "sums" count them, too
sums_counted() {
	dartctl -j sketch show sums --from host | gojq -e --argjson missing "$1" \
		--argjson fewer "$2" '.present == 1 and .unused == 3 and
			.holes.empty == $missing and .holes.fewer == $fewer and
			.holes.older + .holes.newer + .holes.torn == 0'
}
