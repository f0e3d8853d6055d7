# SPDX-License-Identifier: GPL-2.0-only
# Throughput of lookups of a P4 switch (papers/tea/tea_figures throughput)
include "figures";
include "tea";

"\(where); packets a second, medians of rounds (lowest - highest):",
"",
(.results | map([.bytes, (.plain, .random, .sequential | spread),
		(.plain as $plain | .random | over($plain) | spread),
		(.random as $random | .sequential | over($random) | spread)]) |
	table(["packet, bytes", "plain forwarding", "random keys", "sequential keys", "random / plain",
		"sequential / random"]))
