# SPDX-License-Identifier: GPL-2.0-only
# Reports of each primitive by the XDP programs (tools/bench/xdp_primitives)
include "figures";

def hundredths: . * 100 | round / 100;

.runs[0].own_ns as $one |
"\(origin), medians of \(.rounds) rounds of \(.frames | grouped) reports, without the time of a program that",
"returns `XDP_TX`:",
"",
(.runs | map([(.name | sub(": 1 sketchers$"; ": 1 sketcher")), (.per_write | hundredths), (.own_ns | round | grouped),
		($one / .own_ns | hundredths)]) |
	table(["", "reports in a WRITE", "ns a report", "reports in the time of one (Key-Write)"]))
