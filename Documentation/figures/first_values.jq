# SPDX-License-Identifier: GPL-2.0-only
# First values of slices beside a bare update (tools/bench/first_values)
include "figures";

.bare.median_ns as $bare |
def row($what; $times): [$what, ($times.median_ns | thousands),
	"\($times.least_ns | thousands) to \($times.most_ns | thousands)",
	($times.median_ns / $bare | three)];

"\(origin), 1 CPU, thousands of instructions, medians of \(.slices) slices:",
"",
([row("a bare update"; .bare), row("the first slice of new memory"; .own),
	row("a further slice of memory that dartd has"; .shared)] |
	table(["", "median", "spread", "times bare"])),
"",
"Who executes them, in the order of \(.traced.of_slices) of \(.slices) further slices, whose switches between tasks the",
"kernel traces, which makes the median \(.traced.whole_ns | thousands):",
"",
(.traced.steps | map([.who, (.ns | thousands)]) | table(["who", "thousands"]))
