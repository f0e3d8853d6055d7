#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# dartctl monitor prints a line for each change, at once.
. "$(dirname "$0")/../lib.sh"

lines=/run/monitor.lines
log=$lines	# for soon
json=/run/monitor.json

# told TEXT: a line says so, after the time
told() {
	soon grep -q -E "^[0-9-]+T[0-9:.]+ $1$" "$lines"
}

# monitors: both are connected: the first change is seen by both
monitors() {
	for _ in $(seq 500); do
		dartctl source add softirqs
		dartctl unregister softirqs
		[ -s "$lines" ] && [ -s "$json" ] && return
		sleep 0.1
	done
	return 1
}

refuse "a monitor without an agent fails" "is dartd running" dartctl monitor
check "the agent starts" host_up
dartctl monitor >"$lines" 2>/run/monitor.errors &
monitor=$!
dartctl -j monitor >"$json" &
json_monitor=$!
check "monitors print changes" monitors
dartctl source add cpustat
check "a monitor prints an entry that is added" told "added entry cpustat"
dartctl unregister cpustat
check "a monitor prints an entry that is removed" told "removed entry cpustat"
ip netns add blue
dartctl source add snmp:ip --netns blue
ip netns delete blue
check "a monitor prints an entry that has ended" told "ended entry snmp:ip@blue"
dartctl source follow snmp:udp
check "a monitor prints a follower that is added" told "added follower snmp:udp@\\*"
dartctl store create small --slots 2^4 --value 20
ip neighbour replace 10.77.0.2 lladdr 02:00:00:00:00:01 dev eth0
dartctl reporter add small 10.77.0.2
dartctl store delete small
check "a monitor prints a store that is created" told "added store small"
check "a monitor prints the reporters of a store that is deleted" \
	told "removed reporter 10.77.0.2"
check "a monitor prints a store that is deleted" told "removed store small"
check "a monitor prints JSON objects, one on each line" soon is_true -s \
	'all(.time_ms > 0) and any(.event == "added" and .object == "store")' "$json"
kill $json_monitor
wait $json_monitor
status=$?
check "a monitor ends when it is terminated" [ $status -gt 0 ]
check "the agent stops" host_down
wait $monitor
status=$?
check "a monitor ends with status 1 when the agent stops" [ $status -eq 1 ]
check "a monitor says that the agent has disconnected" \
	grep -q "^dartctl: dartd has disconnected" /run/monitor.errors
finish
