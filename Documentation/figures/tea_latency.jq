# SPDX-License-Identifier: GPL-2.0-only
# Latency of lookups of a P4 switch (papers/tea/tea_figures latency)
include "figures";
include "tea";

"\(where); microseconds, medians (10th - 90th percentile):",
"",
(.results | map(. as $all | [.bytes, (.plain, .lookup, .read, .ib_read_lat | latency),
		(.lookup.rounds | over($all.read.rounds) | spread),
		([.lookup.rounds, .plain.rounds] | transpose | map(.[0] - .[1]) | over($all.read.rounds) | spread),
		(.lookup.p50 / .ib_read_lat.p50 | three), (.lookup.lost * 100 | three)]) |
	table(["packet, bytes", "plain forwarding", "lookup", "READ from here", "`ib_read_lat`", "lookup / READ",
		"(lookup - plain) / READ", "lookup / `ib_read_lat`", "lost, %"]))
