# SPDX-License-Identifier: GPL-2.0-only
# Reports over unreliable and reliable connections (tools/bench/reliable)
include "figures";

def percent: if . == 1 then "100" else . * 10000 | round / 100 end;

"\(origin), \(.reports * .rounds | grouped) reports by `dart-report` over each",
"connection, \(.rate | grouped) a second. Frames are lost at random in both directions; a stop is a lost frame",
"after which the queue pair waits for its PSN:",
"",
(.results | map([.loss, (.uc | percent), (.rc | percent), (.cost | if . then three else "" end),
		(.frames | . * 100 | round / 100)]) |
	table(["frames lost, %", "UC: % arrive", "RC: % arrive", "RC: reports that a stop costs",
		"RC: frames a report"]))
