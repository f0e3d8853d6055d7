# SPDX-License-Identifier: GPL-2.0-only
# How long a scrape takes (tools/bench/run)
include "figures";

def us: if . == null then "" else . / 1000 | three end;

"\(origin), emulated; one scrape of \(.entries | join(", ")), us, medians of \(.rounds)",
"rounds of \(.scrapes_per_round):",
"",
(.results | map([.name, (.reads // ""), (.bytes | grouped), (.latency_ns | (.p50, .p90, .p99) | us)]) |
	table(["", "READs", "bytes", "median", "90th", "99th"])),
"",
(.ratios | map([.name, (.median, .min, .max | three)]) |
	table(["times, round by round", "median", "least", "most"]))
