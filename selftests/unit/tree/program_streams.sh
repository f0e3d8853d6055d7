#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What programs do if their standard output is full or closed.
. "$(dirname "$0")/../../lib.sh"
PATH=$tests/../.output/bin:$PATH
command -v dartd >/dev/null || skip "make programs has not been run"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# fails EXPECTED COMMAND...: with status 1 and this sentence
fails() {
	local expected=$1 status=0

	shift
	"$@" 2>"$scratch/error" || status=$?
	cat "$scratch/error"
	[ "$status" -eq 1 ] && grep -q "cannot write to standard output: $expected" "$scratch/error"
}

full() {
	timeout 60 "$@" >/dev/full
}

closed() {
	timeout 60 "$@" >&-
}

for program in dartd dart-controller dartctl dart-flows dart-report dart-members-zookeeper; do
	command -v "$program" >/dev/null || continue
	for option in --help --version; do
		check "$program $option tells that standard output is full" \
			fails "No space left" full "$program" "$option"
		check "$program $option tells that standard output is closed" \
			fails "Bad file descriptor" closed "$program" "$option"
	done
done
check "so does dartctl help" fails "No space left" full dartctl help
check "so does dartctl --json help" fails "No space left" full dartctl --json help
check "so does a command that prints an answer" fails "No space left" \
	full dartctl plan --flows 1000 --value 8 --memory 1M
echo "stores: []" >"$scratch/dartd.yaml"
chmod 600 "$scratch/dartd.yaml"
check "so does a check of a configuration of dartd" fails "No space left" \
	full dartd --check --config "$scratch/dartd.yaml"
finish
