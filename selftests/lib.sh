# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# For tests in shell: TAP on standard output, one line for each check.
#
#	. "$(dirname "$0")/../lib.sh"
#	check "what must hold" COMMAND [ARGUMENT...]
#	refuse "what must be refused" "part of the message" COMMAND [ARGUMENT...]
#	finish
#
# A script that ends before finish has failed: the plan comes last.

set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
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
		echo "exit status $? of: $*" >>"$output"
		point "not ok" "$name"
	fi
}

refuse() {
	name=$1 message=$2
	shift 2
	if "$@" >"$output" 2>&1; then
		echo "was not refused: $*" >>"$output"
		point "not ok" "$name"
	elif grep -q -e "$message" "$output"; then
		point ok "$name"
	else
		echo "the message should have: $message" >>"$output"
		point "not ok" "$name"
	fi
}

# skip REASON: the whole test.
skip() {
	echo "1..0 # SKIP $1"
	exit 4
}

finish() {
	echo "1..$points"
	rm -f "$output"
	[ $failures -eq 0 ]
	exit
}
