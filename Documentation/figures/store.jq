# SPDX-License-Identifier: GPL-2.0-only
# Queries and reports beside loads of as many slots (tools/bench/store)
include "figures";

"\(.machine), commit \(.commit // "of no name"), other programs busy on \(.others.cpus) CPUs; CPU time of one core for a key, ns, medians of the rounds:",
"",
(.stores | map(. as $store | .results | map({key: .name, value: .}) | from_entries |
		["\($store.slot_length) bytes, \($store.pages) pages", $store.lines, $store.redundancy,
			(.bound.ns.median | three),
			(.query_batch, .ingest, .query_single |
				"\(.ns.median | three) (\(.of_bound.median * 100 | round / 100))")]) |
	table(["slots", "lines of each", "N", "bound", "query of many (of the bound)",
		"report", "query of one"]))
