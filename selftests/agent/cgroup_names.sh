#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartd serves cgroups with any names: paths of up to 4,095 bytes, and bytes that are not UTF-8. A
# controller reads them, and a restart finds them again.
. "$(dirname "$0")/../lib.sh"
log=/run/dartd.log
top=/sys/fs/cgroup/names

# longest: bytes of the longest path of an entry
longest() {
	entry_names | LC_ALL=C awk '/^cgroup:cpu@\/names/ {
			bytes = length($0) - length("cgroup:cpu@")
			if (bytes > most)
				most = bytes
		}
		END { print most + 0 }'
}

reaches() {
	[ "$(longest)" -eq "$1" ]
}

has() {
	entry_names | grep -q -x -F -e "$1"
}

# read_by_controller NAME: a controller on this host reads values of the entry
read_by_controller() {
	dart-controller -j -n 1 localhost | grep -q -F "\"$1\""
}

rm -f $log	# of other tests
check "the agent starts" host_up
check "the agent follows all cgroups" dartctl register source cgroup:cpu --all-cgroups /
mkdir $top
mkdir "$top/"$'x\xe9' "$top/a b" "$top/"'run-r\x2dfoo' "$top/100%" "$top/a+1s"
# "/names/" and 4,088 bytes below it
check "cgroups are nested until the path has 4,095 bytes" cgroups named 4088 $top
check "the deepest has an entry" soon reaches 4095
check "a byte that is not UTF-8 has an entry with %E9" has "cgroup:cpu@/names/x%E9"
check "a blank, a percent sign and a plus sign are encoded" sh -c \
	'dartctl list | grep -q "/names/a%20b " && dartctl list | grep -q "/names/100%25 " &&
	dartctl list | grep -q "/names/a%2B1s "'
check "a backslash of systemd is encoded" has 'cgroup:cpu@/names/run-r%5Cx2dfoo'
deepest=$(dartctl -j list | gojq -r '[.[].name] | max_by(length)')
check "the values of the deepest are shown" dartctl show "$deepest"
check "a controller reads the values of the deepest" read_by_controller "$deepest"
check "the agent stops" host_down
check "the agent starts again" host_up again
check "the deepest has an entry after the restart" soon reaches 4095
check "the foreign byte has an entry after the restart" has "cgroup:cpu@/names/x%E9"
check "the agent stops again" host_down
check "the cgroups are removed" cgroups remove $top
finish
