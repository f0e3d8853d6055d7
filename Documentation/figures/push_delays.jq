# SPDX-License-Identifier: GPL-2.0-only
# Bytes of a sample by the scrapes in a request of remote write (tools/bench/senders delays)
include "figures";

"Commit \(.commit // "of no name"), \(.hosts) hosts with \(.series | grouped) series, \(.scrapes) scrapes, one a second:",
"",
(.results | [["remote write 1.0, bytes of a sample"] + map(.version_1 | three),
		["remote write 2.0"] + map(.version_2 | three)] as $rows |
	. as $results | $rows |
	table(["scrapes of a series in a request"] +
		($results | map("\(.scrapes) (" + (if .delay_ms == 0 then "no delay" else "\(.delay_ms / 1000) s" end) + ")"))))
