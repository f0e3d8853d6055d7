#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The registration socket: versions, lists of sources and controllers, monitors.
. "$(dirname "$0")/../lib.sh"

changes=/run/changes
stalled=/run/stalled

# replies JQ LINE...: the last reply to the requests
replies() {
	filter=$1
	shift
	request "$@" | tail -n 1 | tee /dev/stderr | is_true "$filter"
}

# announced EVENT OBJECT NAME: soon
announced() {
	for _ in $(seq 1000); do
		# shellcheck disable=SC2016 # variables of jq
		is_true -s --arg event "$1" --arg object "$2" --arg name "$3" \
			'any(.event == $event and .object == $object and
				.name == $name and .time_ms > 0)' "$changes" && return
		sleep 0.1
	done
	cat "$changes" >&2
	return 1
}

list='{"request": "list"}'
check "the agent starts" host_up
check "a reply has the version of dartd" \
	replies '.ok and .version == .status.version' '{"request": "status"}'
check "a refusal has the version of dartd" \
	replies '(.ok | not) and (.version | length > 0)' '{"request": "nonsense"}'

dartctl register source vmstat
dartctl register source snmp:tcp --all-netns
sleep 1
check "list has the owner and the age of an entry" replies \
	'.entries[] | select(.name == "vmstat") | .owner == 0 and .age_s >= 1' "$list"
check "list has the owner and the age of a follower" replies \
	'.entries[] | select(.kind == "follow") | .owner == 0 and .age_s >= 1' "$list"
dartctl unregister vmstat
dartctl unregister 'snmp:tcp@*'

sources='{"request": "source-list"}'
check "each source has a description" \
	replies '.sources | length > 10 and all(.description | length > 5)' "$sources"
check "a source of network namespaces has that selector and can be followed" \
	replies '.sources[] | select(.name == "snmp:tcp") |
		.selector == "netns" and .follows' "$sources"
check "a source of the whole host has no selector and cannot be followed" \
	replies '.sources[] | select(.name == "cpustat") |
		.selector == "none" and (.follows | not)' "$sources"

check "without controllers their list is empty" \
	replies '.controllers == []' '{"request": "controller-list"}'
disconnect='{"request": "controller-disconnect", "peer": "192.0.2.1:1"}'
check "disconnecting an unknown peer is refused with ENOENT" \
	replies '.error == "ENOENT"' "$disconnect"
chmod 666 /run/dart/dartd.sock
install -m 755 "$(command -v request)" /run/request
check "only root may disconnect a controller" sh -c \
	"setpriv --reuid 65534 --clear-groups /run/request '$disconnect' |
		grep '\"EPERM\"'"
check "'more' is true or false" replies '.error == "EINVAL"' \
	'{"request": "register-source", "source": "vmstat", "more": 1}'
check "a map without its file descriptor is refused" \
	replies '.error == "EINVAL"' '{"request": "register-map"}'

# ---- monitor

request '{"request": "monitor"}' >"$changes" &
monitor=$!
until [ -s "$changes" ]; do sleep 0.1; done
check "the reply to monitor precedes the changes" \
	is_true -s '.[0].ok and .[0].monitor and (.[0].version | length > 0)' "$changes"
dartctl register source vmstat
check "a monitor is told that an entry was added" announced added entry vmstat
dartctl unregister vmstat
check "a monitor is told that an entry was removed" announced removed entry vmstat
ip netns add red
dartctl register source snmp:udp --all-netns
check "a monitor is told that a follower was added" \
	announced added follower 'snmp:udp@*'
check "a monitor is told of the entries of a follower" \
	announced added entry snmp:udp@red
ip netns delete red
check "a monitor is told that the counters of an entry ended" \
	announced ended entry snmp:udp@red
dartctl unregister 'snmp:udp@*'
check "a monitor is told that a follower was removed" \
	announced removed follower 'snmp:udp@*'
dartctl probe load runqlat
check "a monitor is told that a probe was loaded" announced loaded probe runqlat
dartctl probe unload runqlat
check "a monitor is told that a probe was unloaded" \
	announced unloaded probe runqlat
request '{"request": "store-create", "name": "paths", "slots_log2": 10, "value_length": 20}' \
	'{"request": "store-delete", "name": "paths"}'
check "a monitor is told that a store was created" announced added store paths
check "a monitor is told that a store was deleted" announced removed store paths

# Cgroups with names of 3,000 bytes: two changes of 120 entries fill the queue of a monitor.
part=$(printf '%0240d' 0)
deep=/deep
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	deep=$deep/$part
done

# deep_are COUNT: the table has COUNT entries of cgroups, with those of their follower
deep_are() {
	[ "$(entry_names | grep -c ^cgroup:cpu@/deep)" = "$1" ]
}

# come_and_go: 120 cgroups, and the entries of a follower for them
come_and_go() {
	seq -f "/sys/fs/cgroup$deep/%.0f" 120 >/run/cgroups
	xargs mkdir </run/cgroups && soon deep_are 122 &&
		xargs rmdir </run/cgroups && soon deep_are 2
}

mkdir -p "/sys/fs/cgroup$deep"
dartctl register source cgroup:cpu --all-cgroups "$deep"
request -s '{"request": "monitor"}' >"$stalled" &
slow=$!
until [ -s "$stalled" ]; do sleep 0.1; done
check "entries can be added and removed while a monitor does not read" come_and_go
check "a monitor that does not read is disconnected" wait $slow
check "a monitor that reads is not" kill -0 $monitor
check "the log has the reason" \
	grep -q "reads too slowly" /run/dartd.log
check "the agent ends" host_down
check "its monitors end with it" wait $monitor

# ---- a user that floods

# flood: four clients of one user, which send requests until the test ends them
flood() {
	for _ in 1 2 3 4; do
		setpriv --reuid 65534 --clear-groups \
			/run/request -n 1000000 "$list" >>/run/replied &
		echo $! >>/run/flooding
	done
}

# flood_is up|down: do all four clients run, or none?
flood_is() {
	while read -r client; do
		kill -0 "$client" 2>/dev/null && now=up || now=down
		[ "$now" = "$1" ] || return
	done </run/flooding
}

# asleep: how many of 20 looks, each after a reply to root, find that the agent sleeps; an
# agent that spins is always running
asleep() {
	found=0
	for _ in $(seq 20); do
		dartctl status >/run/status || return
		! grep -q '^State:.S' "/proc/$(pidof dartd)/status" || found=$((found + 1))
	done
	echo $found
}

echo 'limits: {requests_per_second_per_user: 10}' >/run/dart.yaml
check "the agent starts with a limit of 10 requests a second for each user" \
	host_up --config=/run/dart.yaml
chmod 666 /run/dart/dartd.sock
start=$(date +%s%N)
flood
until grep -q "user 65534 wait" /run/dartd.log; do sleep 0.1; done
looks=$(asleep)
check "while a user floods, each of 20 requests of root gets a reply" [ "$looks" ]
check "the four clients of the user still wait then" flood_is up
check "the agent sleeps while clients wait, at $looks of 20 looks" [ "$looks" -ge 10 ]
# shellcheck disable=SC2046 # four numbers
kill $(cat /run/flooding)
wait
seconds=$((($(date +%s%N) - start) / 1000000000))
replied=$(wc -l </run/replied)
echo "# $replied replies in $seconds s"
check "the user got the 100 replies that it had in reserve" [ "$replied" -ge 100 ]
check "it got no more than 10 a second beyond" \
	[ "$replied" -le $((100 + (seconds + 2) * 10)) ]
finish
