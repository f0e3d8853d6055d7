#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# One controller scrapes many hosts: all values are right, also while tables change, and a third of
# the hosts goes and comes back without a trace in the others.  Prints the cost of a host for the
# controller.  selftests/farm does so with 1,024 hosts and each kind of I/O.
# shellcheck disable=SC2016,SC2086 # variables of jq; numbers, and several options
. "$(dirname "$0")/../lib.sh"

hosts=${DART_FARM_HOSTS-64}
interval_ms=${DART_FARM_INTERVAL_MS-2000}
kinds=${DART_FARM_IO-hybrid}	# of --io, one after the other
most_kib=${DART_FARM_KIB-128}	# of the controller's memory, for each host
options=${DART_FARM_OPTIONS-}	# more, of the controller
rounds=3	# scrapes of each host while the processor's time is taken
limit=$((30 + hosts / 2 + interval_ms * rounds * 3 / 1000))	# s for each step
deadline=$((SECONDS + ${SECONDS_MAX-600} - 20))	# for all of them
stopped=$((hosts / 3))	# from the first on; half of them vanish
work=$(mktemp -d)
log=$work/log

# left [LIMIT]: seconds for a step, until the limit or the end of the test
left() {
	left_s=$((deadline - SECONDS))
	[ $left_s -lt "${1-$limit}" ] || left_s=${1-$limit}
	[ $left_s -gt 0 ] || left_s=1
	echo $left_s
}

# ask REQUEST...: of the farm
ask() {
	on host timeout "$(left)" farm_ask /run/farm.sock "$@"
}

# update: the update that the farm writes now; the previous one is in the memory of all hosts
update() {
	ask status | gojq .update
}

# farm_starts FORM
farm_starts() {
	timeout "$(left)" on host until_ready /run/farm.log farm -f "$1" /run/farm.sock "$hosts"
}

farm_ends() {
	on host timeout "$(left)" host_down TERM farm
}

# names COUNT: the first hosts of the farm are to be scraped
names() {
	seq -f '"host:%.0f"' 5000 $((5000 + $1 - 1)) | gojq -s -c '[{targets: .}]' \
		>"$work/agents.new" && mv "$work/agents.new" "$work/agents"
}

# begin FORM STOPPED: a controller, and who judges its lines
begin() {
	: >"$work/told"
	begin_update=$(update)
	farm_check -f "$1" -u "$begin_update" "$interval_ms" "$hosts" 0 "$2" \
		<"$work/lines" >"$work/told" &
	judge=$!
	dart-controller --json --io "$io" -i "${interval_ms}ms" --file-sd "$work/agents" \
		--socket "$work/socket" $options >"$work/lines" 2>"$log" &
	controller=$!
}

# ended PID: returns its exit status; kills a process that does not end
ended() {
	if ! timeout "$(left 120)" tail --pid "$1" -s 0.1 -f /dev/null; then
		echo "process $1 does not end"
		kill -KILL "$1"
	fi
	wait "$1"
}

# end: the controller printed all lines and succeeded, and the verdict is free of faults
end() {
	end_status=0
	kill -INT $controller
	if ! ended $controller; then
		end_status=1
		tail -n 20 "$log"
	fi
	ended $judge && return $end_status
	tail -n 20 "$work/told"
	return 1
}

# told PATTERN: the last matching line of the judge
told() {
	grep -e "$1" "$work/told" | tail -n 1
}

# await PATTERN: until the judge tells it
await() {
	await_s=$(left)
	[ "$(timeout "$await_s" grep -m 1 -c -e "$1" < <(tail --pid $controller \
		-n +1 -f "$work/told"))" = 1 ] && return
	echo "nothing like $1 within $await_s s, but:"
	tail -n 5 "$work/told" "$log"
	return 1
}

# next_phase FILE: for the judge; the processor's time until then is in FILE
next_phase() {
	next_update=$(update)
	cpu >"$1"
	env kill -s USR1 -q "$next_update" $judge
}

# up COUNT: are exactly COUNT agents listed, and up? The whole status is in $work/status.
up() {
	timeout "$(left)" dart-controller status --json --socket "$work/socket" \
		>"$work/status" || return
	gojq -c .controller "$work/status"
	is_true ".controller | .wanted == $1 and .targets.up == $1" "$work/status"
}

# scraped_one: one agent is listed, and was scraped
scraped_one() {
	up 1 && is_true '.targets[0].scrapes >= 1' "$work/status"
}

# since START_NS PATTERN: seconds until the judge told it, by the time of the scrape
since() {
	told "$2" | gojq ".landed_ns - $1 | . / 1e7 | round / 100"
}

# up_since START_NS FIRST COUNT: seconds until the last of these hosts was up
up_since() {
	gojq ".targets | map(select(.agent[5:] | tonumber - 5000 - $2 |
			. >= 0 and . < $3).since_ns) |
		select(length == $3) | max - $1 | . / 1e7 | round / 100" "$work/status"
}

# others_failed: how many scrapes of the hosts that are not stopped
others_failed() {
	gojq "[.targets[] | select(.agent[5:] | tonumber >= 5000 + $stopped).failed] | add" \
		"$work/status"
}

monotonic_ns() {
	awk '{ printf "%.0f\n", $1 * 1e9 }' /proc/uptime
}

# resources: memory of the controller, and its descriptors
resources() {
	printf '{"kib": %u, "descriptors": %u}\n' \
		"$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$controller/status")" \
		"$(find "/proc/$controller/fd" -mindepth 1 | wc -l)"
}

# cpu: ns of the processor for each thread of the controller
cpu() {
	for task in "/proc/$controller/task"/*; do
		read -r cpu_name <"$task/comm" && read -r cpu_ns _ <"$task/schedstat" &&
			printf '{"%s": %s}\n' "$cpu_name" "$cpu_ns"
	done 2>/dev/null | gojq -s add
}

# cost FILTER: the cost of the controller with one host, with all, and between begin and end
cost() {
	gojq -n -r --slurpfile one "$work/one" --slurpfile all "$work/all" \
		--slurpfile begin "$work/begin" --slurpfile end "$work/end" \
		--argjson report "$(told '"phases"')" --argjson hosts "$hosts" \
		'def tenth: . * 10 | round / 10;
		$one[0] as $one | $all[0] as $all | '"$1"
}

memory_cost() {
	cost '"\($all.kib) KiB, \($all.kib / $hosts | tenth) for each; " +
		"\(($all.kib - $one.kib) / ($hosts - 1) | tenth) for each beyond the first"'
}

# By thread: "worker 0" decodes and formats, "standard output" writes.
scrape_cost() {
	cost '$report.phases[1].samples as $scrapes | $end[0] | with_entries(
			.value = (.value - ($begin[0][.key] // 0)) / $scrapes / 1e3) |
		"\(add | tenth) us of CPU (" + (to_entries | sort_by(-.value) |
			map("\(.key): \(.value | tenth)") | join(", ")) +
		"), mean of \($scrapes) scrapes"'
}

# verdict FILTER: is it true of the report?
verdict() {
	told '"phases"' | is_true "$1" || ! told '"phases"'
}

# connected COUNT: are exactly COUNT hosts connected?
connected() {
	ask status
	ask status | is_true ".hosts == $1 and .connected == $1"
}

# scrapes_farm: with rows, by $io
scrapes_farm() {
	check "$io: a farm of $hosts hosts starts, with 4 KiB of rows each" farm_starts rows
	names 1
	begin rows $stopped
	check "$io: a single host is scraped" soon scraped_one
	resources >"$work/one"

	start_ns=$(monotonic_ns)
	start_date_ns=$(date +%s%N)
	names "$hosts"
	check "$io: when a file names all hosts, they are scraped" await '"epoch":1,'
	check "$io: all are up" soon up "$hosts"
	check "$io: all were connected after $(
		up_since "$start_date_ns" 1 $((hosts - 1))) s, and scraped after $(
		since "$start_ns" '"epoch":1,') s" soon connected "$hosts"
	failed=$(others_failed)

	next_phase "$work/begin"
	check "$io: each is scraped on" await "\"phase\":1,\"round\":$rounds,"
	resources >"$work/all"
	next_phase "$work/end"
	check "$io: tables get an entry more" ask add $stopped $((hosts - stopped))
	check "$io: each is scraped on, with it" await '"phase":2,"round":2,'
	next_phase /dev/null
	check "$io: tables lose it again" ask remove $stopped $((hosts - stopped))
	check "$io: each is scraped on, without it" await '"phase":3,"round":2,'

	next_phase /dev/null
	check "$io: of a third some disconnect" ask stop 0 $((stopped / 2))
	check "$io: and some vanish" ask vanish $((stopped / 2)) $((stopped - stopped / 2))
	check "$io: the controller notices all of them" await '"lost":'
	check "$io: and no other host" soon connected $((hosts - stopped))
	start_ns=$(monotonic_ns)
	start_date_ns=$(date +%s%N)
	check "$io: they start again, with other keys and another boot ID" ask start 0 $stopped
	check "$io: all of them are scraped" await '"epoch":2,'
	check "$io: all hosts are up" soon up "$hosts"
	check "$io: all were back after $(up_since "$start_date_ns" 0 $stopped
		) s, and scraped, each at its time, after $(
		since "$start_ns" '"epoch":2,') s" soon connected "$hosts"
	next_phase /dev/null
	check "$io: each is scraped on" await '"phase":5,"round":1,'
	farm=$(ask status)
	check "$io: the controller ends, and each value was right, of the host and epoch it was shown for, and none older than the farm had written" \
		end
	judges_farm
	check "$io: the farm itself has one descriptor for all connections: $farm" \
		is_true '.descriptors < 32' <<<"$farm"
	check "$io: the farm ends" farm_ends
}

# judges_farm: by the report of scrapes_farm
judges_farm() {
	check "$io: the verdict has all hosts: $(told '"phases"' | gojq -c 'del(.phases)')" \
		verdict ".faults == 0 and .hosts == $hosts and .samples >= $hosts * 8"
	check "$io: at most one row of a hundred was torn, and the others show each value" \
		verdict '.rows > 0 and .torn * 100 <= .rows and .values == 4 * (.rows - .torn)'
	check "$io: no value was behind those of other hosts: at most $(
		told '"phases"' | gojq .lag) updates" verdict '.lag <= 5'
	check "$io: the entry came and went: $(told '"phases"' | gojq -c .phases)" \
		verdict ".phases | .[1].extra == 0 and .[2].extra >= $hosts - $stopped and
			.[5].extra == 0"
	check "$io: each scrape of the summaries was printed, and each host has a summary" \
		verdict ".others.hosts == $hosts - $stopped and .stopped.hosts == $stopped and
			.others.dropped == 0 and .stopped.dropped == 0 and
			.others.scrapes == (.phases | map(.others) | add) and
			.others.scrapes + .stopped.scrapes == .samples"
	check "$io: the others were never lost" verdict \
		".others.failed == $failed and (.phases | all(.[1:][]; .lost == 0))"
	# A guest may be slow at any moment.
	check "$io: they missed no more scrapes while a third was away than before" verdict \
		'.phases | (.[1:4] | map(.missed) | add) as $missed |
		(.[1:4] | map(.others) | add) as $others |
		(.[4].missed / .[4].others) <= $missed / $others * 1.5 + 0.05'
	check "$io: the controller's memory is $(memory_cost), $most_kib KiB at most" is_true \
		-n "$(cost '($all.kib - $one.kib) / ($hosts - 1)') <= $most_kib"
	check "$io: its $(cost '$all.descriptors') descriptors are as many as with one host" \
		is_true -n "$(cost '$all.descriptors == $one.descriptors')"
	# The scrapes are too small for the thread of a hybrid that waits for events.
	thread="io poll"
	[ "$io" != event ] || thread="io event"
	check "$io: a scrape costs it $(scrape_cost), and $thread does the READs" is_true \
		-n "$(cost "\$end[0][\"$thread\"] - \$begin[0][\"$thread\"] >
			1000 * \$report.phases[1].samples")"
}

mkfifo "$work/lines"
rdma_up
on host rdma_up

io=${kinds%% *}
check "a farm of $hosts hosts starts, with 8 KiB of records each" farm_starts records
names "$hosts"
begin records 0
check "all are scraped" await '"epoch":1,'
check "the controller ends, and each value is right" end
check "the farm ends" farm_ends
for io in $kinds; do
	scrapes_farm
done
rm -r "$work"
finish
