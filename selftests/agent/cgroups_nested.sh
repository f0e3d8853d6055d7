#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An ordinary user nests cgroups: dartd makes an entry for each of 400 levels and survives, also
# when its state file makes it follow them again. selftests/long nests 1,500, which takes the
# kernel minutes. A recursive walk would take some kilobytes of the stack for each level.
. "$(dirname "$0")/../lib.sh"
log=/run/dartd.log
top=/sys/fs/cgroup/nested

as_user() {
	setpriv --reuid 1000 --regid 1000 --clear-groups "$@"
}

# deepest: bytes of the longest path of a cgroup with an entry
deepest() {
	entry_names | LC_ALL=C awk '/^cgroup:cpu@\/nested/ {
			bytes = length($0) - length("cgroup:cpu@")
			if (bytes > most)
				most = bytes
		}
		END { print most + 0 }'
}

reaches() {
	[ "$(deepest)" -ge "$1" ]
}

has_beside() {
	dartctl list | grep -q '^cgroup:cpu@/beside '
}

# KiB: of dartd, too
ulimit -s 1024
rm -f $log	# of other tests
check "the agent starts" host_up
agent=$(pidof dartd)
check "the agent follows all cgroups" dartctl register source cgroup:cpu --all-cgroups /
mkdir -p $top && chown -R 1000:1000 $top
check "a user nests 400 cgroups, one in another" as_user cgroups chain 400 $top
check "dartd has an entry for each of 400 levels" soon reaches 807
check "dartd is the process that started" [ "$(pidof dartd)" = "$agent" ]
check "the agent stops" host_down
check "the agent starts, and follows the nested cgroups that its state file names" \
	host_up again
check "dartd has an entry for each of 400 levels after the restart" soon reaches 807
mkdir /sys/fs/cgroup/beside
check "a new cgroup at the top has its entry" soon has_beside
check "the agent stops again" host_down
check "all nested cgroups are removed" cgroups remove $top
finish
