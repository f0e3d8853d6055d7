# SPDX-License-Identifier: GPL-2.0-only
# Probes (tools/bench/probes)
include "figures";

"\(origin), instructions of an event, medians of \(.rounds) rounds by turns; \"program\" is the run time of",
"the programs alone, as the kernel counts it in another run:",
"",
(.costs | map([.probe, .event, (.ns_without | round | grouped), (.ns_with | round | grouped),
		(.ns_more | round | grouped), (.program_ns | round | grouped)]) |
	table(["probe", "event", "without", "with", "more", "program"])),
"",
(.connections |
"\(.ss.connections | grouped) connections, millions of instructions of the host for a sample: `ss -ti` \(.ss.host_cpu_ms | three), `tcpconn`",
"\(.tcpconn.host_cpu_ms | three) for \(.tcpconn.bytes | grouped) bytes in \(.tcpconn.reads) READs, all of which is soft-RoCE.")
