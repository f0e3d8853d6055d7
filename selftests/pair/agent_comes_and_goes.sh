#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A controller that scrapes all the time, of an agent that dies, comes back and
# changes its table: it says so, and never shows a value that it did not just
# read.
. "$(dirname "$0")/../lib.sh"

# await CONDITION: reads lines of the controller until one fulfils it.
await() {
	while read -r line <&3; do
		is_true "$1" <<<"$line" >/dev/null && return
	done
	return 1
}

now_ns() {
	awk '{ printf "%.0f\n", $1 * 1e9 }' /proc/uptime
}

reads() {
	dart-controller --once --json --entries softnet,cpustat host | jq .reads
}

work=$(mktemp -d)
rdma_up
check "the agent starts" on host host_up
mkfifo "$work/lines"
dart-controller --json --interval 500ms --entries tcp,softnet host \
	>"$work/lines" 2>"$work/messages" &
controller=$!
exec 3<"$work/lines"

check "values come" await '.entries.tcp'
generation=$(jq .generation <<<"$line")
on host dartctl register source softnet >/dev/null
check "an entry that appears is scraped" await '.entries.softnet'
check "of a newer table" is_true ".generation > $generation" <<<"$line"
on host dartctl unregister softnet >/dev/null
check "an entry that goes is left out" await '.entries | has("softnet") | not'

on host host_down KILL
check "the death of the agent is said" await .error
died=$(now_ns)
check "the agent starts again" on host host_up --exposure page
check "it is found again" await .entries
check "by values read since it died" is_true ".start_ns > $died" <<<"$line"

kill -INT $controller
check "the last word is a summary" await '.summary | .scrapes > 0 and .failed > 0'
check "SIGINT is no failure" wait $controller
for message in "connected, generation" "table changed" "lost: the agent hung up"
do
	check "it said '$message'" grep -q "$message" "$work/messages"
done

on host dartctl register source softnet >/dev/null
on host dartctl register source cpustat >/dev/null
check "one page for all takes one READ and the header" [ "$(reads)" -eq 2 ]
on host host_down
on host host_up --exposure exact
on host dartctl register source softnet >/dev/null
on host dartctl register source cpustat >/dev/null
check "exact bytes take one READ per CPU and more" [ "$(reads)" -ge 5 ]

refuse "--once wants all entries that are named" "no entry 'absent'" \
	dart-controller --once --entries tcp,absent host
rm -r "$work"
finish
