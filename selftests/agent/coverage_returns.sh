#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# For an object that is missing for a temporary reason dartd names a remedy that helps, and serves
# the object after the remedy without any other command.
. "$(dirname "$0")/../lib.sh"

log=/run/dartd.log
top=/sys/fs/cgroup/$'returns\xe9'	# names may contain any bytes
watches=/proc/sys/fs/inotify/max_user_watches
before=$(cat $watches)

# covers KIND FILTER
covers() {
	dartctl -j status | gojq -c --arg kind "$1" \
		'.coverage[] | select(.kind == $kind)' | tee /run/line
	is_true "$2" /run/line
}

misses() {
	covers "$1" ".missing[] | select(.reason == \"$2\") | $3"
}

# within_a_minute COMMAND...
within_a_minute() {
	for _ in 1 2 3 4; do
		soon "$@" && return
	done
}

doctor_does() {
	dartctl doctor | grep " coverage: " | tee /run/line
	grep -q -e "^warn .*; do: $1\$" /run/line
}

sysctl -qw kernel.kptr_restrict=2
check "the agent starts while the kernel hides its addresses" host_up
check "the host is registered" sh -c 'dartctl register host >/run/printed'
check "sources are missing, and the named remedy helps" misses sources permission \
	'.remedy == "sysctl kernel.kptr_restrict=1" and (.why | contains("CAP_SYSLOG") | not)'
check "the command that registered the host has said so" grep -q \
	'permission.*; do: sysctl kernel.kptr_restrict=1$' /run/printed
check "the host lists them" is_true 'any(.[]; .name == "host" and .failures > 0)' \
	<<<"$(dartctl -j list)"
check "doctor names the remedy" doctor_does "sysctl kernel.kptr_restrict=1"
check "the remedy is applied" sh -c "$(sed -n 's/.*; do: \(sysctl kernel.*\)/\1/p' /run/line)"
# Only x86 has the variable of irqs.
[ "$(uname -m)" = x86_64 ] && absent=0 || absent=1
check "the sources are served then" within_a_minute covers sources \
	'.served == .present - '"$absent"' and
		([.missing[] | select(.example != "irqs")] == [])'
check "doctor finds the host covered" sh -c 'dartctl doctor | grep "^ok .*coverage: all"'
check "the host is unregistered" dartctl unregister host

mkdir -p "$top"/a/b/c "$top"/d
echo 2 >$watches
check "the host is registered while few watches are left" sh -c \
	'dartctl register host >/run/printed'
check "cgroups are missing for lack of watches, with an example" misses cgroups watches \
	'.count > 0 and (.example | test("returns%E9|dart-test")) and (.remedy | contains("max_user_watches"))'
check "the command says it" grep -q ' watches, such as .*max_user_watches' /run/printed
check "the entry dartd says it" is_true '.values.rows[0].coverage_cgroups_missing_watches > 0' \
	<<<"$(dartctl -j show dartd)"
echo "$before" >$watches
check "all cgroups are served within a minute after the limit is raised" within_a_minute \
	covers cgroups ".missing == [] and
		.served == $(find /sys/fs/cgroup -mindepth 1 -type d | wc -l)"
check "the entry says so" is_true '.values.rows[0].coverage_cgroups_missing_watches == 0' \
	<<<"$(dartctl -j show dartd)"
check "the cgroups have entries" sh -c \
	'dartctl -j list | is_true "any(.[]; .name == \"cgroup:cpu@/returns%E9/a/b/c+1s\")"'
check "the agent stops" host_down
rmdir "$top"/a/b/c "$top"/a/b "$top"/a "$top"/d "$top"
finish
