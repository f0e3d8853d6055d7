# SPDX-License-Identifier: GPL-2.0-only
# Queries and reports beside loads of as many slots (tools/bench/store)
include "figures";

def beside: "\(.ns.median | three) (\(.of_bound.median * 100 | round / 100))";

"\(.machine), commit \(.commit // "of no name"), other programs busy on \(.others.cpus) CPUs; CPU time of one core for a key, ns,",
"medians of the rounds, and in parentheses how much of it the loads take:",
"",
(.stores | map(. as $store | .results | map({key: .name, value: .}) | from_entries |
		["\($store.slot_length) bytes, \($store.pages) pages", $store.keys, $store.lines, $store.redundancy,
			(.bound.ns.median | three), (.query_batch, .ingest | beside),
			(.one_by_one.ns.median | three), (.query_single | beside)]) |
	table(["slots", "keys", "lines of each", "N", "loads of many (bound)", "query of many", "report",
		"loads of one by one", "query of one by one"]))
