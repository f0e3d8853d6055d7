#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How long it takes from the registration of a slice until a controller with a mirror has its first
# value, beside the least that this machine needs for it: a bare WRITE with immediate data and a READ.
. "$(dirname "$0")/../lib.sh"

lib=$(realpath "$(dirname "$0")/../lib")
lines=/run/lines
patience=60

# figures INTERVAL MEMORY OPTION...: prints the times of 40 slices, one a second, each with its own
# memory, or "shared"
figures() {
	local interval=$1 memory=${2#own}
	shift 2
	dart-controller --json --interval "$interval" "$@" localhost >"$lines" 2>/run/log &
	controller=$!
	soon grep -q entries "$lines" || return
	# shellcheck disable=SC2086 # nothing, or a word
	first_values 40 1000 $memory >/run/asked
	soon grep -q "$(tail -n1 /run/asked | gojq .asked_ns)" "$lines"
	end_processes "$controller"
	python3 "$lib/first_values.py" /run/asked "$lines" /run/bare || return
	tail -n1 "$lines" | gojq -c '.summary | {scrapes, reads_per_scrape, mirror}' | sed 's/^/# /'
}

# told INTERVAL: with a mirror and without
told() {
	check "at an interval of $1 all slices are shown" figures "$1" own
	echo "# without a mirror, every $1:"
	cat "$output"
	check "and with a mirror" figures "$1" own --mirror 256K
	echo "# with a mirror, every $1:"
	cat "$output"
	check "and slices in memory that dartd has already" figures "$1" shared --mirror 256K
	echo "# with a mirror, in such memory, every $1:"
	cat "$output"
}

check "the agent starts" host_up
check "bare operations are measured" sh -c "bare_update 10.77.0.1 40 100 >/run/bare"
gojq -r 'sort | "# bare: min \(.[0]), median \(.[length / 2 | floor]), max \(.[-1]) ms"' /run/bare
told 1s
told 100ms
check "bare operations are measured again" sh -c "bare_update 10.77.0.1 40 100 >/run/bare"
gojq -r 'sort | "# bare: min \(.[0]), median \(.[length / 2 | floor]), max \(.[-1]) ms"' /run/bare
check "the agent stops" host_down
finish
