# SPDX-License-Identifier: GPL-2.0-only
# Gathering by the module and by programs, beside files that are kept open (tools/bench/ways)
include "figures";

def two: . * 100 | round / 100;

(.results | map(. + {
	by_module: (.programs.pass / .module.pass), by_files: (.files.parsed / .programs.pass)
})) as $sets |
"\(origin), \(.cpus) CPUs, \(.cgroups) cgroups, \(.namespaces) network namespaces,",
"thousands of instructions of a pass, and of a sample of the files:",
"",
($sets | map([.set, .programs.records, (.module.pass | thousands), (.programs.pass | thousands),
		(.files.files | grouped), (.files.read | thousands), (.files.parsed | thousands),
		(.by_module | two), (.by_files | three)]) |
	table(["set", "records", "module", "programs", "files", "read", "and parsed",
		"programs / module", "parsed / programs"])),
"",
"The goals are at most 1.5 times the module, and at least 8 times below the files.",
($sets[] |
	(select(.by_module > 1.5) | "More than 1.5 times the module: \(.set)."),
	(select(.by_files < 8) | "Less than 8 times below the files: \(.set).")),
"\(.runs.count) runs of programs held the RCU read lock for \(.runs.median | thousands) thousand (median),",
"\(.runs.p99 | thousands) (99th percentile) and \(.runs.longest | thousands) (longest) instructions, with interrupts and",
"the work of other CPUs; the limit is 200."
