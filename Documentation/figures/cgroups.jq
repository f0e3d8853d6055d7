# SPDX-License-Identifier: GPL-2.0-only
# A pass beside cgroups that have ended (tools/bench/cgroups)
include "figures";

def ms: . / 1e6 | three + " ms";

"Commit \(.commit // "of no name"), emulated; a pass took:",
"",
(.results[0] as $alone | .results | map([.name,
		(.pass_ns | "\(ms) (\(. / $alone.pass_ns | three) times)"),
		(.lowest_ns | "\(ms) (\(. / $alone.lowest_ns | three) times)")]) |
	table(["", "median", "lowest"]))
