#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Objects that were registered by command are registered again after dartd was killed.
. "$(dirname "$0")/../lib.sh"

state=/run/state
map=/sys/fs/bpf/pinned

# registrations: the registrations that dartd restores, one per line
registrations() {
	dartctl -j registration list |
		gojq -c '.[] | [.name, .owner, .origin, .missing]'
}

# table: entries, followers and probes, without members that a restart changes
table() {
	dartctl -j list | gojq -c '.[] | del(.age_s, .counters_id, .map_id)' | sort
	dartctl -j probe list | gojq -c '.[] | del(.missed)'
}

# restart [SIGNAL]: ends dartd, and starts it again with its state
restart() {
	host_down "${1-KILL}" && : >/run/dartd.log &&
		host_up again --state="$state"
}

# keeps SIGNAL COMMAND...: it prints the same before and after dartd got SIGNAL
keeps() {
	signal=$1
	shift
	"$@" >/run/before && restart "$signal" && "$@" >/run/after &&
		diff /run/before /run/after
}

has() {
	registrations | tee /dev/stderr | grep -qF "[\"$1\""
}

# missing NAME TEXT: it is listed as missing, with TEXT in the reason
missing() {
	dartctl -j registration list | tee /dev/stderr | is_true \
		"any(.name == \"$1\" and (.missing // \"\" | contains(\"$2\")))"
}

# loses NAME TEXT: after a restart NAME is missing, and all other registrations exist
loses() {
	registrations | grep -vF "[\"$1\"" >/run/before
	restart || return
	registrations | grep -vF "[\"$1\"" | diff /run/before - &&
		missing "$1" "$2"
}

# logs COUNT TEXT: COUNT lines of the log contain TEXT
logs() {
	[ "$(tee /dev/stderr </run/dartd.log | grep -cF "$2")" -eq "$1" ]
}

# warns TEXT COMMAND...: which succeeds
warns() {
	text=$1
	shift
	"$@" 2>/run/errors && tee /dev/stderr </run/errors | grep -qF "$text"
}

mount -t bpf bpf /sys/fs/bpf 2>/dev/null
mount -t cgroup2 cgroup /sys/fs/cgroup 2>/dev/null
mkdir -p $state /sys/fs/cgroup/a/b
mount -t tmpfs -o size=1m state $state
modprobe brd rd_nr=1
ip netns add blue
ip link add dummy7 type dummy
bpftool map create $map type array key 4 value 8 entries 4 name pinned flags 0x400
until_ready /run/owner.log map_owner unpinned
unshare --net sleep infinity &
process=$!
until [ "$(readlink /proc/$process/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do
	sleep 0.1
done

check "the agent starts" host_up --state="$state"
check "a first start registers the probe tcp" \
	[ "$(registrations)" = '["probe tcp",0,"command",null]' ]
check "no program watches owners of maps before a map is registered" \
	sh -c 'bpftool prog list >/run/programs && ! grep "name dart_map_put " /run/programs'
while read -r command; do
	# shellcheck disable=SC2086 # words
	check "dartctl $command succeeds" dartctl $command
done <<'LINES'
source add cpustat
source add snmp:tcp --netns blue
source add netdev:stats --netdev dummy7
source add disk:stats --disk ram0
source add cgroup:cpu --cgroup /a
source follow cgroup:cpu --cgroup /a/b
source follow snmp:icmp
probe load runqlat
counters add drops a b
map add name unpinned
store create paths --slots 2^10 --value 20
LINES
check "a map is registered by the path where it is pinned" \
	dartctl map add $map as pinned
check "then a program watches them" sh -c 'bpftool prog list | grep "name dart_map_put "'
check "the namespace of a process is registered" \
	dartctl source add snmp:udp --netns $process
check "a probe that was loaded first is unloaded" dartctl probe unload tcp
check "all are listed as registrations" [ "$(registrations | wc -l)" -eq 13 ]

check "entries, followers and probes are the same after SIGKILL" keeps KILL table
check "the registrations are the same after SIGKILL" keeps KILL registrations
check "the registrations are the same after SIGTERM" keeps TERM registrations
check "nothing is missing" sh -c "dartctl -j status | is_true '.missing == 0'"
check "a source that is removed is no longer a registration" \
	sh -c "dartctl entry remove cpustat && ! dartctl registration list | grep cpustat"
check "a source that was removed does not come back" keeps KILL table
check "a restart that restores everything logs no failure" \
	logs 0 "cannot restore"

# ---- objects that end

ip link delete dummy7
check "a device that is deleted is no longer registered" \
	sh -c 'while dartctl registration list | grep dummy7; do :; done'
host_down KILL
: >/run/dartd.log
ip netns delete blue
pkill -x map_owner
check "the agent starts without a namespace and a map that it had" \
	host_up again --state="$state"
check "a namespace that has gone is missing" \
	missing "entry snmp:tcp@blue" "no network namespace 'blue'"
check "a map that has gone is missing" \
	missing "entry unpinned" "no longer exists"
check "all others are there" \
	sh -c "dartctl -j status | is_true '.missing == 2 and .registrations == 11'"
check "each missing registration is logged once" logs 2 "cannot restore"
check "missing registrations are kept" keeps KILL registrations
check "a missing map can be removed" dartctl entry remove unpinned
check "a missing map that was removed is not listed" \
	sh -c '! dartctl registration list | grep unpinned'
ip netns add blue
check "a namespace that is there again is registered without a restart" sh -c "
	until dartctl -j status | is_true '.missing == 0'; do sleep 0.5; done"
check "its entry is in the table" dartctl show snmp:tcp@blue

# ---- the state file

refuse "a second agent with the same state is refused" "another dartd keeps its state" \
	dartd --socket=/run/second.sock --state="$state"
head -c 2M /dev/zero >$state/filler 2>/dev/null
check "with a full disk an object is registered with a warning" \
	warns "a restart of dartd will undo it: cannot write $state" \
	dartctl source add softnet
check "the object registered with a full disk exists" dartctl show softnet
echo 'sources: [softirqs]' >/run/apply.yaml
check "with a full disk a file is applied with a warning" \
	warns "a restart of dartd will undo the last changes: cannot write $state" \
	dartctl apply /run/apply.yaml
check "after a crash with a full disk the last state file is used" restart
check "objects that the full disk did not take are gone" \
	sh -c '! dartctl registration list | grep soft'
check "objects of the state file are restored" has "entry snmp:tcp@blue"
rm $state/filler
check "with room on the disk, registering gives no warning" \
	sh -c 'dartctl source add softnet 2>&1 | tee /dev/stderr | (! grep warning)'
check "objects registered with room on the disk are restored" \
	keeps KILL registrations

host_down KILL
sed -i 's/softnet/softirq/' $state/registrations.json
check "the agent starts with a damaged state file" host_up again --state="$state"
check "a damaged state file is named in one sentence" \
	logs 1 "$state/registrations.json is not used: it is damaged: its checksum is wrong"
check "a damaged state file is put aside" [ -s $state/registrations.json.refused ]
check "with a damaged state file, sources can be registered" \
	dartctl source add cpustat
check "later registrations are restored" keeps KILL table
host_down KILL
sed -i 's/"version":1/"version":2/' $state/registrations.json
check "the agent starts with a state file of a later version" \
	host_up again --state="$state"
check "a state file of a later version is named in one sentence" \
	logs 1 "it has version 2, but this dartd knows version 1"
check "the agent stops" host_down
kill $process
finish
