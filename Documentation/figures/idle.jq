# SPDX-License-Identifier: GPL-2.0-only
# Wake-ups of an idle host (tools/bench/idle)
include "figures";

def one: . * 10 | round / 10;

"\(origin), \(.cpus) CPUs, emulated, medians of \(.rounds) rounds of \(.seconds) s, events a second;",
"\"wakes\" are CPUs that leave their idle state, \"interrupts\" are of devices:",
"",
(.results | map([.name] + (.per_second | [.wakes, .timers, .hrtimers, .tasks, .irqs, .passes] |
		map(one))) |
	table(["", "wakes", "timers", "hrtimers", "tasks woken", "interrupts", "passes"]))
