#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# "application describe" makes a layout only of files that belong together.
. "$(dirname "$0")/../../../lib.sh"

dartctl=$tests/../.output/bin/dartctl
cc=${CC:-gcc}
[ -x "$dartctl" ] || skip "make programs has not been run"
command -v "$cc" >/dev/null || skip "no compiler is installed"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit

cat >state.c <<'END'
struct state { long jobs; PLUS } state; static volatile long hidden;
__thread struct state own;
int main(void) { own.jobs = hidden; return state.jobs; }
END
cat >app.yaml <<'END'
symbols:
  state: {type: struct state}
entries:
  - name: app
    fields:
      - {name: jobs, value: state.jobs}
END
$cc -g -DPLUS= -Wl,--build-id -o program state.c &&
	$cc -g -DPLUS= -O2 -Wl,--build-id -o other state.c &&
	$cc -g -DPLUS='long more;' -c -o larger.o state.c &&
	$cc -DPLUS= -Wl,--build-id=none -o nameless state.c &&
	strip -o stripped program || exit

# describe OPTION...: of a binary and types that work
describe() {
	"$dartctl" application describe --binary stripped --types program "$@"
}

# edited EXPRESSION: app.yaml, changed by sed
edited() {
	sed "$1" app.yaml >edited.yaml
	describe --debug program edited.yaml
}

cat >expected <<END
# Made by dartctl application describe: see dart_application(5).
modules:
  - {build_id: '$(readelf -n program | sed -n 's/.*Build ID: //p')'}
entries:
  - name: app
    fields:
      - {name: jobs, at: [0x$(nm program | sed -n 's/^0*\(.*\) B state$/\1/p')], width: 8, kind: gauge, signed: true}
END
describe --debug program --output layout app.yaml
check "a debug file has the symbols of a stripped program" diff expected layout
refuse "a symbol that is stripped is missed" "app.yaml:2: 'stripped' has no symbol 'state' (give --debug" \
	describe app.yaml
refuse "a debug file of another build is refused" "take the debug file of this build" \
	describe --debug other app.yaml
refuse "types of another size are refused" \
	"app.yaml:2: 'state' has 8 bytes in the binary, but 'struct state' makes it 16" \
	"$dartctl" application describe --binary program --types larger.o --output layout app.yaml
check "a refusal leaves the layout as it is" diff expected layout
refuse "a program without a build-id is refused" "has no build-id, by which a layout is bound to it" \
	"$dartctl" application describe --binary nameless --types program app.yaml
refuse "a variable of each thread is refused" "'own' is a function, or a variable that each thread has" \
	edited 's/state: /own: /; s/value: state/value: own/'
refuse "an address of another build is refused" "add it to 'at')" \
	edited 's/state: {/state: {at: {00ff: 4096}, /'
refuse "a shared object that was not named is missed" "lies in 'libapp.so.1' (name its file by --module)" \
	edited 's/state: {/state: {module: libapp.so.1, /'
refuse "a field that does not exist is missed" "edited.yaml:6: 'state.no': the structure has no member" \
	edited 's/value: state.jobs/value: state.no/'
refuse "a value that begins with no symbol is refused" "edited.yaml:6: 'none.jobs' begins with none of the symbols" \
	edited 's/value: state.jobs/value: none.jobs/'
refuse "a command without a binary is refused" "takes --binary FILE, --types FILE and a DESCRIPTION" \
	"$dartctl" application describe app.yaml
finish
