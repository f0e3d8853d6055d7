#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An ordinary user makes more cgroups than its quota: dartd counts the cgroups beyond it, answers
# requests meanwhile, and gives a new cgroup of root its entries.
. "$(dirname "$0")/../lib.sh"
log=/run/dartd.log
top=/sys/fs/cgroup/crowd
limit=120

as_user() {
	setpriv --reuid 1000 --regid 1000 --clear-groups "$@"
}

# entries PREFIX: the entries of cgroups whose path begins with PREFIX
entries() {
	dartctl list | grep -c "^cgroup:[a-z]*@$1"
}

has_entries() {
	[ "$(entries "$1")" -ge "$2" ]
}

# missing: cgroups that the follower of cgroup:cpu does not serve
missing() {
	dartctl -j list | gojq '.[] | select(.name == "cgroup:cpu@/**").failures'
}

misses() {
	[ "$(missing)" -eq "$1" ]
}

rm -f $log	# of other tests
cat >/run/crowd.yaml <<-END
	limits: {entries_per_user: $limit}
END
check "the agent starts with a quota of $limit entries for each user" \
	host_up --config=/run/crowd.yaml
mkdir $top
check "the agent follows all cgroups" dartctl register source cgroup:cpu --all-cgroups /
check "no cgroup is missing" misses 0
# As systemd does it: the directory is made, and then belongs to the user.
chown 1000:1000 $top
check "a user makes 300 cgroups" as_user cgroups flat 300 $top
check "cgroups within the quota have entries" soon has_entries /crowd/ 50
check "a new cgroup of root has its entry" sh -c "mkdir /sys/fs/cgroup/important"
check "the entry is there" soon has_entries /important 1
# A cgroup and its entry count as one each; the top is one of the user's cgroups.
check "no more than the quota have entries" [ "$(entries /crowd)" -le $((limit / 2)) ]
check "the others are counted as missing" soon misses $((301 - $(entries /crowd)))
check "the user makes and removes a cgroup 2,000 times" as_user cgroups rounds 2000 $top
check "the agent answers" dartctl status
check "the user removes all cgroups" as_user cgroups remove $top
lost() { [ "$(entries /crowd/)" -eq 0 ]; }
check "no entry of them remains" soon lost
check "no cgroup is missing when they are gone" soon misses 0
check "another user's quota is not touched" sh -c \
	"mkdir /sys/fs/cgroup/other && chown 1001 /sys/fs/cgroup/other &&
	setpriv --reuid 1001 --clear-groups cgroups flat 20 /sys/fs/cgroup/other"
check "all cgroups of the other user have entries" soon has_entries /other 21
check "the agent stops" host_down
finish
