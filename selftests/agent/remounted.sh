#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A file system is unmounted and mounted again while dartd does not run, and a pass in between
# finds it unmounted: the module reports that one pass later, after dartd has seen the mounts in
# their earlier state.  The entry comes back.
. "$(dirname "$0")/../lib.sh"

directory=/run/again
entry=filesystem@$directory+2s
log=/run/monitored
lines=/run/lines

# passes: of the gathering at 2 s, READ while dartd is stopped
passes() {
	tail -n 2 $lines | head -n 1 | gojq '.entries["gathering+2s"].sum.passes // 0'
}

# passes_since COUNT: there are more
passes_since() {
	[ "$(passes)" -gt "$1" ]
}

# sampled_since TIME_NS: does the entry show values that were taken after that time since boot?
sampled_since() {
	dartctl -j show "$entry" | gojq -e ".values.sum.time > $1"
}

modprobe null_blk nr_devices=0
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
disk=/sys/kernel/config/nullb/again
mkdir $disk $directory
echo 1 >$disk/memory_backed
echo 16 >$disk/size
echo 1 >$disk/power
mkfs.ext4 -q /dev/again
mount /dev/again $directory
check "the agent starts" host_up
check "the file systems of disks are gathered each 2 s" dartctl register source filesystem \
	--all-filesystems --gather 2s
check "so is the cost of gathering" dartctl source add gathering --gather 2s
check "the file system has an entry" soon sampled_since 0
dartctl monitor >$log &
monitor=$!
dart-controller --json -i 100ms -e gathering+2s localhost >$lines 2>/run/controller.log &
controller=$!
check "passes are READ" soon is_true -s 'any(.[]; .entries["gathering+2s"].sum.passes > 0)' $lines

agent=$(pidof dartd)
kill -STOP "$agent"
check "it is unmounted" umount $directory
check "a pass finds that" soon passes_since "$(passes)"
check "it is mounted again" mount /dev/again $directory
read -r now _ </proc/uptime
kill -CONT "$agent"
check "the end of the first mount is reported" soon grep -q "ended entry $entry" $log
check "the file system that is mounted again has an entry with values" \
	soon sampled_since "$now * 1e9"
end_processes $controller $monitor
check "the agent stops" host_down
umount $directory
rmdir $disk
finish
