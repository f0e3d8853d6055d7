# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for scripts that measure scrapes of the peer "host" from the controller's
# guest. Both guests have as many CPUs. The script sets
#
#	here	this directory; PATH has selftests/ and its helpers
#	work	an empty directory: $work/window, $work/idle
#	cpus	of a guest
# shellcheck disable=SC2154 # set by the script

step() { echo "[bench] $*" >&2; }

# look_at_host FILE: counters of the monitored guest
look_at_host() {
	# shellcheck disable=SC2016 # expands in the other guest
	on host bash -c 'cd /proc/$(pidof dartd)/task &&
		cat */status */schedstat &&
		read -r line </proc/stat && echo "$EPOCHREALTIME $line"' >"$1"
}

# look_here FILE: counters of this guest; starts no process
look_here() {
	local line
	read -r line </proc/stat
	echo "$EPOCHREALTIME $line" >"$1"
}

# counters FILE: time in ns, ticks (user, system, softirq and irq, idle), and the agent's
# context switches and CPU time in ns, if they were looked at
counters() {
	awk '/ctxt_switches:/ { switches += $2 }
		/^[0-9]/ && NF == 3 { ns += $1 }
		$2 == "cpu" {
			now = $1 * 1e9
			ticks = $3 + $4 ", " $5 ", " $8 + $9 ", " $6 + $7
		}
		END { printf "[%.0f, %s, %d, %.0f]\n", now, ticks, switches, ns }' "$1"
}

# window COMMAND...: runs it, and writes the increase of the counters of both guests to
# $work/window. The kernel counts user, system and softirq by where a tick finds a CPU, so
# work that a timer of the tick begins may escape; idle time it measures.
window() {
	look_at_host "$work/host-before"
	look_here "$work/here-before"
	"$@"
	look_here "$work/here-after"
	look_at_host "$work/host-after"
	jq -n -c --argjson hz "$(getconf CLK_TCK)" --argjson cpus "$cpus" \
		--argjson host "[$(counters "$work/host-before"),
			$(counters "$work/host-after")]" \
		--argjson here "[$(counters "$work/here-before"),
			$(counters "$work/here-after")]" '
		def increase: transpose | map(.[1] - .[0]) | {
			ns: .[0],
			cpu_ns: (({user: .[1], system: .[2], softirq: .[3]} |
				map_values(. * 1e9 / $hz)) +
				{busy: (.[0] * $cpus - .[4] * 1e9 / $hz)}),
			agent_context_switches: .[5],
			agent_cpu_ns: .[6]
		};
		($host | increase) + {here: ($here | increase | {ns, cpu_ns})}' \
		>"$work/window"
}

# idle SECONDS: a window in which nothing is measured, for the next samples
idle() {
	window sleep "$1"
	mv "$work/window" "$work/idle"
}

# say_below_zero: copies samples, and says on standard error which take less CPU time than idle
# guests: work of the machine has disturbed one of the two windows.
say_below_zero() {
	local sample

	while read -r sample; do
		echo "$sample"
		jq -r '.name as $name | [.cpu_ns, .controller_cpu_ns // empty | to_entries[] |
			select(.value < 0)] | select(. != []) |
			"[bench] \($name): below zero, less than idle guests took: \(
				map("\(.key) \(.value) ns") | join(", "))"' <<<"$sample" >&2
	done
}

# per_sample NAME RATE JSON: adds the CPU time of the last window per sample, at RATE
# samples per second, less the CPU time of idle guests.
per_sample() {
	jq -c --arg name "$1" --argjson rate "$2" \
		--slurpfile idle "$work/idle" --slurpfile window "$work/window" '
		def spent($idle): . as $window | .cpu_ns | with_entries(.key as $what |
			.value = (.value / $window.ns -
				$idle.cpu_ns[$what] / $idle.ns | . * 1e9 / $rate | round));
		$window[0] as $window | {
			name: $name, reads, bytes, values, latency_ns,
			cpu_ns: ($window | spent($idle[0])),
			controller_cpu_ns: ($window.here | spent($idle[0].here)),
			agent_context_switches: $window.agent_context_switches,
			agent_cpu_ns: $window.agent_cpu_ns,
			samples: ($rate * $window.ns / 1e9 | round)
		}' <<<"$3" | say_below_zero
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

# controller NAME SECONDS [OPTION...]: measures between the first and the last scrape,
# because connecting wakes the agent.
controller() {
	local pid rate name=$1 seconds=$2
	shift 2
	: >"$work/lines"
	dart-controller --json --interval 100ms "$@" host \
		>"$work/lines" 2>"$work/controller.log" &
	pid=$!
	has_line "$work/lines" $pid || {
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
