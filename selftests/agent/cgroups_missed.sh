#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Cgroups that found no inotify watch, or dartd no inotify instance, are counted as missing,
# and followed when there are more.
. "$(dirname "$0")/../lib.sh"
log=/run/dartd.log
limits=/proc/sys/fs/inotify

entries() {
	dartctl list | grep -c "^cgroup:cpu@/missed"
}

missing() {
	dartctl -j list | gojq '.[] | select(.name == "cgroup:cpu@/**").failures'
}

# A new attempt comes at most 60 s after the previous one.
all_are_followed() {
	for _ in $(seq 600); do
		[ "$(entries)" -ne 40 ] || return 0
		sleep 0.2
	done
	echo "$(entries) of 40 have entries, $(missing) are missing"
	return 1
}

is_missing() {
	[ "$(missing)" -gt 0 ]
}

make() {
	for i in $(seq 40); do
		mkdir "/sys/fs/cgroup/missed$i" || return
	done
}

remove() {
	rmdir /sys/fs/cgroup/missed*
}

none_is_missing() {
	[ "$(missing)" -eq 0 ]
}

rm -f $log	# of other tests
watches=$(cat $limits/max_user_watches)
instances=$(cat $limits/max_user_instances)
check "the agent starts" host_up
check "the agent follows all cgroups" dartctl register source cgroup:cpu --all-cgroups /
check "no cgroup is missing at first" none_is_missing
echo 1 >$limits/max_user_watches
check "cgroups are made while inotify has no more watches" make
check "cgroups are missing" soon is_missing
check "some have no entry" [ "$(entries)" -lt 40 ]
echo "$watches" >$limits/max_user_watches
check "all are followed after the limit was raised" all_are_followed
check "no cgroup is missing then" soon none_is_missing
check "the cgroups are removed" remove
check "the agent stops" host_down
check "the agent logs one line about it, with the remedy" \
	logged 1 "raise /proc/sys/fs/inotify/max_user_watches"

make
check "the agent starts again" host_up
echo 1 >$limits/max_user_instances
check "the agent follows all cgroups without an inotify instance" \
	dartctl register source cgroup:cpu --all-cgroups /
check "cgroups are missing for want of an instance" is_missing
echo "$instances" >$limits/max_user_instances
check "all are followed after there are more instances" all_are_followed
remove
check "the agent stops again" host_down
finish
