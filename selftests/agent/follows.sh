#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Followed namespaces and cgroups come and go quickly: the table lists the existing ones.
. "$(dirname "$0")/../lib.sh"

pods=/sys/fs/cgroup/pods

churn() {
	for i in $(seq 12); do
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

# Cgroups by name; namespaces may be unnamed, so only their number counts.
registered() {
	source_names | sed 's/^snmp:ip.*/namespace/' | sort
}

present() {
	find "$pods" -type d | sed 's,^/sys/fs/cgroup,cgroup:cpu@,'
	echo namespace
	for namespace in /run/netns/*; do
		[ -e "$namespace" ] && echo namespace
	done
}

# agrees: waits, because the kernel ends a namespace after its deletion returned
agrees() {
	for _ in $(seq 100); do
		[ "$(registered)" != "$(present | sort)" ] || return 0
		sleep 1
	done
	diff <(registered) <(present | sort)
}

rm -f /run/dartd.log	# of other tests
for exposure in exact page; do
	check "$exposure: the agent starts" host_up --exposure $exposure
	mkdir -p $pods
	check "$exposure: a source follows all namespaces" \
		dartctl register source snmp:ip --all-netns
	check "$exposure: a source follows all cgroups of a subtree" \
		dartctl register source cgroup:cpu --all-cgroups pods
	check "$exposure: 12 namespaces and cgroups are made, most are removed" churn
	check "$exposure: the namespaces and cgroups that remain are registered" agrees
	ip -all netns delete
	find $pods -depth -type d -exec rmdir {} +
	check "$exposure: only the agent's own namespace remains registered" agrees
	check "$exposure: the agent stops" host_down
	# On arm64 the agent says of soft-RoCE that a row can be one that mixes two updates.
	check "$exposure: the agent logs no error meanwhile" sh -c '! grep -v -e ready: -e loaded \
		-e follow -e stopping -e exists -e "mixes values of two updates" /run/dartd.log'
done
finish
