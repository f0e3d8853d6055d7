#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A program that was built with other sizes of libdart's structures is refused by the loader: the
# name of the shared library changes with them.
. "$(dirname "$0")/../../lib.sh"

tree=$tests/..
record=$tree/tools/lib/dart/libdart.layout
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# checked RECORD [OPTION...]
checked() {
	"$tests/layout" "$@"
}

check "structures that programs share have the layout of the record" checked "$record"
cp -rL "$tree/tools/lib/include" "$scratch/headers"
# What happened once, without another name of the library.
sed -i 's/^\tuint32_t redundancy_max;/&\n\tuint64_t more;/' \
	"$scratch/headers/libdart/report/collectors.h"
refuse "a structure that grew is found" "^struct dart_collector: it is .* more@" \
	checked --headers "$scratch/headers" "$record"
cp "$record" "$scratch/record"
refuse "nor is it recorded under the same name of the library" "^struct dart_collector: " \
	checked --write --headers "$scratch/headers" "$scratch/record"
check "the record is as before" cmp "$record" "$scratch/record"
sed -i 's/^dart_abi .*/dart_abi 0/' "$scratch/record"
refuse "another name needs a record of its own" "^dart_abi is [1-9][0-9]*, but 0 in the record" \
	checked "$scratch/record"
check "it is recorded under another name" \
	checked --write --headers "$scratch/headers" "$scratch/record"
check "the record then has both" sh -c "grep -q '^dart_abi [1-9]' $scratch/record &&
	grep -q '^dart_collector .* more@' $scratch/record"
sed -i '/^dart_store_rule /d' "$scratch/record"
refuse "a new structure that the record lacks is found" \
	"^struct dart_store_rule: the record lacks it" \
	checked --headers "$scratch/headers" "$scratch/record"
finish
