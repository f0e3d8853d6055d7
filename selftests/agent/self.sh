#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Peers that connect, disconnect and are rejected cannot fill the log of the agent.
. "$(dirname "$0")/../lib.sh"

count=2500	# peers of each kind
log=/run/dartd.log

# accounts_for COUNT PATTERN: the messages in the log and those that it only counts
accounts_for() {
	awk -v pattern="$2\$" -v expected="$1" '
		$0 !~ pattern { next }
		/similar messages suppressed/ { suppressed += $2; next }
		{ shown++ }
		END {
			print shown " shown, " suppressed " suppressed"
			exit shown + suppressed != expected
		}' $log
}

check "the agent starts" host_up
ip address show dev eth0 | grep -q 10.77.0.1 ||
	ip address add 10.77.0.1/24 dev eth0
check "$count peers each are accepted, or rejected for one of three reasons" \
	peers 10.77.0.1 $count controller reader newer stranger
check "the agent stops" host_down
check "the log of $((4 * count)) peers has less than 300 lines" \
	[ "$(wc -l <$log)" -lt 300 ]
for event in connected disconnected; do
	check "the log shows or counts each controller that has $event" \
		accounts_for $count "controller .* $event"
done
check "the log shows or counts each peer that was rejected" \
	accounts_for $((3 * count)) "rejected: .*"
finish
