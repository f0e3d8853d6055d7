#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The unit tests of threaded parts once more, with ThreadSanitizer.
. "$(dirname "$0")/../lib.sh"

built=$tests/../.output/tsan
found=0
for program in "$built"/*; do
	[ -f "$program" ] || continue
	[ -x "$program" ] || continue
	found=$((found + 1))
	# Its shadow memory has no room for all layouts of a random address space.
	check "${program##*/} has no data race" setarch -R "$program"
done
check "there are threaded parts to test" [ $found -ge 2 ]
finish
