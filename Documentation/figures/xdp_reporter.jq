# SPDX-License-Identifier: GPL-2.0-only
# The time of the XDP reporter (tools/bench/xdp_reporter)
include "figures";

"Linux \(.kernel), \(.machine), commit \(.commit // "of no name"); ns a frame, medians of \(.rounds) rounds:",
"",
(.runs | map([.collectors, (.xdp_tx_ns.median | three), (.xdp_reporter_ns.median | three),
		"\(.own_ns.median | three) (\(.own_ns.min | three) to \(.own_ns.max | three))"]) |
	table(["collectors", "`XDP_TX`", "XDP reporter", "its own"]))
