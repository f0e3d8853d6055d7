# SPDX-License-Identifier: GPL-2.0-only
# Gathering beside files that are kept open (tools/bench/gathering)
include "figures";

(if .cpus <= 8 then 20 else 5 end) as $goal |
"\(origin), \(.cpus) CPUs, \(.containers) containers, medians of \(.rounds) rounds of",
"\(.samples_per_round) samples every \(.interval), thousands of instructions:",
"",
(.results | map([.what, .records, .rested, (.gathered_ns | thousands), (.workers_ns | thousands), .files,
		(.read_ns | thousands), (.parsed_ns | thousands), (.read_ratio | three),
		(.parsed_ratio | three), "\(.parsed_ratio_min | three) to \(.parsed_ratio_max | three)"]) |
	table(["counters", "records", "at rest", "pass", "workers", "files", "read", "and parsed", "read / pass",
		"parsed / pass", "rounds"])),
"",
(.results | map(select(.parsed_ratio < $goal)) | if . == [] then
	"The goal is \($goal)."
else
	"The goal is \($goal). Short of it:",
	(.[] | "- \(.what), with \(.gathered_ns / .records | thousands) thousand for a record and " +
		"\(.parsed_ns / .files | thousands) thousand for a file"),
	""
end),
"A controller reads the records of the host, \(.scrape.bytes | grouped) bytes with the header of the table,",
"with \(.scrape.reads) READs."
