#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The rooms of the tree know only the rooms that architecture.md allows, its files form no
# circles, have the lengths and its public nouns the meanings that the page wants, and each
# of these checks can fail.
. "$(dirname "$0")/../../lib.sh"

tree=$tests/..
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/.output"
(cd "$tree" && cp -a --parents Documentation/architecture.md agent bpf kmod p4 papers \
	selftests tools uapi "$copy" && cp -al .output/obj "$copy/.output")
base=$copy/agent/base
page=$copy/Documentation/architecture.md

# plants NAME TEXT: a source of the agent's lowest room in the copy
plants() {
	printf '%s\n' '// SPDX-License-Identifier: GPL-2.0-only' "$2" >"$base/$1"
}

# compiles NAME: a source that plants() wrote
compiles() {
	${CC:-cc} -g -c -o "$copy/.output/obj/agent/base/${1%.c}.o" "$base/$1"
}

check "no room of the tree knows one that it must not know" \
	"$tests/rooms" "$tree"
check "a copy of the tree passes as well" "$tests/rooms" "$copy"

plants planted.c '#include "agent/table/registry.h"'
refuse "an include that leads upwards is found, with file and line" \
	"^agent/base/planted.c:2: agent/base/ must not know agent/table/ (includes" \
	"$tests/rooms" "$copy"

plants calls.c 'void registry__open(void); void f(void); void f(void) {
registry__open(); }'
compiles calls.c
refuse "a call that leads upwards without an include is found, with file and line" \
	"^agent/base/calls.c:3: agent/base/ must not know agent/table/ (calls" \
	"$tests/rooms" "$copy"
rm "$base"/planted.c "$base"/calls.c

plants planted.c '#include "agent/agent.h"'
refuse "a child that includes a header of its parent is found, with file and line" \
	"^agent/base/planted.c:2: agent/base/ must not know agent/ (includes" \
	"$tests/rooms" "$copy"
plants planted.c 'void agent__close(void); void f(void); void f(void) {
agent__close(); }'
compiles planted.c
refuse "a child that calls its parent is found, with file and line" \
	"^agent/base/planted.c:3: agent/base/ must not know agent/ (calls" \
	"$tests/rooms" "$copy"
rm "$base/planted.c"

# row EXPRESSION: the row of agent/base/ in the copy's table, as sed's expression changes it
row() {
	sed -i "\\,^| .agent/base/. ,$1" "$page"
}
cp "$page" "$copy/page"
row 's,|$,`agent/` |,'
refuse "a row of the table that names the parent is found" \
	"agent/base/ must not know agent/, in which it lies" "$tests/rooms" "$copy"
cp "$copy/page" "$page"
row 's,|$,`agent/*` |,'
refuse "a row of the table that names all rooms of the parent is found" \
	"agent/base/ must not know agent/\*, among which it is" "$tests/rooms" "$copy"
cp "$copy/page" "$page"

plants left.h '#include "right.h"'
plants right.h '#include "left.h"'
refuse "a circle between two nouns of one room is found, with file and line" \
	"^agent/base/left.h:2: agent/base/left and agent/base/right know each other" \
	"$tests/rooms" "$copy"
sed -i '/^Files do not know each other in a circle/,/^###/s,^- ,- `agent/base/left` and `agent/base/right`: meant\n&,' "$page"
check "a circle that the page lists with a reason is allowed" "$tests/rooms" "$copy"
rm "$base/left.h" "$base/right.h"
refuse "a circle on the list that does not exist is found" \
	"agent/base/left and agent/base/right: nothing to allow" "$tests/rooms" "$copy"
sed -i 's,^\(- .agent/base/left. and .agent/base/right.:\).*,\1,' "$page"
refuse "a circle on the list without a reason is refused" "has no reason" \
	"$tests/rooms" "$copy"
cp "$copy/page" "$page"

plants first.h '#include "second.h"'
plants second.h '#include "third.h"'
plants third.h '#include "first.h"'
refuse "a circle of three nouns is found" \
	"^agent/base/first.h:2: agent/base/first and agent/base/second and agent/base/third know" \
	"$tests/rooms" "$copy"
rm "$base/first.h" "$base/second.h" "$base/third.h"

plants whole.h '#include "whole_part.h"'
plants whole_part.h '#include "whole.h"'
refuse "a circle of includes inside a noun is found, with file and line" \
	"^agent/base/whole.h:2: agent/base/whole.h and agent/base/whole_part.h know each other" \
	"$tests/rooms" "$copy"
rm "$base/whole_part.h"
plants whole.h 'void whole(void); void part(void);'
plants whole.c '#include "whole.h"
void whole(void) { part(); }'
plants whole_part.c '#include "whole.h"
void part(void) { whole(); }'
compiles whole.c
compiles whole_part.c
refuse "a circle of calls inside a noun is found, with file and line" \
	"^agent/base/whole.c:3: agent/base/whole.c and agent/base/whole_part.c know each other" \
	"$tests/rooms" "$copy"
plants whole_part.c '#include "whole.h"
void part(void) { }'
compiles whole_part.c
check "a part that includes the header of its noun, and is called, is no circle" \
	eval '! "$tests/rooms" "$copy" | grep "know each other"'

refuse "a file of a few lines is found" \
	"^agent/base/whole.c: 3 lines, fewer than 60" "$tests/rooms" "$copy"
sed -i 's,^### Small files.*,&\n\n- `agent/base/whole.c`: meant\n- `agent/base/`: meant,' "$page"
check "files of a few lines that the page lists with a reason, or in a folder of it, are allowed" \
	"$tests/rooms" "$copy"
yes '' | head -n 601 >>"$base/whole.h"
refuse "a file of more than 600 lines is found" \
	"^agent/base/whole.h: 603 lines, more than 600" "$tests/rooms" "$copy"
rm "$base"/whole*
cp "$copy/page" "$page"

echo 'struct dart_oddity_of_mine {' >>"$copy/tools/lib/dart/error.h"
refuse "a public structure with a first noun that is not in Words is found" \
	"^tools/lib/dart/error.h: 'oddity' of dart_oddity_of_mine is not in 'Words'" \
	"$tests/rooms" "$copy"
sed -i '/dart_oddity_of_mine/d' "$copy/tools/lib/dart/error.h"
plants nothing.h ''
cp "$base/nothing.h" "$copy/tools/lib/dart/oddity.h"
refuse "a public header with a first noun that is not in Words is found" \
	"^tools/lib/dart/oddity.h: 'oddity' of oddity is not in 'Words'" "$tests/rooms" "$copy"
rm "$copy/tools/lib/dart/oddity.h"
sed -i 's,^- [*][*]store[*][*]:,- **region**: again\n&,' "$page"
refuse "a noun with two meanings in Words is found" \
	"'region' has 2 meanings in 'Words'" "$tests/rooms" "$copy"
finish
