#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Python reads each program in its language, also programs that no other test runs because they need
# a compiler for Tofino.
. "$(dirname "$0")/../../lib.sh"

cd "$tests/.." || exit 1
logs=$(mktemp -d)

# read_all: names the programs that Python refuses
read_all() {
	{
		git ls-files --cached --others --exclude-standard '*.py'
		git grep -lI --untracked '^#!.*python'
	} | sort -u >"$logs/programs"
	[ "$(wc -l <"$logs/programs")" -gt 50 ] && python3 -c '
import ast, sys
for path in sys.stdin.read().split():
    with open(path, encoding="utf-8") as file:
        ast.parse(file.read(), path)' <"$logs/programs"
}

# stages: of an invented program, with one stage
stages() {
	mkdir -p "$logs/nat/pipeline/logs"
	echo '{"resources": {"mau": {"mau_stages": [{"stage_number": 0,
		"rams": {"nRows": 8, "nColumns": 10, "srams": [1, 2]},
		"tcams": {"nRows": 12, "nColumns": 2, "tcams": [1, 2, 3]},
		"hash_bits": {"nBits": 52, "nFunctions": 8, "bits": [1]},
		"hash_distribution_units": {"nHashIds": 2, "nUnitIds": 3, "units": []}}]}}}' \
		>"$logs/nat/pipeline/logs/resources.json"
	p4/tna/resources "$logs/nat/pipeline/logs/resources.json" | tr -s ' ' >"$logs/printed"
	grep -qx ' 0 2/80 3/24 1/416 0/6' "$logs/printed" &&
		grep -qx ' all 2.5 % 12.5 % 0.2 % 0.0 %' "$logs/printed"
}

check "Python reads each of its programs" read_all
check "the resources of a program for Tofino are printed by stage" stages
rm -r "$logs"
finish
