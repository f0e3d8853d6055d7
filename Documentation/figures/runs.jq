# SPDX-License-Identifier: GPL-2.0-only
# How long runs of programs hold the RCU read lock (tools/bench/runs)
include "figures";

def times: [.usual, .median, .longest, .clock.longest][] | thousands;

"\(origin), \(.cpus) CPUs, thousands of instructions of a run with its system call;",
"\(.used | grouped) of \(.cgroups | grouped) cgroups were used before each of \(.rounds) rounds:",
"",
([
	["the sum of \(.cgroups | grouped) cgroups", .runs, times],
	["a list of \(.namespaces | grouped) network namespaces", .listing.runs, (.listing | times)],
	["counters of the newest \(.asked)", .finding.runs, (.finding | times)]
] | table(["answer", "runs", "without interrupts", "longest of a round (median)", "longest of all", "longest by the clock"])),
"",
"The limit is 200."
