#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The node of a member is deleted, and made again, between two requests of another member: one for its
# data, which finds no node, and one for the members, which finds it again. The other one must ask for
# the data again, or it never learns which list the member uses, and its controller waits for the whole
# hand-over time whenever it joins.
# shellcheck disable=SC1091,SC2034,SC2046,SC2086,SC2154 # of zookeeper.sh, and lists of numbers
. "$(dirname "$0")/../../lib.sh"
. "$tests/zookeeper.sh"
need_zookeeper
dir=$(mktemp -d)
trap 'kill -KILL $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT

prepare_servers 1
start_server 1
start_hosts 4 200
prepare_member 3 10s 600s 200ms
start_controller 3
start_writer 3
check "a member scrapes all hosts" soon all_have 3

mkfifo "$dir/said" "$dir/told"
port=$("$tests/free_ports")
"$tests/hold_requests" "$port" $((zookeeper_port + 1)) /3 \
	<"$dir/told" >"$dir/said" 2>"$dir/proxy-log" &
exec 8>"$dir/told" 9<"$dir/said"

# says WORD: the process between the other member and the server says it next
says() {
	local word
	read -r -t $patience word <&9 && [ "$word" = "$1" ] && return
	cat "$dir/proxy-log" "$dir"/writer-log-*
	return 1
}
check "a process listens that stands between another member and the server" says listens
server_list=127.0.0.1:$port
prepare_member 1 10s 600s 200ms
start_controller 1
start_writer 1
check "the other member's request for the data of this one's node is held" says held

kill "${writers[3]}"
wait "${writers[3]}"
check "the node is deleted: the other one is told" says told
echo >&8
check "its request for the data finds no node" says answered

# lists_again VERSION: member 3 has another list, which names it
lists_again() {
	gojq -e --argjson version "$1" '.version > $version and .members == [3]' \
		"$dir/members-3.json" >/dev/null
}
version=$(gojq .version "$dir/members-3.json")
start_writer 3
check "the node is made again" soon lists_again "$version"
echo >&8
check "both members share all hosts, and none waits for the hand-over time" soon shared 1 3
# agreed I...: the list of each of these members says that all others use it
agreed() {
	local member
	for member; do
		gojq -e .agreed "$dir/members-$member.json" >/dev/null || return
	done
}
check "each list says that the other member uses it" soon agreed 1 3
finish
