# SPDX-License-Identifier: GPL-2.0-only
# Reports that claim an empty slot, by simulation (papers/dart/dart-sim claims)
include "figures";

def percent: . * 1000 | round / 10;

"Commit \(.commit // "of no name"); found, %, of all keys and of the oldest tenth:",
"",
(.results | map(select(.load | IN(0.125, 0.25, 0.5, 1, 2)) |
		[.load, (.claims, .claims_oldest, .two, .two_oldest, .falling, .falling_oldest | percent)]) |
	table(["reports per slot", "claims: all", "oldest", "two copies: all", "oldest",
		"`--falling`: all", "oldest"])),
"",
"Theory and simulation of claims differ by \([.results[] | (.claims - .claims_theory, .claims_oldest - .claims_oldest_theory) | fabs] |
	max * 100 | three) points at most."
