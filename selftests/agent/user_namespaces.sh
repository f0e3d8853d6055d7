#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Any user can make thousands of user namespaces, each of which is one more user in the kernel's
# lists: a sample of files looks at a bounded number of users, because preemption is off meanwhile,
# the next sample continues there, and all users are counted.
. "$(dirname "$0")/../lib.sh"
PATH=$PATH:$(dirname "$0")/../../.output/selftests/helpers

# next_bucket: of the kernel's 1,024 lists, where the next sample begins
next_bucket() {
	local id

	for id in $(bpftool -j map show |
		gojq '.[] | select(.name // "" | endswith(".bss")).id'); do
		bpftool -j map dump id "$id"
	done | gojq -r -s '[.. | objects | select(has("next_bucket")).next_bucket] | first'
}

# goes_on: does a sample end before it looked at all lists?
goes_on() {
	[ "$(next_bucket)" -gt 0 ]
}

# watched COUNT: does the source files report COUNT watches?
watched() {
	[ "$(dartctl -j show files+100ms | gojq .values.sum.inotify_watches)" = "$1" ]
}

# watches: the number of watches of all processes
watches() {
	cat /proc/[0-9]*/fdinfo/* 2>/dev/null | grep -c '^inotify wd:'
}

check "the agent starts" host_up
check "files is gathered" dartctl source add files --gather 100ms
check "the gathering's cost is an entry" dartctl source add gathering --gather 100ms
passed
check "with few users a sample looks at all" [ "$(next_bucket)" = 0 ]
mkfifo /run/namespaces
ulimit -n 65536
for kind in user uts; do
	echo 10000 >/proc/sys/user/max_${kind}_namespaces
done
setpriv --reuid 1000 --regid 1000 --clear-groups \
	"$(command -v user_namespaces)" 2000 >/run/namespaces &
maker=$!
check "a user makes 2,000 user namespaces" grep -q ready /run/namespaces
check "a sample looks at a part of the users, and the next sample goes on" soon goes_on
check "dartd watches a further cgroup" bash -c 'mkdir -p /sys/fs/cgroup/watched/a &&
	dartctl source follow cgroup:cpu --cgroup watched'
check "all watches of inotify(7) are counted" soon watched "$(watches)"
check "nothing was left out" is_true '.values.sum.inotify_left_out == 0' \
	<<<"$(dartctl -j show files+100ms)"
kill $maker
wait $maker 2>/dev/null
check "the agent stops" host_down
rmdir /sys/fs/cgroup/watched/a /sys/fs/cgroup/watched
finish
