# SPDX-License-Identifier: GPL-2.0-only
# The cost of rules for series (tools/bench/outputs relabelling)
include "figures";

"Commit \(.commit // "of no name"), medians of \(.rounds) rounds:",
"",
(.results | map([(.rules | sub("^(?<name>\\w+_configs)"; "`\(.name)`")), (.instructions | round | grouped),
		.ratio, (.sent | grouped)]) |
	table(["rules", "instructions of a scrape", "of those without rules", "samples sent"]))
