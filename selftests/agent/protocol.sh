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
	for _ in $(seq 100); do
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

request -s '{"request": "monitor"}' >"$stalled" &
slow=$!
until [ -s "$stalled" ]; do sleep 0.1; done
check "entries can be added and removed while a monitor does not read" \
	replies .ok -n 2500 '{"request": "register-source", "source": "vmstat"}' \
	'{"request": "unregister", "name": "vmstat"}'
check "a monitor that does not read is disconnected" wait $slow
check "a monitor that reads is not" kill -0 $monitor
check "the log has the reason" \
	grep -q "reads too slowly" /run/dartd.log
check "the agent ends" host_down
check "its monitors end with it" wait $monitor
finish
