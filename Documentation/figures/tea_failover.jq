# SPDX-License-Identifier: GPL-2.0-only
# Failover of lookups of a P4 switch (papers/tea/tea_figures failover)
include "figures";
include "tea";

def ms: if . == null then "never" else . * 1000 | round | "\(.) ms" end;
def percent: . * 100 | round | "\(.) %";

"\(where):",
"",
(.results | map([.name, "\(.share_of_server1 | percent), \(.share_overloaded | percent)", (.first_by_other | ms),
		(.seconds_silent | ms), "\(.lost) of \(.sent)", "\(.lost_before) of \(.sent_before)"]) |
	table(["server 2", "of server 1 at first, then", "first packet by server 1 after",
		"90 % leave again after", "lost in 2 s", "lost before"])),
"",
"Medians: 90 % leave again after \([.results[].seconds_silent | numbers * 1000] | spread) ms, and \([.results[].lost] | spread) packets are lost."
