#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A controller reports an agent that dies and restarts, and never shows a stale value.
. "$(dirname "$0")/../lib.sh"

# await PATTERN: reads lines of the controller, in short, until one matches; one jq for
# each line would be too slow
await() {
	while read -r line <&3; do
		# shellcheck disable=SC2053 # a pattern
		[[ $line == $1 ]] && return
	done
	return 1
}

now_ns() {
	awk '{ printf "%.0f\n", $1 * 1e9 }' /proc/uptime
}

reads() {
	dart-controller --once --json --entries softnet,cpustat host | gojq .reads
}

work=$(mktemp -d)
rdma_up
check "the agent starts" on host host_up
mkfifo "$work/lines"
dart-controller --json --interval 500ms --entries tcp,softnet host \
	>"$work/lines" 2>"$work/messages" &
controller=$!
exec 3< <(gojq -c '{entries: (.entries // {} | keys), error, generation,
	start_ns, summary: (.summary | {failed, scrapes})}' "$work/lines")

check "a controller shows values of the agent" await '*"tcp"*'
generation=$(gojq .generation <<<"$line")
on host dartctl register source softnet >/dev/null
check "an entry that is registered meanwhile is scraped" await '*"softnet"*'
check "a scrape with a new entry has a higher generation" \
	is_true ".generation > $generation" <<<"$line"
on host dartctl unregister softnet >/dev/null
check "an entry that is unregistered meanwhile is no longer scraped" \
	await '*"entries":\["tcp"\]*'

on host host_down KILL
check "the controller reports an error after the agent was killed" await '*"error":"*'
died=$(now_ns)
check "the agent starts again" on host host_up --exposure page
check "the controller scrapes again after the agent was restarted" await '*"tcp"*'
check "values of a restarted agent were read after the old one was killed" \
	is_true ".start_ns > $died" <<<"$line"

kill -INT $controller
check "an interrupted controller writes a summary" await '*"failed":[1-9]*"scrapes":[1-9]*'
check "a controller that SIGINT ends exits with 0" wait $controller
for message in "connected, generation" "table changed" "lost: the agent disconnected"
do
	check "the controller's log says '$message'" grep -q "$message" "$work/messages"
done

on host dartctl register source softnet >/dev/null
on host dartctl register source cpustat >/dev/null
check "page: a scrape of two entries takes one READ and a READ of the header" \
	[ "$(reads)" -eq 2 ]
on host host_down
on host host_up --exposure exact
on host dartctl register source softnet >/dev/null
on host dartctl register source cpustat >/dev/null
check "exact: a scrape of two entries takes a READ for each CPU" [ "$(reads)" -ge 5 ]

refuse "with --once the controller fails if a named entry does not exist" \
	"no entry 'absent'" dart-controller --once --entries tcp,absent host

# scrapes_both NAMESERVER: scrapes "host", and a host whose name this server does not tell
scrapes_both() {
	printf 'nameserver %s\noptions timeout:30\n' "$1" >"$work/resolv.conf"
	unshare -m sh -c 'mount --bind "$0/resolv.conf" /etc/resolv.conf &&
		exec timeout 25 dart-controller --json --interval 200ms --count 5 \
			--entries tcp host absent.example >"$0/lines" 2>"$0/messages"' "$work"
	is_true -s 'map(select(.agent == "host:4792" and .entries)) | length == 5' "$work/lines" &&
		is_true -s 'any(.agent == "absent.example:4792" and .summary.failed >= 5)' \
			"$work/lines"
}

rm -f "$work/lines"
check "a host whose name is not known ends no scrapes of another" scrapes_both 127.0.0.1
check "the log says once that the name cannot be resolved" \
	[ "$(grep -c "absent.example:4792: cannot be scraped: cannot resolve" "$work/messages")" -eq 1 ]
check "a host whose name server does not answer delays no scrapes of another" \
	scrapes_both 10.77.0.99
refuse "with --once the controller fails if a name cannot be resolved" \
	"cannot resolve 'absent'" dart-controller --once absent
rm -r "$work"
finish
