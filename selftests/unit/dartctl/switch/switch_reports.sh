#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The number of reports of a switch is a number, or the script that asks for it fails.
. "$(dirname "$0")/../../../lib.sh"

directory=$(mktemp -d)

# command_line TEXT: makes that the script of simple_switch_CLI
command_line() {
	printf '#!/bin/sh\n%s\n' "$1" >"$directory/simple_switch_CLI"
	chmod +x "$directory/simple_switch_CLI"
}

ask() {
	env PATH="$directory:/usr/bin:/bin" "$tests/switch_reports" 0
}

sums() {
	[ "$(ask)" = "$1" ]
}

# shellcheck disable=SC2016 # the script expands it
answer='while read -r _ name index; do
	echo "RuntimeCmd: $name[$index]=  ($((index * 9)) bytes, $index packets)"
done'
command_line "$answer"
check "the reports to all 64 collectors are added" sums 2016
command_line "head -n 63 | { $answer; }"
refuse "a switch that does not tell a counter is an error" \
	"63 of 64 counters" ask
command_line 'cat >/dev/null; echo "Invalid counter name (dart_reports)" >&2'
refuse "a switch without the counters is an error" "0 of 64 counters" ask
command_line "$answer; exit 1"
refuse "a command line that fails is an error" "" ask
rm "$directory/simple_switch_CLI"
refuse "a command line that is not in the PATH is an error" "0 of 64 counters" ask
rm -r "$directory"
finish
