#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The shared libdart exports the interface that manual pages describe, and programs can be linked
# with the installed library.
. "$(dirname "$0")/../../lib.sh"

tree=$tests/..
map=$tree/tools/lib/dart/libdart.map
staged=$tree/.output/staged/usr/local
library=$staged/lib/libdart.so.2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# exported_by MAP PAGES: the output of the check about the library
exported_by() {
	"$tests/exported" "$library" "$1" "$2"/libdart*.3
}

# without PATTERN FILE: a copy of the file without its first line that matches
without() {
	sed "0,/$1/{/$1/d}" "$2" >"$scratch/${2##*/}"
}

check "each exported symbol is in the version script and in a manual page" \
	exported_by "$map" "$tree/Documentation"
without 'dart_table__decode;' "$map"
refuse "a symbol that the version script lacks is found" \
	"^dart_table__decode: .* exports it" exported_by "$scratch/libdart.map" \
	"$tree/Documentation"
sed 's/^global:/&\n\tdart_table__missing;/' "$map" >"$scratch/libdart.map"
refuse "a name that is no symbol is found" \
	"^dart_table__missing: .* does not export it" \
	exported_by "$scratch/libdart.map" "$tree/Documentation"
cp "$tree"/Documentation/libdart*.3 "$scratch"
without '^\.Fn dart_table__decode ' "$tree/Documentation/libdart_table.3"
refuse "a symbol without a prototype in a page is found" \
	"^dart_table__decode: no manual page has its prototype" exported_by "$map" "$scratch"
sed 's/^\.It Fn dart_table__find$/.It Fn dart_table__look/' \
	"$tree/Documentation/libdart_table.3" >"$scratch/libdart_table.3"
refuse "a symbol that no page describes is found" \
	"^dart_table__find: no manual page describes it" exported_by "$map" "$scratch"

check "its name for the linker ends with the version of its interface" \
	sh -c "readelf -d $library | grep -q 'SONAME.*\[libdart.so.2\]'"
cat >"$scratch/program.c" <<'END'
#include <stdio.h>
#include <libdart/error.h>
#include <libdart/store/store_sizing.h>
#include <libdart/table/table.h>

int main(void)
{
	struct dart_error error;
	struct dart_table *table;
	size_t needed;

	if (dart_table__decode("", 0, &table, &needed, &error) != -EBADMSG)
		return 1;
	return printf("%.3f\n", dart_store_sizing__average(0.5, 2)) < 0;
}
END
# build OPTION: builds a program with the flags of pkg-config for the installed library
build() {
	# The file of pkg-config names the directories after installation.
	# shellcheck disable=SC2046 # several words
	cc -Wall -Werror -include errno.h -o "$scratch/program" "$scratch/program.c" \
		$(PKG_CONFIG_PATH=$staged/lib/pkgconfig pkg-config "$1" \
			--define-variable=prefix="$staged" \
			--define-variable=libdir="$staged/lib" --cflags --libs libdart)
}
check "a program is linked with the shared library by the flags of pkg-config" \
	build --shared
check "this program needs libdart.so.2 and runs with it" sh -c "
	readelf -d $scratch/program | grep -q 'NEEDED.*libdart.so.2' &&
	LD_LIBRARY_PATH=$staged/lib $scratch/program"
finish
