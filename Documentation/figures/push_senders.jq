# SPDX-License-Identifier: GPL-2.0-only
# Samples a second by remote write to a receiver that takes its time (tools/bench/senders rates)
include "figures";

"Commit \(.commit // "of no name"), up to \(.senders) senders, answers after \(.answer_s * 1000) ms:",
"",
(.results | map(["\(.hosts | grouped) × \(.series | grouped), " +
			(if .is_paced then "each second for \(.scrapes) s" else "as fast as possible" end),
		(.samples, .samples_per_s | grouped), (.requests | grouped),
		(.samples_per_s / .bound_per_s | three), (.cpu_ms_per_200000 | three)]) |
	table(["hosts × series", "samples", "samples/s", "requests", "of the bound", "CPU ms for 200,000 samples"]))
