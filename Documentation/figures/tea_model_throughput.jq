# SPDX-License-Identifier: GPL-2.0-only
# Packets a second by servers, modelled (papers/tea/tea-sim throughput)
include "figures";

def row($skew; $cached): [(if $skew == 0 then "none" else $skew end), (if $cached then "yes" else "no" end)] +
	[.[] | select(.servers | IN(1, 2, 4, 8)) | if $cached then .cached else .uncached end | three] +
	[if $cached and $skew >= 0.95 then "138" else "" end];

"Commit \(.commit // "of no name"), million packets a second:",
"",
([.results | group_by(.skew)[] | .[0].skew as $skew | row($skew; false), row($skew; true)] |
	table(["skew", "cache", "1 server", "2", "4", "8", "paper, 8"]))
