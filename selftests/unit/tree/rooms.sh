#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The rooms of the tree know only the rooms that architecture.md allows, and the
# check of that can fail.
. "$(dirname "$0")/../../lib.sh"

tree=$tests/..
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/.output"
(cd "$tree" && cp -a --parents Documentation/architecture.md agent bpf kmod p4 papers \
	selftests tools uapi "$copy" && cp -al .output/obj "$copy/.output")
base=$copy/agent/base

# plants NAME TEXT: a source of the agent's lowest room in the copy
plants() {
	printf '%s\n' '// SPDX-License-Identifier: GPL-2.0-only' "$2" >"$base/$1"
}

check "no room of the tree knows one that it must not know" \
	"$tests/rooms" "$tree"
check "a copy of the tree passes as well" "$tests/rooms" "$copy"

plants planted.c '#include "agent/table/registry.h"'
refuse "an include that leads upwards is found, with file and line" \
	"^agent/base/planted.c:2: agent/base/ must not know agent/table/ (includes" \
	"$tests/rooms" "$copy"

plants planted.c 'void registry__open(void); void f(void); void f(void) {
registry__open(); }'
${CC:-cc} -g -c -o "$copy/.output/obj/agent/base/planted.o" "$base/planted.c"
refuse "a call that leads upwards without an include is found, with file and line" \
	"^agent/base/planted.c:3: agent/base/ must not know agent/table/ (calls" \
	"$tests/rooms" "$copy"
rm "$base/planted.c"

plants left.h '#include "right.h"'
plants right.h '#include "left.h"'
refuse "a circle between two nouns of one room is found, with file and line" \
	"^agent/base/left.h:2: agent/base/left and agent/base/right know each other" \
	"$tests/rooms" "$copy"
finish
