#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The programs for Tofino are well-formed; where its compiler is installed, they fit.
. "$(dirname "$0")/../lib.sh"

cd "$tests/.." || exit 1
if command -v p4c-barefoot >/dev/null && command -v bfas >/dev/null; then
	name="each program for Tofino compiles and fits into a Tofino"
elif ! test=$(command -v p4test); then
	skip "neither p4c-barefoot nor p4test is in PATH (see 'P4' in README.md)"
else
	name="each program for Tofino is well-formed"
	installed=$(dirname "$(realpath "$test")")/../share/p4c/p4include
	include=${TNA_INCLUDE:-$installed}
	[ -e "$include/tna.p4" ] || skip "$include has no tna.p4 (set TNA_INCLUDE)"
fi
check "$name" make p4 TARGET=tna
finish
