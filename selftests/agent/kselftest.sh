#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The tests run in this machine under the kernel's kselftest runner, lib.mk.
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

# said REGEX: a line of the runner's output matches
said() {
	grep -E "^$1\$" "$ktap" || {
		cat "$ktap"
		return 1
	}
}

check "the kernel's lib.mk runs the tests, and none fails" run
check "the runner prints KTAP" said "TAP version 13"
check "the runner reports a test of the module as passed" \
	said "ok [0-9]+ selftests: .*/module: lifetime"
check "the points of a test are in the runner's output" \
	said "# ok 1 - .* nothing is left"
check "a test that would lock the kernel down is skipped" \
	said "ok [0-9]+ selftests: .*/module: windows_under_lockdown # SKIP"
check "a test that needs two machines is skipped" \
	said "ok [0-9]+ selftests: .*/pair: values_follow # SKIP"
finish
