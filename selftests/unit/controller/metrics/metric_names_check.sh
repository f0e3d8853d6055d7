#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The names of metrics that are installed, and the example of their manual page, are valid.
. "$(dirname "$0")/../../../lib.sh"

top=$tests/..
program=$top/.output/unit/metric_names
directory=$(mktemp -d)

# has FAMILIES DIRECTORY: its files are valid, and define at least FAMILIES families
has() {
	"$program" "$2" >"$directory/found" && cat "$directory/found" &&
		[ "$(cut -d' ' -f1 "$directory/found")" -ge "$1" ]
}

mkdir "$directory/example"
sed -n '/^.Bd -literal/,/^.Ed/p' "$top/Documentation/dart_metrics.5" |
	sed '1d; $d' >"$directory/example/example.yaml"
check "the example of the manual page is valid" has 4 "$directory/example"
[ ! -d "$top/schemas/prometheus" ] ||
	check "the names that are installed are valid" \
		has 200 "$top/schemas/prometheus"
rm -rf "$directory"
finish
