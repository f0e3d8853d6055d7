# SPDX-License-Identifier: GPL-2.0-only
# How long each transport of a whole host takes (tools/bench/transports latency)
include "figures";

def ms: . / 1e6 | three;

"\(origin), emulated, \(.cpus) CPUs in each guest, all of a host gathered every \(.gathering_interval), medians of",
"\(.rounds) rounds of \(.seconds_per_round) s; ms:",
"",
(.results | map(select(.latency_ns.p50) | [.name, (.samples | grouped), (.latency_ns | (.p50, .p90, .p99) | ms)]) |
	table(["method", "samples", "median", "90th", "99th"])),
"",
(.ratios | map([.name, (.median, .min, .max | three)]) |
	table(["times, round by round", "median", "least", "most"]))
