# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for scripts that measure scrapes of the peer "host" from the controller's
# guest. To measure costs, both guests have one CPU, and clocks that count instructions. The script
# sets
#
#	here	this directory; PATH has selftests/ and its helpers
#	work	an empty directory: $work/window, $work/idle
#	part	cost or latency
# shellcheck disable=SC2154 # set by the script

step() { echo "[bench] $*" >&2; }

# look_at_host FILE: timers of the monitored guest, and what the kernel counts of dartd
look_at_host() {
	# shellcheck disable=SC2016 # expands in the other guest
	on host bash -c 'cd /proc/$(pidof dartd)/task &&
		cat */status */schedstat /proc/timer_list' >"$1"
}

# look_here FILE: timers of this guest; starts no process
look_here() {
	local lines
	mapfile -t lines </proc/timer_list
	printf '%s\n' "${lines[@]}" >"$1"
}

# counters FILE: the time and for how long the only CPU was idle so far, in ns, and the agent's
# context switches and CPU time in ns, if they were looked at
counters() {
	awk '/^now at/ { now = $3 }
		/[.](idle|iowait)_sleeptime/ { sub(":", " : "); idle += $3 }
		/ctxt_switches:/ { switches += $2 }
		/^[0-9]/ && NF == 3 { ns += $1 }
		END { printf "[%.0f, %.0f, %d, %.0f]\n", now, idle, switches, ns }' "$1"
}

# window COMMAND...: runs it, and writes the increase of the counters of both guests to
# $work/window. The kernel measures idle time; where a tick finds a CPU, as the kernel counts user
# and system time, misses work that a timer of the tick begins.
window() {
	look_at_host "$work/host-before"
	look_here "$work/here-before"
	"$@"
	look_here "$work/here-after"
	look_at_host "$work/host-after"
	jq -n -c \
		--argjson host "[$(counters "$work/host-before"),
			$(counters "$work/host-after")]" \
		--argjson here "[$(counters "$work/here-before"),
			$(counters "$work/here-after")]" '
		def increase: transpose | map(.[1] - .[0]) | {
			ns: .[0],
			busy_ns: (.[0] - .[1]),
			agent_context_switches: .[2],
			agent_cpu_ns: .[3]
		};
		($host | increase) + {here: ($here | increase | {ns, busy_ns})}' \
		>"$work/window"
}

# idle SECONDS: a window in which nothing is measured, for the next samples
idle() {
	window sleep "$1"
	mv "$work/window" "$work/idle"
}

# say_below_zero: copies samples, and says on standard error which take less CPU time than idle
# guests: other work of a guest has disturbed one of the two windows.
say_below_zero() {
	local sample

	while read -r sample; do
		echo "$sample"
		jq -r '.name as $name | [.cost // empty | to_entries[] | select(.value < 0)] |
			select(. != []) |
			"[bench] \($name): below zero, less than idle guests took: \(
				map("\(.key) \(.value) ns") | join(", "))"' <<<"$sample" >&2
	done
}

# per_sample NAME RATE JSON: a sample of a round, at RATE samples per second: its latency, or the
# time of both guests, less that of idle guests
per_sample() {
	jq -c --arg name "$1" --argjson rate "$2" --arg part "$part" \
		--slurpfile idle "$work/idle" --slurpfile window "$work/window" '
		def spent($idle): .busy_ns / .ns - $idle.busy_ns / $idle.ns | . * 1e9 / $rate | round;
		$window[0] as $window | {
			name: $name, reads, bytes, values,
			samples: ($rate * $window.ns / 1e9 | round),
			agent_context_switches: $window.agent_context_switches,
			agent_cpu_ns: $window.agent_cpu_ns
		} + if $part == "latency" then {latency_ns} else {cost: {
			host: ($window | spent($idle[0])),
			controller: ($window.here | spent($idle[0].here))
		}} end' <<<"$3" | say_below_zero
}

# of_window NAME COUNT JSON: the last window contained COUNT samples
of_window() {
	per_sample "$1" "$(jq --argjson count "$2" '$count / .ns * 1e9' "$work/window")" "$3"
}

# answers FILE VALUES: describes answers, of each its time in s and its bytes
answers() {
	jq -n -R --argjson values "$2" '
		[inputs / " " | map(tonumber)] | (map(.[0] * 1e9 | round) | sort) as $ns |
		def rank($share): $ns[$ns | length * $share | ceil - 1];
		{bytes: last[1], $values, latency_ns: {min: $ns[0], p50: rank(0.5),
			p90: rank(0.9), p99: rank(0.99), max: $ns[-1]}}' "$1"
}

# has_line FILE PID [PATTERN]: waits for a line, with this text, that the process writes
# to the file, empty when it began; fails if it ends before
has_line() {
	local lines reader
	exec {lines}< <(exec tail --pid "$2" -n +1 -f "$1")
	reader=$!
	grep -q -m 1 -i -e "${3:-.}" <&"$lines" || return
	# Without its reader it would end in the window.
	kill $reader 2>/dev/null || true
	exec {lines}<&-
}

# controller NAME SECONDS [OPTION...]: measures after the third scrape and before the last one,
# because connecting wakes the agent, which may learn last that it is connected.
controller() {
	local pid rate name=$1 seconds=$2
	shift 2
	: >"$work/lines"
	dart-controller --json --interval 100ms "$@" host \
		>"$work/lines" 2>"$work/controller.log" &
	pid=$!
	has_line "$work/lines" $pid '"sequence":3,' || {
		cat "$work/controller.log" >&2
		return 1
	}
	window sleep "$seconds"
	kill $pid
	wait $pid || {
		cat "$work/controller.log" >&2
		return 1
	}
	rate=$(jq -s 'map(.start_ns // empty) |
		(length - 1) / (.[-1] - .[0]) * 1e9' "$work/lines")
	per_sample "$name" "$rate" "$(jq -s '
		(map(select(.entries)) | last | [.entries[] | del(.since) | .. | objects |
			to_entries[] | select(.key != "time").value | numbers]) as $numbers |
		last.summary | {reads: .reads_per_scrape, bytes: .bytes_per_scrape,
			values: ($numbers | length), latency_ns}' "$work/lines")"
}

register() {
	on host dartctl register "$@" >/dev/null
}

# Waits until all leases end: the agent wakes up when the lease of an unregistered range
# ends, and sends no notification, so poll.
settle() {
	until on host dartctl -j status |
		jq -e '.. | objects | select(has("leases")) | .leases == 0' \
		>/dev/null; do
		sleep 0.5
	done
}
