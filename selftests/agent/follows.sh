#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Namespaces and cgroups that come and go as fast as they can, in both
# exposures: in the end the entries are those that are there.
. "$(dirname "$0")/../lib.sh"

pods=/sys/fs/cgroup/pods

churn() {
	for i in $(seq 30); do
		ip netns add "n$i"
		mkdir -p "$pods/$i/deep"
		[ $((i % 3)) -eq 0 ] || {
			ip netns del "n$i"
			rmdir "$pods/$i/deep" "$pods/$i"
		}
		[ $((i % 5)) -gt 0 ] || {
			rmdir "$pods/3/deep" "$pods/3"
			mkdir -p "$pods/3/deep"
		}
	done
}

# By the kinds of names; namespaces have names or not, but count.
registered() {
	dartctl -j list | jq -r '.entries[] | select(.kind == "source").name' |
		sed 's/^snmp:ip.*/namespace/' | sort
}

present() {
	find "$pods" -type d | sed 's,^/sys/fs/cgroup,cgroup:cpu@,'
	echo namespace
	for namespace in /run/netns/*; do
		[ -e "$namespace" ] && echo namespace
	done
}

# Namespaces end behind the back of who deletes them.
agrees() {
	for _ in $(seq 50); do
		[ "$(registered)" != "$(present | sort)" ] || return 0
		sleep 0.2
	done
	diff <(registered) <(present | sort)
}

rm -f /run/dartd.log	# what others made it say
for exposure in exact page; do
	check "$exposure: the agent starts" host_up --exposure $exposure
	mkdir -p $pods
	check "$exposure: namespaces are followed" \
		dartctl register source snmp:ip --all-netns
	check "$exposure: cgroups are followed" \
		dartctl register source cgroup:cpu --all-cgroups pods
	check "$exposure: they come and go" churn
	check "$exposure: those that are left are registered" agrees
	ip -all netns delete
	find $pods -depth -type d -exec rmdir {} +
	check "$exposure: but for one they are gone" agrees
	check "$exposure: the agent ends" host_down
	check "$exposure: it had nothing to complain about" sh -c \
		'! grep -v -e ready: -e follow -e stopping -e gone /run/dartd.log'
done
finish
