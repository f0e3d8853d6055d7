#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The inputs that fuzzing found are parsed or refused, under the sanitizers.
. "$(dirname "$0")/../../lib.sh"

for source in "$tests"/fuzz/*.c; do
	name=$(basename "$source" .c)
	[ "$name" != replay ] || continue
	check "each input of selftests/fuzz/corpus/$name is parsed or refused" \
		"$tests/../.output/fuzz/replay/$name" "$tests/fuzz/corpus/$name"
done
finish
