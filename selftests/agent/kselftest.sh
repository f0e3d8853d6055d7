#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The tests run in this machine under the kernel's kselftest runner, lib.mk.
. "$(dirname "$0")/../lib.sh"

for ksrc in "$tests"/../.output/kernel/*-debug/headers; do
	[ -e "$ksrc/tools/testing/selftests/lib.mk" ] ||
		skip "no source of a kernel here (make check-debug fetches one)"
done

# With KDIR make would build everything again, because the BTF of the running kernel in /sys
# is newer than the earlier build.
ktap=$(mktemp)
run() {
	if ! make -C "$tests" KSRC="$ksrc" KDIR= TARGETS="module pair" run_tests \
		>"$ktap" 2>&1 || grep -q '^not ok' "$ktap"
	then
		cat "$ktap"
		return 1
	fi
}

# printed REGEX: a line of the runner's output matches
printed() {
	grep -E "^$1\$" "$ktap" || {
		cat "$ktap"
		return 1
	}
}

check "the kernel's lib.mk runs the tests, and none fails" run
check "the runner prints KTAP" printed "TAP version 13"
check "the runner reports a test of the module as passed" \
	printed "ok [0-9]+ selftests: .*/module: lifetime"
check "the points of a test are in the runner's output" \
	printed "# ok 1 - .* nothing is left"
check "a test that would lock the kernel down is skipped" \
	printed "ok [0-9]+ selftests: .*/module: windows_under_lockdown # SKIP"
check "a test that needs two machines is skipped" \
	printed "ok [0-9]+ selftests: .*/pair: values_follow # SKIP"
finish
