# SPDX-License-Identifier: GPL-2.0-only
# Reports a second into the memory of another machine (tools/bench/writes)
include "figures";

"\(origin), emulated, WRITEs of \(.bytes) bytes, \(.messages | grouped) messages of dart-report and \(.seconds) s of `ib_write_bw`,",
"medians of \(.rounds) rounds:",
"",
(.results | map([.name, (.median, .min, .max | three), (.lost | if . then . * 100 | three else "" end)]) |
	table(["WRITEs a second", "median", "least", "most", "lost, %"])),
"",
(.ratios | map([.name, (.median, .min, .max | three)]) | table(["ratio, round by round", "median", "least", "most"]))
