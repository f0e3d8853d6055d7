# SPDX-License-Identifier: GPL-2.0-only
# Lookup tables at rising loads (tools/bench/tea_load)
include "figures";

def percent: if . < 1e-6 then "0" else . * 100 | three end;
def stashed: "\(.stashed / .entries | percent)" +
	(if .full > 0 then " (\(.full / (.entries + .full) | percent))" else "" end);
def kinds: group_by(.cells) | map(map({(.keys): .}) | add);

"\(.machine), commit \(.commit // "of no name"), tables of \(.cells_of_all | grouped) cells. Entries in the stash, % of",
"all, and of those that found no place, by the number of cells of a bucket, of random keys:",
"",
(.tables | map(select(.keys == "random")) | sort_by(.cells) | . as $tables |
	[range($tables[0].loads | length) as $i |
		[$tables[0].loads[$i].load] + [$tables[].loads[$i] | stashed]] |
	table(["load"] + [$tables[] | "\(.cells)"])),
"",
"The same with buckets of 8 cells by the kind of key, and insertions a second of one core, beside",
"hashing the key and copying its cell to two random rows of the same memory:",
"",
(.tables | kinds | map(select(.random.cells == 8))[0] | . as $by |
	[range($by.random.loads | length) as $i | $by.random.loads[$i] as $random |
		[$random.load, ($random | stashed), ($by["addresses and ports"].loads[$i] | stashed),
			($by.integers.loads[$i] | stashed), (1e3 / $random.ns | three),
			($by.random.bound_ns / $random.ns | three)]] |
	table(["load", "random", "addresses and ports", "integers", "million/s", "of the bound"]))
