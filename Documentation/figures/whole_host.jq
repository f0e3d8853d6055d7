# SPDX-License-Identifier: GPL-2.0-only
# Everything that a host gathers (tools/bench/whole_host)
include "figures";

def ms: . / 1e6 | three + " ms";

"\(origin), emulated, \(.cpus) CPUs, \(.cgroups) cgroups, \(.namespaces) network namespaces, medians of \(.rounds) rounds of",
"\(.scrapes) scrapes:",
"",
(.results | map([.name, .reads, (.bytes | grouped), (.p50, .p99 | ms)]) |
	table(["", "READs", "bytes", "median", "99th"])),
"",
"The ratio of `dart-controller` and bare verbs was \(.ratio.median | three) (\(.ratio.min | three) to \(.ratio.max | three)); the goal is 1.2. Of \(.entries | grouped) entries",
"the gathered ones take \(.gathered.reads) READs and \(.gathered.bytes | grouped) bytes. A pass took \(.pass_ns.mean | ms), the longest \(.pass_ns.longest | ms).",
"\(.values.compared | grouped) values lay between those of the kernel before and after, \(.values.outside) outside."
