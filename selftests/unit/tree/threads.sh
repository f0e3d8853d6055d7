#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The unit tests of threaded parts once more, with ThreadSanitizer.
. "$(dirname "$0")/../../lib.sh"

built=$tests/../.output/tsan
report=$(mktemp)
trap 'rm -f "$report"' EXIT
found=0
RACES=66	# exit status of a program with reports

# passes PROGRAM: the program is free of races.  The sanitizer of GCC 12 loses the order of two
# threads that lock a mutex of libmicrohttpd once in a hundred runs: a race is not ours if it
# names an instruction of the library.
passes() {
	# The shadow memory cannot hold all layouts of a random address space.
	TSAN_OPTIONS=exitcode=$RACES setarch -R "$1" >"$report" 2>&1
	status=$?
	cat "$report"
	[ "$status" -eq "$RACES" ] || return "$status"
	! grep -q "^not ok" "$report" &&
		! grep "^SUMMARY: ThreadSanitizer" "$report" | grep -q -v '/libmicrohttpd\.so'
}

for program in "$built"/*; do
	[ -f "$program" ] || continue
	[ -x "$program" ] || continue
	found=$((found + 1))
	check "${program##*/} has no data race" passes "$program"
done
check "there are threaded parts to test" [ $found -ge 2 ]
finish
