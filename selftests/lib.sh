# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Functions for tests in shell: TAP on standard output, one line for each check.
#
#	. "$(dirname "$0")/../lib.sh"
#	check "SENTENCE" COMMAND [ARGUMENT...]		COMMAND must succeed
#	refuse "SENTENCE" "MESSAGE" COMMAND [ARGUMENT...]	it must fail, and
#							print MESSAGE
#	finish
#
# SENTENCE states the whole behaviour. A script that ends before finish fails,
# because the plan comes last.

set -u
tests=$(cd "$(dirname "$0")" && pwd)
tests=${tests%/selftests/*}/selftests
PATH=$tests:$tests/../.output/selftests/helpers:$PATH
points=0
failures=0
output=$(mktemp)

# point ok|"not ok" NAME
point() {
	points=$((points + 1))
	echo "$1 $points - $2"
	if [ "$1" != ok ]; then
		failures=$((failures + 1))
		sed 's/^/# /' "$output"
	fi
}

check() {
	name=$1
	shift
	if "$@" >"$output" 2>&1; then
		point ok "$name"
	else
		echo "exit status $? of the command: $*" >>"$output"
		point "not ok" "$name"
	fi
}

refuse() {
	name=$1 message=$2
	shift 2
	if "$@" >"$output" 2>&1; then
		echo "the command succeeded, but must fail: $*" >>"$output"
		point "not ok" "$name"
	elif grep -q -e "$message" "$output"; then
		point ok "$name"
	else
		echo "the message lacks: $message" >>"$output"
		point "not ok" "$name"
	fi
}

# mount_over DIRECTORY MOUNT-ARGUMENT...: mounts a file system at this directory, in which the tree
# of the project stays visible if it lies below
mount_over() {
	below=$1 tree=${tests%/selftests}
	shift
	case $tree in
	"$below"/*) ;;
	*)
		mount "$@" "$below"
		return
		;;
	esac
	mkdir -p /run/tree
	mountpoint -q /run/tree || mount --bind "$tree" /run/tree || return
	mount "$@" "$below" && mkdir -p "$tree" && mount --bind /run/tree "$tree"
}

# end_processes PID...: ends the children with these numbers; an empty number is passed over
end_processes() {
	for pid; do
		[ -z "$pid" ] || { kill "$pid" && wait "$pid"; }
	done
} 2>/dev/null

# soon COMMAND...: succeeds when the command does, within $patience seconds; otherwise prints
# the last output of the command, and the file $log. A machine whose neighbours are busy needs ten
# times as long as usual.
patience=120
case $(uname -r) in *-arm64*) patience=600 ;; esac	# as in execute
soon() {
	read -r soon_end _ </proc/uptime
	soon_end=$((${soon_end%.*} + patience))
	soon_pause=0.1	# then longer: the command itself takes time of the processors
	until "$@" >/dev/null 2>&1; do
		read -r soon_now _ </proc/uptime
		if [ "${soon_now%.*}" -ge $soon_end ]; then
			"$@"
			cat "${log-/dev/null}"
			return 1
		fi
		sleep $soon_pause
		case $soon_pause in 0.1) soon_pause=0.2 ;; *) soon_pause=0.4 ;; esac
	done
}

# is_true [OPTION...] FILTER [FILE]: the program of this name, without starting it
is_true() {
	true_result=$(gojq -e "$@")
	true_status=$?
	printf '%s\n' "$true_result"
	[ -n "$true_result" ] || return 1
	return $true_status
}

# number_in NAME: the first number with this name in the JSON that dartctl printed. sed starts five
# times as fast as gojq.
number_in() {
	sed -n "s/^ *\"$1\": \(-\?[0-9][0-9]*\),\?\$/\1/p;T;q"
}

# passed: after this call passes of the gathering at 100 ms began and ended, enough of them for a
# record at rest
passed() {
	passed_first=$(dartctl -j show gathering+100ms | number_in passes)
	until [ "$(dartctl -j show gathering+100ms | number_in passes)" -ge \
		$((passed_first + 10)) ]; do
		sleep 0.05
	done
}

# pmu_fields: prints the fields of perf that the PMU of this machine counts, nothing without a PMU.
# An emulated PMU of arm64 lists the events that it counts: only cycles.
pmu_fields() {
	for pmu in /sys/bus/event_source/devices/cpu* /sys/bus/event_source/devices/armv8_pmuv3*; do
		[ -d "$pmu" ] || continue
		if [ "$(uname -m)" = x86_64 ] || [ -e "$pmu/events/inst_retired" ]; then
			echo cycles instructions branches enabled running
		else
			echo cycles enabled running
		fi
		return
	done
}

# answers_since FILE: waits for an answer of a dartd that began after FILE was written. It starts few
# programs: pidof and dartctl take long while dartd starts.
answers_since() {
	soon [ /run/dart/dartd.sock -nt "$1" ] && dartctl status >/dev/null
}

# dartd_again: kills dartd, and waits until the next one, of a service manager, answers
dartd_again() {
	: >/run/killed
	host_down KILL && answers_since /run/killed
}

# logged COUNT TEXT: do COUNT lines of $log contain TEXT?
logged() {
	[ "$(grep -c -e "$2" "$log")" = "$1" ]
}

# entry_names: of the table, one per line. gojq takes a second for 100 KB of JSON.
entry_names() {
	dartctl list | awk 'NR > 1 { print $1 }'
}

# source_names: likewise, of entries that are sources
source_names() {
	dartctl list --kind source | awk 'NR > 1 { print $1 }'
}

# summaries FILE: the lines with the summaries of a controller, without those with all values
summaries() {
	grep '^{"agent":"[^"]*","summary":' "$1"
}

# lacks ENTRY: the agent answers, and its table lacks the entry
lacks() {
	lacks_names=$(entry_names)
	[ -n "$lacks_names" ] && ! printf '%s\n' "$lacks_names" | grep -q -x -F -e "$1"
}

# reach ADDRESS: a static neighbour, for this machine is alone
reach() {
	ip neighbour replace "$1" lladdr 02:00:00:00:00:01 dev eth0
}

# available: free memory, KiB
available() {
	awk '/^MemAvailable/ { print $2 }' /proc/meminfo
}

has_available() {
	[ "$(available)" -gt "$1" ]
}

# objects: of RDMA, without the numbers of their contexts
objects() {
	rdma resource show | sed 's/ctx.*//'
}

# sampled ENTRY: the values of a sum that is gathered every 100 ms, from after this call
sampled() {
	read -r sampled_now _ </proc/uptime
	for _ in $(seq 1000); do
		sampled_reply=$(dartctl -j show "$1+100ms") || return
		sampled_values=$(echo "$sampled_reply" | gojq -c \
			".values.sum | select(.time > $sampled_now * 1e9 + 1e7)")
		if [ "$sampled_values" ]; then
			echo "$sampled_values"
			return
		fi
		sleep 0.05
	done
	echo "$1 is not gathered: $sampled_reply" >&2
	return 1
}

# agree BEFORE VALUES AFTER [TOLERANCE [FILTER]]: each member of the object BEFORE is a
# number in VALUES, between two readings of the kernel or outside by at most the tolerance.
# Prints the others.  A filter of jq changes the object of all three.
agree() {
	gojq -n -e --argjson before "$1" --argjson values "$2" --argjson after "$3" \
		--argjson tolerance "${4:-0}" "{\$before, \$values, \$after} | ${5:-.} |"'
		. as {$before, $values, $after} |
		[$before | keys[] | {key: ., low: ([$before[.], $after[.]] | min),
			value: $values[.], high: ([$before[.], $after[.]] | max)} |
			select((.low | type) != "number" or
				(.value | type) != "number" or
				.value < .low - $tolerance or
				.value > .high + $tolerance)] |
		(.[] | debug), length == 0' 2>&1
}

# compare_sample KERNEL ENTRY [TOLERANCE [FILTER]]: KERNEL is a command that prints an object,
# with which a new sample agrees
compare_sample() {
	compare_before=$($1) && compare_values=$(sampled "$2") && compare_after=$($1) ||
		return
	agree "$compare_before" "$compare_values" "$compare_after" "${3:-0}" "${4:-.}"
}

# row ENTRY NUMBER: the values of a row, gathered after this call; names are without
# underscores
row() {
	passed
	dartctl -j show "$1+100ms" | gojq -c ".values.rows[\"$2\"] |
		with_entries(.key |= gsub(\"_\"; \"\"))"
}

# row_agrees KERNEL ENTRY [TOLERANCE]: KERNEL is a function that prints an object
row_agrees() {
	row_before=$($1)
	row_values=$(row "$2" 0)
	row_after=$($1)
	agree "$row_before" "$row_values" "$row_after" "${3:-0}"
}

# hw_counters: the counters of soft-RoCE, without the time for which the kernel keeps them.
hw_counters() {
	hw_port=/sys/class/infiniband/rxe0/ports/1
	(cd "$hw_port/hw_counters" && grep -H . -- *) | grep -v '^lifespan:' |
		gojq -n -R -c '[inputs / ":" | {(.[0] | gsub("_"; "")): (.[1] | tonumber)}] |
		add + {state: '"$(cut -d : -f 1 "$hw_port/state")"'}'
}

# skip REASON: skips the whole test.
skip() {
	rm -f "$output"
	echo "1..0 # SKIP $1"
	exit 4
}

finish() {
	echo "1..$points"
	rm -f "$output"
	[ $failures -eq 0 ]
	exit
}
