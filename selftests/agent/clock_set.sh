#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The clock of a host is set: dartd writes the header of its table again, once for each step, and a
# controller that READs no row with a clock follows.
# shellcheck disable=SC2016 # variables of jq
. "$(dirname "$0")/../lib.sh"

log=/run/log

# last FILTER: of the last whole line with a sample
last() {
	grep -F '"time_ns"' /run/lines | tail -n 2 | head -n 1 | gojq -e "$@"
}

generation() {
	last .generation
}

# step SECONDS: sets the clock forward, or back, in one call: no time is lost between a look at the
# clock and setting it. struct timex of 64 bits begins with modes, and has the seconds and
# microseconds of the step at 72.
step() {
	python3 -c 'import ctypes, struct, sys
ADJ_SETOFFSET = 0x100
step = divmod(round(float(sys.argv[1]) * 1e6), 10**6)
timex = ctypes.create_string_buffer(struct.pack("=I68xqq120x", ADJ_SETOFFSET, *step))
sys.exit(ctypes.CDLL(None).clock_adjtime(0, timex) < 0)' "$1"
}

# written CHANGES: did the table change CHANGES times, and do both clocks, which are one, agree?
written() {
	last --argjson now $((before + $1)) \
		'.generation == $now and (.clock_offset_ns | . and . < 1e9 and . > -1e9)'
}

check "dartd starts" host_up
check "it shows the counts of the CPUs" dartctl source add cpustat
dart-controller --json -i 100ms -e cpustat localhost >/run/lines 2>$log &
controller=$!
check "a controller reads that" soon generation
before=$(generation)
check "the clocks agree" written 0
changes=0
# Steps of days and years, to before the start of dartd, and just above the ignored step.
for seconds in 172800 -172800 315360000 -315360000 -7200 7200 0.05 -0.05; do
	check "the clock is set by $seconds s" step $seconds
	changes=$((changes + 1))
	check "the table is written once, with the clock as it is now" soon written $changes
done
check "the clock is set by 3 ms" step 0.003
check "and an hour forward" step 3600
check "the table is written for the hour alone" soon written $((changes + 1))
check "the controller said when its clock was set forward" \
	soon logged 4 'clock of this machine was set forward by'
check "and when it was set back" soon logged 3 'clock of this machine was set back by'
end_processes $controller
check "the agent stops" host_down
finish
