#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An output that is not read, is full or is closed delays no scrape; the controller reports and
# counts dropped samples.
# shellcheck disable=SC2016,SC2217 # variables of jq; sleep holds a pipe open
. "$(dirname "$0")/../lib.sh"

# unread COMMAND...: runs the command with a reader of /run/fifo that begins to read only afterwards
unread() {
	exec </run/fifo >/run/lines
	"$@"
	exec cat
}

is_dropped() {
	grep -q "standard output .* dropped" /run/log
}

# A machine that is busy takes long to fill a pipe and a queue.
until_dropped() {
	soon is_dropped || soon is_dropped || soon is_dropped
}

# told COUNT TEXT: do COUNT lines of the log contain the text?
told() {
	cat /run/log
	[ "$(grep -c -e "$2" /run/log)" = "$1" ]
}

rdma_up
mkfifo /run/fifo
check "the agent starts" on host host_up
check "cgroups and namespaces are made on the host" on host many_objects 40 10
check "the whole host is registered, 100 kB of JSON" \
	on host dartctl register host --gather 1s

: >/run/log
unread until_dropped &
reader=$!
check "a controller scrapes two agents into a pipe that is not read until lines are dropped" sh -c \
	'dart-controller --json -i 100ms -n 150 host 10.77.0.2 >/run/fifo 2>/run/log'
wait $reader
sed 's/,"entries":{.*/,"entries":{}}/' /run/lines |
	gojq -c '{agent, sequence, scraped: has("entries"), summary}' >/run/short
summary=$(gojq -c '.summary // empty | {scrapes, failed, missed, dropped}' \
	/run/short | tr '\n' ' ')
check "meanwhile all 150 scrapes of each are made: $summary" \
	is_true -s 'map(.summary // empty) | length == 2 and
		all(.scrapes == 150 and .failed == 0)' /run/short
check "lines that find no room are dropped and counted: $summary" is_true -s \
	'(map(.summary.dropped // 0) | add > 0) and (group_by(.agent) | length == 2 and
		all((map(select(.scraped)) | length) as $lines |
		(map(.summary // empty)[0]) as $summary |
		$lines + $summary.dropped == $summary.scrapes))' \
	/run/short
check "when the pipe is read again, later lines follow" is_true -s \
	'map(select(.scraped)) | group_by(.agent) | map(map(.sequence)) |
		all(.[0] == 1 and . == sort) and any(.[-1] > length)' /run/short
check "that lines are dropped is said once" told 1 "standard output .* dropped"

unread sleep 3 &
reader=$!
check "a controller ends when its lines have been read" sh -c \
	'dart-controller --json -i 100ms -n 5 host >/run/fifo 2>/run/log'
wait $reader
check "all lines of a count are written" is_true -s \
	'map(.sequence // empty) == [1, 2, 3, 4, 5] and .[-1].summary.dropped == 0' \
	/run/lines

sleep 3600 </run/fifo &
reader=$!
dart-controller --json -i 100ms host >/run/fifo 2>/run/log &
controller=$!
log=/run/log
check "a controller writes into a pipe without a reader" soon logged 1 "dropped"
kill $controller
wait $controller
status=$?
check "it ends after SIGTERM, while the pipe is open and still not read" kill -0 $reader
check "its exit status is then 0" [ $status = 0 ]
check "its summary counts the dropped scrapes" told 1 "scrapes, .* missed, .* [1-9][0-9]* dropped"
kill $reader
wait $reader 2>/dev/null

for format in --json ''; do
	refuse "a full device ends a controller with one sentence (${format:-table})" \
		"No space left" sh -c \
		"timeout 120 dart-controller $format -i 100ms host >/dev/full 2>/run/log
		 status=\$?; cat /run/log; [ \$status != 1 ] || exit 1"
	check "which it says once (${format:-table})" told 1 "No space left"
	refuse "a single scrape fails if the device is full (${format:-table})" \
		"No space left" sh -c "dart-controller --once $format host >/dev/full"
done
check "a reader that has gone ends a controller, which says so once" bash -c \
	'timeout 120 dart-controller --json -i 100ms host 2>/run/log | head -n 1 >/run/lines
	 [ "${PIPESTATUS[0]}" = 1 ] && grep -c "Broken pipe" /run/log | grep -x 1'
check "the host is unregistered" on host dartctl unregister host
check "the agent stops" on host host_down
finish
