# SPDX-License-Identifier: GPL-2.0-only
# Imports into a lookup table (tools/bench/tea_import)
include "figures";

"\(.machine), commit \(.commit // "of no name"), \(.entries | grouped) entries, a table of 2^\(.rows_log2) rows; ns an entry, medians",
"of the rounds (least to most):",
"",
(.texts as $texts | [range($texts[0].results | length) as $i |
		[$texts[0].results[$i].name] + [$texts[].results[$i].ns |
			"\(.median | three) (\(.min | three) to \(.max | three))"]] |
	table([""] + [$texts[] | "\(.format), \(.bytes / 1048576 | floor) MiB"]))
