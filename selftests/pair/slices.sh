#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A controller reads slices before and after dartd is killed, out of two slabs, and
# while slices come and go.
. "$(dirname "$0")/../lib.sh"

# await CONDITION: reads lines of the controller until one meets it
await() {
	while read -r line <&3; do
		is_true "$1" <<<"$line" >/dev/null && return
	done
	return 1
}

# Each slice shows its own number.
# shellcheck disable=SC2016 # jq's
numbers='[range(4) as $i | .entries["slice-\($i)"].rows[0].number == 1000 + $i] | all'

for exposure in exact page; do
	work=$(mktemp -d)
	rdma_up
	check "$exposure: a process on the host writes two slices" \
		on host until_ready /run/writer.0 slice_writer 0 2
	check "$exposure: the agent starts" on host host_up --exposure $exposure
	mkfifo "$work/lines"
	dart-controller --json --interval 500ms host >"$work/lines" 2>/dev/null &
	controller=$!
	exec 3<"$work/lines"
	check "$exposure: the controller reads what the process writes" \
		await '.entries["slice-1"].rows[0].done > 0'
	before=$(jq '.entries["slice-1"].rows[0].done' <<<"$line")

	on host pkill -STOP slice_writer
	on host host_down KILL
	check "$exposure: another agent starts after the first was killed" \
		on host host_up --exposure $exposure
	check "$exposure: another process gets two slices while the first is stopped" \
		on host until_ready /run/writer.2 slice_writer 2 2
	check "$exposure: the controller reads the slices of the new process" \
		await '.entries["slice-3"].rows[0].done > 0'
	on host pkill -CONT slice_writer
	check "$exposure: the controller reads four slices of two slabs, each at its place" \
		await "$numbers"
	check "$exposure: values of the earlier slices go on where they were" \
		await ".entries[\"slice-1\"].rows[0].done > $before"

	on host pkill -KILL -o slice_writer
	check "$exposure: slices of a process that is killed are no longer read" \
		await '.entries | has("slice-0") or has("slice-1") | not'
	check "$exposure: the slices of the other process are still read" \
		await '.entries["slice-2"].rows[0].number == 1002'
	kill $controller
	exec 3<&-
	on host pkill -KILL slice_writer
	check "$exposure: the agent stops" on host host_down
	rm -r "$work"
done

# Each slice changes the table twice.
rdma_up
check "the agent starts" on host host_up
check "a source is registered" on host dartctl source add cpustat
check "a process on the host gets and closes slices in a loop" \
	on host until_ready /run/churn slice_churn
timeout -s INT 15 dart-controller --json -i 100ms -n 100 host >/run/lines 2>/run/log
sed -n '$s/^/# /p' /run/log
# On a busy machine scrapes are missed because each takes longer than 0.1 s.
check "scrapes go on while slices come and go" is_true \
	'select(has("summary")).summary | 3 * .scrapes > .missed' /run/lines
check "no scrape fails, and values are not discarded, because slices come and go" is_true \
	'select(has("summary")).summary | .scrapes >= 99 * (.failed + .discarded)' \
	/run/lines
check "every scrape has the values of an entry that stays" is_true -s \
	'map(select(has("entries"))) |
		length > 0 and all(.entries.cpustat.sum.user > 0)' /run/lines
check "the table is fetched now and then, and not for each change" is_true -s \
	'map(.generation // empty) | unique | length | . > 3 and . < 32' /run/lines
on host pkill -KILL slice_churn
check "the agent stops" on host host_down

# 200 slices are 800 packets, but the queue of the interface holds 300.
check "the agent starts with page exposure" on host host_up --exposure page
# shellcheck disable=SC2016 # a variable of the host
check "a process on the host gets 200 slices" on host sh -c \
	'ulimit -n 2000 && until_ready /run/slices slice_owner 200 "$(pidof dartd)"'
on host tc qdisc replace dev eth0 root pfifo limit 300
check "scrapes of megabytes are not lost although the queue of the interface is short" \
	sh -c "dart-controller --json -i 500ms -n 5 -e 'slice-*' host >/run/lines"
check "each of them has the values of all slices" is_true -s \
	'map(select(has("entries"))) | length == 5 and
		all(.entries["slice-199"].rows[0].done == 1199)' /run/lines
check "no scrape fails" is_true 'select(has("summary")).summary.failed == 0' /run/lines
check "the queue drops no packet of them" on host sh -c \
	'tc -s qdisc show dev eth0 | grep "dropped 0,"'
on host tc qdisc del dev eth0 root
on host pkill -KILL slice_owner
check "the agent stops behind the short queue" on host host_down
finish
