# SPDX-License-Identifier: GPL-2.0-only
# Slow readers of a large page (tools/bench/readers)
include "figures";

def ms: three + " ms";

"Commit \(.commit // "of no name"), \(.hosts | grouped) hosts, \(.readers) readers, of which \(.reading) still read in the end; resident memory",
"was \(.without_bytes / 1e6 | three) MB without them, and \(.with_bytes / 1e6 | three) with them, \(.ratio | three) times. Times of answers meanwhile:",
"",
(. as $all | .ms | to_entries | map(.key as $page | [("`\($page)`" | sub("=host0:4792`"; "=` of one host")),
		(.value[0], .value[2], .value[3], $all.bare_ms[$page][2], $all.bare_ms[$page][3] | ms)]) |
	table(["page", "median", "99 %", "longest", "the bare thread: 99 %", "longest"]))
