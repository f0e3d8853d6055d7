#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Documentation/adding/output.md can be followed: in a copy of the tree its example changes three
# files of the product, and the format passes the tests of all formats.
. "$(dirname "$0")/../../lib.sh"

tree=$tests/..
page=$tree/Documentation/adding/output.md
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
(cd "$tree" && tar --exclude=./.git --exclude=./.output -cf - .) | tar -xf - -C "$copy"

check "each step of the page can be taken" sh -c '"$0" "$1" "$2" >"$2/changed"' \
	"$tests/lib/page_blocks.py" "$page" "$copy"
sed 's/^/# /' "$copy/changed"
check "they change three files of the product, a test and the manual page" \
	[ "$(sort -u "$copy/changed" | paste -sd ' ')" = \
	"selftests/unit/controller/push/push_formats.c tools/controller/dart-controller.1.in \
tools/controller/push/formats/formats.def tools/controller/push/formats/graphite.c \
tools/controller/settings/output_settings.c" ]
check "the format is documented, and nothing else asks for it" \
	"$copy/selftests/unit/controller/push/formats_documented.sh"

# Objects that the steps did not change are not compiled again.
mkdir "$copy/.output"
cp -a "$tree/.output/config.mk" "$tree/.output/sanitized" "$copy/.output"
check "it compiles" make -s -C "$copy" KDIR= .output/unit/push_formats .output/unit/push_config
check "it keeps the promises of all formats" "$copy/.output/unit/push_formats"
check "a configuration file can name it" "$copy/.output/unit/push_config"
sed -i 's/"up;instance=h:1 1 1/"up;instance=h:1 1 2/' \
	"$copy/selftests/unit/controller/push/push_formats.c"
check "with another body in the test it compiles as well" \
	make -s -C "$copy" KDIR= .output/unit/push_formats
refuse "and is found not to have it" "1 bytes of .* differ" \
	"$copy/.output/unit/push_formats"
finish
