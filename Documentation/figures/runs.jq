# SPDX-License-Identifier: GPL-2.0-only
# How long runs of programs hold the RCU read lock (tools/bench/runs)
include "figures";

def times: (.median_ns | thousands), (.longest_ns | thousands);

"\(origin), \(.cpus) CPUs, thousands of instructions of the longest run in each",
"of \(.rounds) rounds, with its system call; \(.used | grouped) of \(.cgroups | grouped) cgroups were used before each round:",
"",
([
	["the sum of \(.cgroups | grouped) cgroups", .runs, times],
	["a list of \(.namespaces | grouped) network namespaces", .listing.runs, (.listing | times)],
	["counters of the newest \(.asked)", .finding.runs, (.finding | times)]
] | table(["answer", "runs", "median", "longest"])),
"",
"The limit is 200."
