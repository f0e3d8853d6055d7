#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart_zero_stop() leaves no descriptor open, on a kernel that may take the processor from a thread
# at any point of its end.
. "$(dirname "$0")/../lib.sh"

preempt=/sys/kernel/debug/sched/preempt
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
[ -e $preempt ] || skip "this kernel has no $preempt"
before=$(sed 's/.*(\(.*\)).*/\1/' $preempt)

check "threads may be preempted in the kernel" sh -c "echo full >$preempt"
check "a program with libdartzero stops and starts it again" zero_program check
echo "$before" >$preempt
finish
