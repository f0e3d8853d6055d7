#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A controller reads slices before and after dartd is killed, out of two slabs, and
# while slices come and go.
. "$(dirname "$0")/../lib.sh"

# await CONDITION: reads lines of the controller until a line meets it, but the rest of a line
await() {
	line=$(sed 1d <&3 | gojq -c -n "first(inputs | select($1))")
	[ "$line" ]
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
	check "$exposure: the controller reads the values of the process" \
		await '.entries["slice-1"].rows[0].done > 0'
	before=$(gojq '.entries["slice-1"].rows[0].done' <<<"$line")

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
timeout -s INT 60 dart-controller --json -i 100ms -n 30 host >/run/quiet 2>/run/log
sed -n '$s/^/# quiet: /p' /run/log
check "a process on the host gets and closes slices in a loop" \
	on host until_ready /run/churn slice_churn
timeout -s INT 60 dart-controller --json -i 100ms -n 100 host >/run/lines 2>/run/log
sed -n '$s/^/# slices come and go: /p' /run/log
# Up to 1,024 ended slices linger. In a page each they would be 4 MB a scrape.
summaries /run/quiet >/run/summaries
summaries /run/lines >>/run/summaries
check "scrapes while slices come and go fetch little more than before" is_true -s \
	'map(.summary) | .[1].bytes_per_scrape < .[0].bytes_per_scrape + 262144 and
		.[1].reads_per_scrape < .[0].reads_per_scrape + 16' /run/summaries
# Where a machine is so busy that scrapes are missed, some may time out as well.
check "no scrape fails, and values are not discarded, because slices come and go" is_true -s \
	'last.summary | .failed + .discarded <= .scrapes / 99 + .missed / 10' /run/summaries
# jq would take a minute for a hundred lines with a thousand slices each.
scrapes=$(grep -c '"entries":' /run/lines)
check "each of $scrapes scrapes has the values of an entry that stays" [ "$scrapes" -gt 0 -a \
	"$(grep -c '"cpustat":.*"sum":{"user":[1-9]' /run/lines)" -eq "$scrapes" ]
tables=$(grep -o '"generation":[0-9]*' /run/lines | sort -u | wc -l)
check "the table is fetched now and then, $tables times, and not for each change" \
	[ "$tables" -gt 3 -a "$tables" -lt 32 ]
on host pkill -KILL slice_churn
check "the agent stops" on host host_down

# 8000 slices of 64 bytes, each in a page, were 32 MB a scrape: few came through.
# Now these are 375 packets, but the queue of the interface holds 300.
check "the agent starts for many slices" on host host_up
check "6000 slices of 64 bytes of a process on the host are registered" \
	on host until_ready /run/writer slice_writer 0 6000 1000
on host sed 's/^/# /' /run/writer
on host tc qdisc replace dev eth0 root pfifo limit 300
# scrape_all: 12 scrapes. A busy machine may stand still until READs time out: then once more.
scrape_all() {
	for _ in 1 2 3 4 5; do
		timeout 120 dart-controller --json -i 250ms -n 12 -e 'slice-*' host 2>/run/log |
			awk 'NR == 1; { before = last; last = $0 } END { print before; print last }' \
				>/run/lines
		sed 's/^/# /' /run/log
		! summaries /run/lines | is_true '.summary |
			.scrapes == 12 and .failed == 0 and .discarded == 0' || return 0
	done
	return 1
}
check "6000 slices are scraped 12 times, and no scrape fails or is discarded" scrape_all
check "each scrape has all slices, each with its number" is_true -s '
	map(select(has("entries")).entries) | length >= 2 and
		all(.[]; length == 6000 and
			all(to_entries[];
				.value.rows[0].number == 1000 + (.key[6:] | tonumber)))' \
	/run/lines
head -n 1 /run/lines | sed 's/,"entries":{.*/,"entries":{}}/' >/run/first
check "a scrape of 6000 slices fetches less than 1 MiB in fewer than 20 READs" is_true \
	'has("entries") and .bytes < 1048576 and .reads < 20' /run/first
gojq -r '"# \(.reads) READs, \(.bytes) bytes"' /run/first
check "the controller does not lose the connection" sh -c '! grep lost /run/log'
check "the queue drops no packet of them" on host sh -c \
	'tc -s qdisc show dev eth0 | grep "dropped 0,"'
on host tc qdisc del dev eth0 root
on host pkill -KILL slice_writer
check "the agent stops beyond the short queue" on host host_down
finish
