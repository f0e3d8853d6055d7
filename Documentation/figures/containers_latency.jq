# SPDX-License-Identifier: GPL-2.0-only
# How long each way of reading a host with many containers takes (tools/bench/containers latency)
include "figures";

def ms: . / 1e6 | three;

"\(origin), emulated, 2 CPUs, \(.containers) containers, medians of \(.rounds) rounds of \(.seconds_per_round) s; ms:",
"",
(.results | map([.name, (.samples | grouped), (.latency_ns | (.p50, .p90, .p99) | ms)]) |
	table(["method", "samples", "median", "90th", "99th"])),
"",
(.ratios | map([.name, (.median, .min, .max | three)]) |
	table(["times, round by round", "median", "least", "most"]))
