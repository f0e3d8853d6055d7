#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each output format is named in the manual page, in the settings, and in one file of push/ beside
# the list of formats: see Documentation/adding/output.md.
. "$(dirname "$0")/../../../lib.sh"

top=$tests/..

# Prints what a tree lacks.
faults()
{
	rows=$(sed -n 's/^FORMAT(\(.*\))$/\1/p' "$1/tools/controller/push/formats/formats.def")
	[ "$rows" ] || echo "formats.def has no rows"
	for row in $rows; do
		file=$(grep -l "^const struct format format_$row = {" \
			"$1"/tools/controller/push/formats/*.c) || {
			echo "no file defines format_$row"
			continue
		}
		name=$(sed -n "/^const struct format format_$row = /,/^}/s/.*\.name = \"\(.*\)\",/\1/p" \
			"$file")
		grep -q "^\.Li $name\( [,.:;)]\)*\$" "$1/tools/controller/dart-controller.1.in" ||
			echo "dart-controller.1.in does not name $name"
		grep -q "\"$name\"" "$1/tools/controller/settings/output_settings.c" ||
			echo "output_settings.c does not name $name"
		grep -l "\"$name\"\|format_$row\>" "$1"/tools/controller/*.[ch] \
			"$1"/tools/controller/push/*.[ch] "$1"/tools/controller/push/*/*.[ch] |
			grep -vxF "$file" | sed "s/\$/ knows $row/"
	done
}

check "each format is in the manual page and the settings, and nothing else asks for it" \
	[ ! "$(faults "$top" | tee /dev/stderr)" ]

# Does the copy of the tree have this fault?
has_fault()
{
	faults "$scratch/tree" | sed 's,^/.*/,,' | grep -qxF "$1"
}

copy()
{
	rm -rf "$scratch/tree"
	mkdir -p "$scratch/tree/tools/controller/push"
	cp -r "$top"/tools/controller/push "$top"/tools/controller/settings \
		"$top"/tools/controller/*.[ch] "$top"/tools/controller/*.1.in \
		"$scratch/tree/tools/controller"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
copy
check "a copy of the tree has the same faults, that is, no fault" \
	[ "$(faults "$scratch/tree")" = "$(faults "$top")" ]
sed -i '/^\.Li influx$/d' "$scratch/tree/tools/controller/dart-controller.1.in"
check "a format that the manual page does not name is found" \
	has_fault "dart-controller.1.in does not name influx"
copy
sed -i 's/"influx"/"flux"/' "$scratch/tree/tools/controller/settings/output_settings.c"
check "a format that settings do not name is found" \
	has_fault "output_settings.c does not name influx"
copy
echo 'static bool is_influx(void) { return &format_influx; }' \
	>>"$scratch/tree/tools/controller/push/poster.c"
check "a file that asks for a format is found" \
	has_fault "poster.c knows influx"
copy
echo 'FORMAT(none)' >>"$scratch/tree/tools/controller/push/formats/formats.def"
check "a row without a file is found" \
	has_fault "no file defines format_none"
finish
