# SPDX-License-Identifier: GPL-2.0-only
# Functions with lookups of a P4 switch (papers/tea/tea_figures functions)
include "figures";
include "tea";

"\(where), packets of \(.results[0].bytes) bytes:",
"",
(.results | map(.name as $name | .latency | [$name, (.plain, .cached, .uncached | latency),
		(.cached.p50 / .plain.p50, .uncached.p50 / .plain.p50 | three)]) |
	table(["us", "plain forwarding", "cached", "not cached", "cached / plain", "not cached / plain"])),
"",
(.results | map(.name as $name | .rates | [$name, (.plain, .cached, .uncached | spread),
		(.plain as $plain | (.cached, .uncached) | over($plain) | spread),
		(.cached as $cached | .uncached | over($cached) | spread)]) |
	table(["packets/s", "plain forwarding", "cached", "not cached", "cached / plain", "not cached / plain",
		"not cached / cached"]))
