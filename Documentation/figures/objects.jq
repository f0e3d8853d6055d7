# SPDX-License-Identifier: GPL-2.0-only
# dartd and dartctl with many objects (tools/bench/objects)
include "figures";

"\(origin), \(.cpus) CPUs, millions of instructions of all programs and the kernel:",
"",
(.results | map([.what, (.count | grouped), (.ns / 1e6 | three), (.goal_ns / 1e6 | three),
		(if .ns > .goal_ns then "missed" else "" end)]) |
	table(["", "objects", "took", "goal", ""]))
