# SPDX-License-Identifier: GPL-2.0-only
# What each transport of a whole host costs both ends (tools/bench/transports)
include "figures";

def millions: if . == null then "" else . / 1e6 | three end;

"\(origin), 1 CPU in each guest, all of a host gathered every \(.gathering_interval), medians of \(.rounds)",
"rounds of \(.seconds_per_round) s; millions of instructions of the host and of the controller's guest for a sample, and of them",
"those of `dartd`:",
"",
(.results | map([.name, (.reads // ""), (.bytes // "" | grouped), (.values // "" | grouped),
		(.cost.host, .cost.controller | millions)] +
		if .name | test("^dart") then
			[(.agent_cpu_ns / .samples | millions), (.agent_context_switches / .samples | three)]
		else ["", ""] end) |
	table(["method", "requests", "bytes", "values", "host", "controller", "`dartd`", "its context switches"])),
"",
(.ratios | map([.name, (.median, .min, .max | three)]) |
	table(["times, round by round", "median", "least", "most"])),
(.left_out[] | "", "\(.what) is left out: \(.why)")
