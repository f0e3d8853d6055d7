#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# One controller scrapes many hosts: all values are right, also while tables change, and a
# third of the hosts goes and comes back without a trace in the others. selftests/farm does
# so with 1,024 hosts.
# shellcheck disable=SC2016,SC2086 # variables of jq; numbers, and several options
. "$(dirname "$0")/../lib.sh"

hosts=${DART_FARM_HOSTS-64}
interval_ms=${DART_FARM_INTERVAL_MS-2000}
options=${DART_FARM_OPTIONS-}	# of the controller
rounds=3	# scrapes of each host in a phase
limit=$((30 + hosts / 2 + interval_ms * rounds * 3 / 1000))	# s for each step
stopped=$((hosts / 3))	# from the first on; half of them vanish
work=$(mktemp -d)

# ask REQUEST...: of the farm
ask() {
	on host farm_ask /run/farm.sock "$@"
}

# configuration HOSTS: the first of the farm
configuration() {
	printf 'interval: %ums\nagents:\n' "$interval_ms"
	seq -f '  - {host: host, port: %.0f}' 5000 $((5000 + $1 - 1))
}

# begin FORM HOSTS STOPPED: a controller, and who judges its lines
begin() {
	configuration "$2" >"$work/farm.yaml"
	: >"$work/told"
	start_ns=$(monotonic_ns)
	farm_check -f "$1" "$interval_ms" "$2" 0 "$3" <"$work/lines" >"$work/told" &
	judge=$!
	dart-controller --json --config "$work/farm.yaml" $options \
		>"$work/lines" 2>"$work/log" &
	controller=$!
}

# end: the controller has printed all lines, and the verdict is that there is no fault
end() {
	kill -INT $controller
	wait $controller || cat "$work/log"
	wait $judge && return
	tail -n 20 "$work/told"
	return 1
}

# told PATTERN: the last line of the judge with it
told() {
	grep -e "$1" "$work/told" | tail -n 1
}

# await PATTERN: until the judge tells it
await() {
	[ "$(timeout "$limit" grep -m 1 -c -e "$1" < <(tail --pid $controller \
		-n +1 -f "$work/told"))" = 1 ] && return
	tail -n 5 "$work/told" "$work/log"
	return 1
}

monotonic_ns() {
	awk '{ printf "%.0f\n", $1 * 1e9 }' /proc/uptime
}

# since START_NS PATTERN: seconds until the judge told it, by the time of the scrape
since() {
	told "$2" | jq ".landed_ns - $1 | . / 1e7 | round / 100"
}

# cpu_ns: of the first thread of the controller, which does the READs, and of all threads
cpu_ns() {
	awk '{ print $1 }' "/proc/$controller/task/$controller/schedstat"
	awk -v "ticks=$(getconf CLK_TCK)" '{ printf "%.0f\n", ($14 + $15) / ticks * 1e9 }' \
		"/proc/$controller/stat"
}

# next_phase: for the judge; the processor time until then is in $work/cpu
next_phase() {
	cpu_ns >>"$work/cpu"
	kill -USR1 $judge
}

# memory: KiB of the controller, and its descriptors
memory() {
	awk '$1 == "VmRSS:" { print $2 }' "/proc/$controller/status"
	find "/proc/$controller/fd" -mindepth 1 | wc -l
}

# costs: what hosts cost the controller, as text; one host costs what it does alone
costs() {
	jq -n -r --argjson hosts "$hosts" --slurpfile one "$work/one" \
		--slurpfile all "$work/all" --slurpfile cpu "$work/cpu" \
		--argjson scrapes "$1" '
		def each($index): ($all[$index] - $one[$index]) / ($hosts - 1) * 10 |
			round / 10;
		def scrape($index): ($cpu[$index + 2] - $cpu[$index]) / $scrapes / 1e3 |
			round;
		"\($all[0]) KiB of memory (\(each(0)) for each host), " +
		"\($all[1]) descriptors (\(each(1)) for each); a scrape takes " +
		"\(scrape(1)) us of the processor, \(scrape(0)) us of them in the thread of the READs"'
}

# verdict FILTER: is it true of the report?
verdict() {
	told '"phases"' | is_true "$1" || ! told '"phases"'
}

# holds HOSTS: have all hosts a connection?
holds() {
	ask status
	ask status | is_true ".hosts == $1 and .connected == $1"
}

ulimit -n 65536
mkfifo "$work/lines"
rdma_up
on host rdma_up

check "a farm of $hosts hosts starts, with 8 KiB of records each" \
	on host until_ready /run/farm.log farm -f records /run/farm.sock "$hosts"
begin records "$hosts" 0
check "all are scraped" await '"epoch":1,'
check "the controller ends, and each value is right" end
check "the farm ends" on host host_down TERM farm

check "a farm of $hosts hosts starts, with 4 KiB of rows each" \
	on host until_ready /run/farm.log farm /run/farm.sock "$hosts"
begin rows 1 0
check "a single host is scraped" await '"round":1'
memory >"$work/one"
check "its values are right" end

begin rows "$hosts" $stopped
check "all hosts are scraped" await '"epoch":1,'
check "all were connected and scraped for the first time after $(
	since "$start_ns" '"epoch":1,') s" holds "$hosts"

next_phase
check "each is scraped on" await "\"phase\":1,\"round\":$rounds,"
memory >"$work/all"
next_phase
check "tables get an entry more" ask add $stopped $((hosts - stopped))
check "each is scraped on, with it" await '"phase":2,"round":2,'
next_phase
check "tables lose it again" ask remove $stopped $((hosts - stopped))
check "each is scraped on, without it" await '"phase":3,"round":2,'

next_phase
check "of a third some disconnect" ask stop 0 $((stopped / 2))
check "and some vanish" ask vanish $((stopped / 2)) $((stopped - stopped / 2))
check "the controller notices all of them" await '"lost":'
check "and no other one" holds $((hosts - stopped))
start_ns=$(monotonic_ns)
check "they start again, with other keys and another boot ID" ask start 0 $stopped
check "all of them are scraped" await '"epoch":2,'
check "that was $(since "$start_ns" '"epoch":2,') s after they began to start" holds "$hosts"
next_phase
check "each is scraped on" await '"phase":5,"round":1,'

farm=$(ask status)
check "the controller ends, and each value was right, of the host and epoch it was shown for" \
	end
check "the verdict has all hosts: $(told '"phases"' | jq -c 'del(.phases)')" \
	verdict ".faults == 0 and .hosts == $hosts and .samples >= $hosts * 8"
check "no value was older than its time: at most $(told '"phases"' | jq .lag) updates" \
	verdict '.lag <= 5'
check "the entry came and went: $(told '"phases"' | jq -c .phases)" \
	verdict ".phases | .[1].extra == 0 and .[2].extra >= $hosts - $stopped and
		.[5].extra == 0"
check "the others were never lost" verdict '.phases | all(.[1:][]; .lost == 0)'
# A guest may be slow at any moment.
check "they missed no more scrapes while a third was away than before" verdict \
	'.phases | (.[1:4] | map(.missed) | add) as $missed |
	(.[1:4] | map(.others) | add) as $others |
	(.[4].missed / .[4].others) <= $missed / $others * 1.5 + 0.05'
check "with $hosts hosts the controller has $(
	costs "$(told '"phases"' | jq '.phases[1].samples')"): less than 1 MiB for each" \
	is_true -n --slurpfile one "$work/one" --slurpfile all "$work/all" \
	"\$all[0] - \$one[0] < 1024 * $hosts"
check "the farm itself has one descriptor for all connections: $farm" \
	is_true '.descriptors < 32' <<<"$farm"
check "the farm ends" on host host_down TERM farm
rm -r "$work"
finish
