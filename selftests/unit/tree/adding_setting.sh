#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Documentation/adding/setting.md can be followed: in a copy of the tree its example changes two
# files, and the setting has an option, a key, help, a place in the manual page, and completions.
. "$(dirname "$0")/../../lib.sh"

tree=$tests/..
page=$tree/Documentation/adding/setting.md
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
(cd "$tree" && tar --exclude=./.git --exclude=./.output -cf - .) | tar -xf - -C "$copy"

check "each step of the page can be taken" sh -c '"$0" "$1" "$2" >"$2/changed"' \
	"$tests/lib/page_blocks.py" "$page" "$copy"
check "they change two files, of the product" [ "$(sort -u "$copy/changed" | paste -sd ' ')" = \
	"tools/controller/settings/settings.h tools/controller/settings/settings_table.c" ]
sed 's/^/# /' "$copy/changed"

# Objects that the step did not change are not compiled again.
mkdir -p "$copy/.output/obj/tools/controller/base"
cp -a "$tree/.output/config.mk" "$tree/.output/lib" "$copy/.output"
cp -a "$tree/.output/obj/tools/lib" "$tree/.output/obj/tools/texts" "$copy/.output/obj/tools"
cp -a "$tree/.output/obj/tools/controller/settings" "$copy/.output/obj/tools/controller"
cp -a "$tree"/.output/obj/tools/controller/base/http_address.* \
	"$copy/.output/obj/tools/controller/base"

# made NAME: builds a manual page or a completion of the copy
made() {
	make -s -C "$copy" KDIR= ".output/texts/$1"
}

check "the manual page can be built" made dart-controller.1
for shell in bash zsh fish; do
	check "the completion for $shell can be built" made dart-controller.$shell-completion
	check "and has the option" grep -q -e 'patience' \
		"$copy/.output/texts/dart-controller.$shell-completion"
done
page=$copy/.output/texts/dart-controller.1
check "the page has the head of the option" grep -q '^\.It Fl -patience Ar time$' "$page"
check "and its bounds" grep -q '^From 1ms to 1min, e\.g\. 5s\.$' "$page"
check "and its key, among those that a reload does not apply" \
	grep -q '^\.Ic flow .* patience ' "$page"

cat >"$copy/parse.c" <<'END'
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/controller/settings/config.h"
#include "tools/controller/settings/options.h"

/* Prints the setting of the options, or of the file that standard input has. */
int main(int argc, char *argv[])
{
	struct options options = {};
	struct dart_error error;
	int ret;

	ret = argc > 1 ? options__parse(&options, argc, argv, &error) :
			 config__load(&options.settings, stdin, "f", &error);
	if (ret)
		fprintf(stderr, "%s\n", error.text);
	else
		printf("%" PRIu64 "\n", options.settings.patience_ns);
	settings__clear(&options.settings);
	return !!ret;
}
END
check "a program can read it" sh -c '
	cd "$0" && objects=$(ls tools/controller/settings/*.c tools/controller/relabel/*.c* \
		tools/controller/base/arena.c tools/controller/base/http_address.c |
		sed "s,^,.output/obj/,; s,\.cc*\$,.o,") && make -s KDIR= $objects &&
	'"${CC:-cc}"' -std=gnu11 -D_GNU_SOURCE -I . -I uapi -I tools/lib/include -o parse parse.c \
		$objects .output/lib/libdart.a \
		-lyaml -ljansson -lnettle -lre2 -lstdc++ -lrdmacm -libverbs -lgnutls -lxxhash \
		-lz -lm' "$copy"
check "the option sets it" [ "$("$copy/parse" --patience 5s host)" = 5000000000 ]
check "the key sets it" [ "$(echo 'patience: 5s' | "$copy/parse")" = 5000000000 ]
refuse "the option has its bounds" \
	"'1h' is not a time to wait (expected 1ms to 1min, e.g. 5s)" "$copy/parse" --patience 1h host
refuse "the key has the same, and its line" \
	"^f:1: '61s' is not a time to wait (expected 1ms to 1min, e.g. 5s)" \
	sh -c 'echo "patience: 61s" | "$0"' "$copy/parse"
finish
