#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The tests by the rules of a kernel's kselftest, in this very machine.
. "$(dirname "$0")/../lib.sh"

for ksrc in "$tests"/../.output/kernel/*-debug/headers; do
	[ -e "$ksrc/tools/testing/selftests/lib.mk" ] ||
		skip "no source of a kernel here (make check-debug fetches one)"
done

ktap=$(mktemp)
run() {
	if ! make -C "$tests" KSRC="$ksrc" TARGETS="module pair" run_tests \
		>"$ktap" 2>&1 || grep -q '^not ok' "$ktap"
	then
		cat "$ktap"
		return 1
	fi
}

# said REGEX: a line of the runner's own
said() {
	grep -E "^$1\$" "$ktap" || {
		cat "$ktap"
		return 1
	}
}

check "lib.mk runs them, and none fails" run
check "it prints KTAP" said "TAP version 13"
check "a test of the module has passed" \
	said "ok [0-9]+ selftests: .*/module: lifetime"
check "what it says is below it" said "# ok 1 - test_every_order"
check "what would stay locked is skipped" \
	said "ok [0-9]+ selftests: .*/module: windows_under_lockdown # SKIP"
check "so is what needs two machines" \
	said "ok [0-9]+ selftests: .*/pair: values_follow # SKIP"
finish
