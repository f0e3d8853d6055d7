# SPDX-License-Identifier: GPL-2.0-only
# The cache of a switch with lookup tables (papers/tea/tea-sim functions)
include "figures";

def percent: . * 1000 | round | "\(. / 10) %";

"Commit \(.commit // "of no name"):",
"",
(.results | map([(if .skew == 0 then "none" else .skew end), (.absorbed, .perfect | percent),
		(if .skew == 0.99 then "49 %" else "" end),
		(.uneven_uncached, .uneven_cached | three), (.reports, .exchanges | round | grouped),
		(.throughput | three)]) |
	table(["skew", "absorbed", "perfect", "paper", "busiest server of the average, no cache",
		"with the cache", "reports in a period", "exchanges", "functions: million packets/s"]))
