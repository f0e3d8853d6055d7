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

# looks: at the copy; said repeats what was found. A look takes seconds, and finds several faults.
looks() {
	"$tests/rooms" "$copy" >"$copy/said" 2>&1
	found=$?
}

said() {
	cat "$copy/said"
	return "$found"
}

# says_nothing_of TEXT...: nothing is found, with any of these texts or another
says_nothing_of() {
	for text; do
		! said | grep -e "$text" || return
	done
	said
}

check "no room of the tree knows one that it must not know" \
	"$tests/rooms" "$tree"
check "a copy of the tree passes as well" "$tests/rooms" "$copy"
cp "$page" "$copy/page"

# ---- faults that do not hide each other

plants planted.c '#include "agent/table/registry.h"'
plants calls.c 'void registry__open(void); void f(void); void f(void) {
registry__open(); }'
compiles calls.c
plants child.c '#include "agent/agent.h"'
plants calling_child.c 'void agent__close(void); void g(void); void g(void) {
agent__close(); }'
compiles calling_child.c
plants left.h '#include "right.h"'
plants right.h '#include "left.h"'
plants first.h '#include "second.h"'
plants second.h '#include "third.h"'
plants third.h '#include "first.h"'
plants noun.h '#include "noun_part.h"'
plants noun_part.h '#include "noun.h"'
plants whole.h 'void whole(void); void part(void);'
plants whole.c '#include "whole.h"
void whole(void) { part(); }'
plants whole_part.c '#include "whole.h"
void part(void) { whole(); }'
compiles whole.c
compiles whole_part.c
yes '' | head -n 601 >>"$base/whole.h"
echo 'struct dart_oddity_of_mine {' >>"$copy/tools/lib/dart/error.h"
plants nothing.h ''
mv "$base/nothing.h" "$copy/tools/lib/dart/oddity.h"
sed -i 's,^- [*][*]store[*][*]:,- **region**: again\n&,' "$page"
looks
refuse "an include that leads upwards is found, with file and line" \
	"^agent/base/planted.c:2: agent/base/ must not know agent/table/ (includes" said
refuse "a call that leads upwards without an include is found, with file and line" \
	"^agent/base/calls.c:3: agent/base/ must not know agent/table/ (calls" said
refuse "a child that includes a header of its parent is found, with file and line" \
	"^agent/base/child.c:2: agent/base/ must not know agent/ (includes" said
refuse "a child that calls its parent is found, with file and line" \
	"^agent/base/calling_child.c:3: agent/base/ must not know agent/ (calls" said
refuse "a circle between two nouns of one room is found, with file and line" \
	"^agent/base/left.h:2: agent/base/left and agent/base/right know each other" said
refuse "a circle of three nouns is found" \
	"^agent/base/first.h:2: agent/base/first and agent/base/second and agent/base/third know" said
refuse "a circle of includes inside a noun is found, with file and line" \
	"^agent/base/noun.h:2: agent/base/noun.h and agent/base/noun_part.h know each other" said
refuse "a circle of calls inside a noun is found, with file and line" \
	"^agent/base/whole.c:3: agent/base/whole.c and agent/base/whole_part.c know each other" said
refuse "a file of a few lines is found" \
	"^agent/base/whole.c: 3 lines, fewer than 60" said
refuse "a file of more than 600 lines is found" \
	"^agent/base/whole.h: 603 lines, more than 600" said
refuse "a public structure with a first noun that is not in Words is found" \
	"^tools/lib/dart/error.h: 'oddity' of dart_oddity_of_mine is not in 'Words'" said
refuse "a public header with a first noun that is not in Words is found" \
	"^tools/lib/dart/oddity.h: 'oddity' of oddity is not in 'Words'" said
refuse "a noun with two meanings in Words is found" \
	"'region' has 2 meanings in 'Words'" said
rm "$base"/planted.c "$base"/calls.c "$base"/child.c "$base"/calling_child.c "$base"/first.h \
	"$base"/second.h "$base"/third.h "$base"/noun*.h "$copy/tools/lib/dart/oddity.h"
sed -i '/dart_oddity_of_mine/d' "$copy/tools/lib/dart/error.h"
cp "$copy/page" "$page"

# ---- the page permits

plants whole.h 'void whole(void); void part(void);'
plants whole_part.c '#include "whole.h"
void part(void) { }'
compiles whole_part.c
sed -i '/^Files do not know each other in a circle/,/^###/s,^- ,- `agent/base/left` and `agent/base/right`: meant\n&,' "$page"
sed -i 's,^### Small files.*,&\n\n- `agent/base/whole.c`: meant\n- `agent/base/`: meant,' "$page"
looks
check "a circle that the page lists with a reason is allowed" \
	says_nothing_of "agent/base/left and" "nothing to allow"
check "a part that includes the header of its noun, and is called, is no circle" \
	says_nothing_of "know each other"
check "files of a few lines that the page lists with a reason, or in a folder of it, are allowed" \
	says_nothing_of "lines, fewer than"
rm "$base"/left.h "$base"/right.h "$base"/whole*

# ---- faults of the page

cp "$copy/page" "$page"
sed -i '/^Files do not know each other in a circle/,/^###/s,^- ,- `agent/base/left` and `agent/base/right`: meant\n&,' "$page"
sed -i '\,^| .agent/base/. ,s,|$,`agent/` `agent/*` |,' "$page"
looks
refuse "a circle on the list that does not exist is found" \
	"agent/base/left and agent/base/right: nothing to allow" said
refuse "a row of the table that names the parent is found" \
	"agent/base/ must not know agent/, in which it lies" said
refuse "a row of the table that names all rooms of the parent is found" \
	"agent/base/ must not know agent/\*, among which it is" said
sed -i 's,^\(- .agent/base/left. and .agent/base/right.:\).*,\1,' "$page"
refuse "a circle on the list without a reason is refused" "has no reason" \
	"$tests/rooms" "$copy"
finish
