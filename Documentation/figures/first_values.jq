# SPDX-License-Identifier: GPL-2.0-only
# First values of slices beside a bare update (tools/bench/first_values)
include "figures";

.bare.median_ns as $bare |
def steps: map([.who, (.ns | thousands)]) | table(["who", "thousands"]);
def of($traced; $who): [$traced.steps[] | select(.who == $who).ns] | add // 0;
def bound:
	of(.traced; "soft-RoCE") as $ours | of(.bare_traced; "soft-RoCE") as $theirs |
	"soft-RoCE executes \($ours | thousands) thousand for a slice, \($ours / $theirs | three) times as many as in a bare update, and \($ours / $bare | three)",
	"times a whole bare one. The goal would leave \(1.5 * $bare - $ours | thousands) thousand to the process, dartd and the controller together.";
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
(.traced.steps | steps),
(.bare_traced // empty | "", "And of \(.of_slices) bare updates, which are \(.whole_ns | thousands) then:", "", (.steps | steps)),
(if .bare_traced then "", bound else empty end)
