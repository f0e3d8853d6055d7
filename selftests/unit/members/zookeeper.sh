#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Three controllers that a real server of ZooKeeper lists share twenty hosts out: one is killed,
# frozen, told to end, or the server does not answer. The hand-over time is far longer than the test:
# whoever waits for it fails.
# shellcheck disable=SC1091,SC2046,SC2086,SC2154 # of zookeeper.sh, and lists of numbers
. "$(dirname "$0")/../../lib.sh"
. "$tests/zookeeper.sh"
need_zookeeper
dir=$(mktemp -d)
# A process that is stopped ends only when it goes on.
trap 'kill -CONT $(jobs -p) 2>/dev/null; kill -KILL $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT

prepare_servers 1
start_server 1
start_hosts 20 200
echo "operator:secret" >"$dir/auth"
for i in 1 2 3; do
	prepare_member $i 2s 600s 200ms "auth_file: $dir/auth"
	start_controller $i
	start_writer $i
done
check "three members share all hosts" soon shared 1 2 3
begun_ns=$(now_ns)

kill -KILL "${pids[3]}"
wait "${pids[3]}" 2>/dev/null
check "one is killed: the others have all hosts" soon shared 1 2
start_controller 3
check "it is back, and need not wait" soon shared 1 2 3

# end I: SIGTERM, until it has ended
end() {
	kill "${pids[$1]}"
	wait "${pids[$1]}"
}

for i in 1 2 3; do
	check "member $i ends, after it handed its hosts over" end $i
	start_controller $i
	check "and is back" soon shared 1 2 3
done
check "each said so" [ "$(cat "$dir"/log-* | grep -c "hands its .* agents over")" = 3 ]

kill -STOP "${pids[2]}"
frozen_ns=$(now_ns)
check "one is frozen: the others have all hosts" soon shared 1 3
kill -CONT "${pids[2]}"
# Not a sample of the time in which others had its hosts.
woken_ns=$(now_ns)
check "it wakes, and is a member again" soon shared 1 2 3
late() {
	grep -o '"time_ns":[0-9]*' "$dir/lines-2" |
		awk -F: -v from="$((frozen_ns + 100000000))" -v to="$woken_ns" '$2 > from && $2 < to'
}
check "it passed on nothing of the time in which it was frozen" [ -z "$(late)" ]

kill -STOP "${servers[1]}"
said() {
	grep -q "$2" "$dir/writer-log-$1"
}
check "the server does not answer: that is said" soon said 1 "no server of ZooKeeper answers"
sleep_past() {
	sleep 3
	shared 1 2 3
}
check "after more than a session time-out, all members go on" sleep_past
kill -CONT "${servers[1]}"
check "when it answers again, all hosts are shared" soon shared 1 2 3
kill -KILL "${writers[1]}"
wait "${writers[1]}" 2>/dev/null
start_writer 1
check "the program is killed and started again: all hosts are shared" soon shared 1 2 3

# Another program replaces the file with the password while the program starts.
mv "$dir/auth" "$dir/kept"
kill "${writers[2]}"
wait "${writers[2]}"
check "a program ends: the others have all hosts" soon shared 1 3
start_writer 2
check "it starts without the password: that is said" soon said 2 "cannot open '$dir/auth'"
mv "$dir/kept" "$dir/auth"
check "the password is there: all hosts are shared" soon shared 1 2 3
check "that was said once" [ "$(grep -c "cannot open '$dir/auth'" "$dir/writer-log-2")" = 1 ]
cat "$dir"/writer-log-* >"$dir/writer-logs"
check "the library's lines are few" [ "$(grep -c libzookeeper: "$dir/writer-logs")" -le 36 ]
check "no message has the password" sh -c "! grep -q secret '$dir'/writer-logs '$dir'/log-*"
echo "# $((($(now_ns) - begun_ns) / 1000000)) ms, no host was without a scrape for more than $(largest_gap "$begun_ns" "$(now_ns)") ms"
finish
