#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What dart-controller does if its standard streams are full or closed.
. "$(dirname "$0")/../../../lib.sh"
PATH=$tests/../.output/bin:$PATH
command -v dart-controller >/dev/null || skip "make programs has not been run"
scratch=$(mktemp -d)
controller=
trap 'end_processes "$controller"; rm -rf "$scratch"' EXIT
echo "agents: [{host: 192.0.2.1}]" >"$scratch/c.yaml"

# fails EXPECTED COMMAND...: with status 1 and this sentence
fails() {
	local expected=$1 status=0

	shift
	"$@" 2>"$scratch/error" || status=$?
	[ "$status" -eq 1 ] && grep -q "$expected" "$scratch/error"
}

full() {
	timeout 60 dart-controller "$@" >/dev/full
}

closed() {
	timeout 60 dart-controller "$@" >&-
}

for option in --help --version "--check --config $scratch/c.yaml" \
	"shard --explain 192.0.2.1 --config $scratch/c.yaml"; do
	# shellcheck disable=SC2086	# options in words
	check "${option%% /*} tells that standard output is full" fails \
		"cannot write to standard output: No space left" full $option
done
check "so does the controller itself" fails "cannot write to standard output: No space left" \
	full --json --config "$scratch/c.yaml"
check "and it tells that standard output is closed" fails \
	"cannot write to standard output: Bad file descriptor" \
	closed --json --config "$scratch/c.yaml"

# None of its descriptors gets the place of a closed stream.
dart-controller --json --config "$scratch/c.yaml" --socket "$scratch/socket" >"$scratch/json" \
	2>&- <&- &
controller=$!
check "without standard error it runs" soon test -S "$scratch/socket"
streams() {
	[ "$(readlink "/proc/$controller/fd/0" "/proc/$controller/fd/2" | sort -u)" = /dev/null ]
}
check "nothing else is at the places of the closed streams" streams
finish
