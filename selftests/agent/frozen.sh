#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While all processes are frozen, as before a suspend, nothing is gathered: drivers are not
# asked for devices that are suspended.  Afterwards the gathering goes on.
. "$(dirname "$0")/../lib.sh"

[ -w /sys/power/pm_test ] || skip "this kernel cannot test a suspend"

# cost MEMBER: of the gathering at 100 ms
cost() {
	dartctl -j show gathering+100ms | gojq ".values.sum.$1"
}

check "the agent starts" host_up
check "the gathering's cost is gathered" dartctl source add gathering --gather 100ms
passed
echo freezer >/sys/power/pm_test
# Seconds for which a CPU turns in a loop; the kernel takes the default of 5 for a lockup when the
# machine is so busy that they last 26.
echo 2 >/sys/module/suspend/parameters/pm_test_delay
uptime() {
	awk '{ printf "%d", $1 * 1000 }' /proc/uptime
}
begin=$(uptime)
passes=$(cost passes) missed=$(cost missed)
# Freezes all processes for this time, or less than a third of it on a busy machine, and thaws them.
start=$(date +%s%N)
check "all processes are frozen and thawed" sh -c 'echo freeze >/sys/power/state'
frozen=$((($(date +%s%N) - start) / 1000000))
echo "# they were frozen for $frozen ms"
check "the gathering goes on" passed
passes=$(($(cost passes) - passes)) missed=$(($(cost missed) - missed))
due=$((($(uptime) - begin) / 100 + 2))
echo "# passes: $passes, missed: $missed, due: $due"
# A third of the loop is 6 passes. On a busy machine freezing and thawing take longer than the loop,
# and passes go on during them.
check "passes that were due meanwhile are missed" [ $missed -ge 3 ]
check "no pass was begun instead of them" [ $((passes + missed)) -le $due ]
check "the agent stops" host_down
finish
