# SPDX-License-Identifier: GPL-2.0-only
# What a host with many containers spends on each way of reading it (tools/bench/containers)
include "figures";

def millions: if . == null then "" else . / 1e6 | three end;

"\(origin), 1 CPU, \(.containers) containers, medians of \(.rounds) rounds of \(.seconds_per_round) s; millions of instructions of the",
"host for a sample:",
"",
(.results | map([.name, (.reads // ""), (.bytes | grouped), (.values | grouped), (.cost.host | millions)]) |
	table(["method", "READs", "bytes", "values", "instructions"])),
"",
(.ratios | map([.name, (.median, .min, .max | three)]) |
	table(["times, round by round", "median", "least", "most"])),
"",
(.watched | map("\(.agent_context_switches) context switches and \(.agent_cpu_ns) ns of CPU time in \(.samples) samples with \(.name) exposure") |
	"`dartd` had " + join(", ") + "."),
(.absent[] | "\(.) is not installed, and left out.")
