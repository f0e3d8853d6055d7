# SPDX-License-Identifier: GPL-2.0-only
# Redis-servers with libdartzero-preload beside others (tools/bench/preload)
include "figures";

"\(origin), redis-server \(.redis) with \(.fields) fields, instructions for each command in user space and",
"in the kernel, medians of \(.rounds) rounds; the spread is the largest round as it is beside the smallest:",
"",
(.results | map([.commands, (.plain | grouped), (.preload | grouped), .ratio, .spread]) |
	table(["commands", "as it is", "with the library", "ratio", "spread"]))
