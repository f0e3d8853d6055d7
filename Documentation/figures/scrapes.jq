# SPDX-License-Identifier: GPL-2.0-only
# The cost of a scrape for the threads of the controller (tools/bench/scrapes)
include "figures";

"\(.machine), commit \(.commit // "of no name"), other programs busy on \(.others.cpus) CPUs; CPU time of each thread for a scrape, ns:",
"",
(.results | map([(.targets | grouped), (.interval_ns / 1e6), .io, .io_threads,
		(.ns.io | round | grouped), (.ns.adapter | round | grouped),
		(.ns.worker | round | grouped), (.ns.memcpy, .ns.bare_io | round | grouped),
		(.scrapes | grouped), (.missed + .dropped | grouped)]) |
	table(["targets", "each, ms", "I/O by", "I/O threads", "I/O thread", "adapter and hosts",
		"worker", "`memcpy()`", "bare I/O", "scrapes", "missed or dropped"]))
