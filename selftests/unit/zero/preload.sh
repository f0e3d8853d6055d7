#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Programs that nobody changed show their variables by libdartzero-preload, and run as before.
. "$(dirname "$0")/../../lib.sh"

cd "$tests/.." || exit
library=$PWD/.output/lib/libdartzero-preload.so
describe=(.output/bin/dartctl application describe)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
program=$scratch/program
export DART_ZERO_SOCKET=$scratch/dartd.sock

# built COMPILER [OPTION...]: compiles the program, and makes its layout
built() {
	"$1" -g -Wall -Wextra -Werror "${@:2}" -o "$program" selftests/helpers/preload_program.c &&
		"${describe[@]}" --binary "$program" --types "$program" \
			--output "$scratch/layout.yaml" selftests/helpers/preload_program.yaml
}

# shown COMMAND...: with the library and the layout
shown() {
	timeout 60 env DART_ZERO_LAYOUT="$scratch/layout.yaml" LD_PRELOAD="$library" "$@"
}

# each COMPILER: with each set of options
each() {
	for options in -O0 -O2 -O3 "-O2 -flto" "-O2 -fno-pie -no-pie" "-O2 -Wl,-z,now"; do
		# shellcheck disable=SC2086 # several options
		built "$1" $options || return
		shown "$program" check 2>"$scratch/said" && continue
		cat "$scratch/said"
		return 1
	done
}

for compiler in gcc clang; do
	check "$compiler, -O0 to -O3, LTO, with and without PIE: controllers would see the variables, children their own" \
		each $compiler
done
built gcc -O2
shown "$program" check 2>"$scratch/said"
check "a value in read-only memory and one with two names are left out, with one sentence" \
	sh -c "[ \"\$(wc -l <'$scratch/said')\" = 1 ] && grep \"' of .* among others, is left out\" '$scratch/said'"
for how in setsid daemon; do
	check "a program that becomes a daemon by $how() shows its variables again" \
		[ "$(shown "$program" daemon $how 2>/dev/null | cat)" = ok ]
done

# ---- dartd

# begin [TAKEN...]: starts what listens in place of dartd
begin() {
	mkfifo "$scratch/say"
	rm -f "$DART_ZERO_SOCKET"
	selftests/lib/registrations.py "$DART_ZERO_SOCKET" "$@" <"$scratch/say" 6>&- >"$scratch/requests" &
	listener=$!
	exec 5>"$scratch/say"
	rm "$scratch/say"
}

end() {
	exec 5>&-
	wait $listener
}

# requests COUNT: dartd has got so many
requests() {
	[ "$(grep -c request "$scratch/requests")" -eq "$1" ]
}

# asked CONDITION: the last request about the first entry fulfils it
asked() {
	grep '"preload@' "$scratch/requests" | tail -n 1 | is_true "$1"
}

mkfifo "$scratch/in"
DART_ZERO_LABEL='a b' shown "$program" serve <"$scratch/in" >"$scratch/out" 2>/dev/null &
server=$!
exec 6>"$scratch/in"
echo 5 >&6
check "a program runs without dartd" soon grep -qx 12 "$scratch/out"
begin
check "it is registered when dartd starts" soon requests 2
check "the name has the label" asked '.name == "preload@a%20b"'
check "the fields lie where the memory has their values" asked \
	'.values == {count: 12, balance: -3, small: [1, 2, 3], name: "preload"}'
check "dartd is asked to show nothing else" asked '.exposure == "exact" and .offset % 64 == 0'
check "the memory is sealed" asked '.seals / 2 % 4 >= 3'
echo 1 >&6
soon grep -qx 13 "$scratch/out"
echo again >&5
check "it is registered again when dartd restarts" soon requests 4
check "and nothing was lost" asked '.values.count == 13'
exec 6>&-
check "the program ends as before" wait $server
end

mkfifo "$scratch/in2"
begin preload@taken
DART_ZERO_LABEL=taken shown "$program" serve <"$scratch/in2" >/dev/null 2>&1 &
server=$!
exec 6>"$scratch/in2"
by_pid() {
	grep -q '"preload@pid-[0-9]*"' "$scratch/requests"
}
check "a name that another process keeps is given up for one by process" soon by_pid
check "the other entry has its name" soon grep -q '"preload:last@taken"' "$scratch/requests"
exec 6>&-
wait $server
end

# forked HOW: starts the program, which becomes a daemon; its number is in $forked, of its session in
# $session
forked() {
	mkfifo "$scratch/in-$1"
	: >"$scratch/out"
	begin
	shown "$program" forks "$1" <"$scratch/in-$1" >"$scratch/out" 2>/dev/null &
	server=$!
	exec 6>"$scratch/in-$1"
	soon grep -q . "$scratch/out"
	read -r forked session <"$scratch/out"
}

# is_registered NUMBER: with the last values
is_registered() {
	grep -q "\"preload@pid-$1\".*\"count\": 62" "$scratch/requests"
}

end_forked() {
	exec 6>&-
	wait $server
	end
}

forked twice
check "a daemon of two forks, with setsid() between them, shows its variables when its parent ends" \
	soon is_registered "$forked"
end_forked
forked first
check "a daemon that calls setsid() after two forks shows its variables" soon is_registered "$forked"
end_forked
forked own
check "the first child of a daemon that lives on keeps its variables for itself" \
	soon grep -q "\"preload@pid-$session\"" "$scratch/requests"
check "and is not registered" sh -c "! grep -q 'preload@pid-$forked\"' '$scratch/requests'"
check "with its own descriptors only" [ -z "$(find /proc/"$forked"/fd -lname '*memfd*')" ]
echo session >&6
check "until it calls setsid()" soon is_registered "$forked"
end_forked

# A user has 128 instances of inotify, as a rule: others may have taken all of them.
mkfifo "$scratch/in3"
unshare --user --map-root-user \
	sh -c 'echo 0 >/proc/sys/user/max_inotify_instances && exec "$@"' sh \
	timeout 60 env DART_ZERO_LAYOUT="$scratch/layout.yaml" DART_ZERO_LABEL=unwatched \
	LD_PRELOAD="$library" "$program" serve <"$scratch/in3" >"$scratch/out" 2>/dev/null &
server=$!
exec 6>"$scratch/in3"
echo 5 >&6
soon grep -qx 12 "$scratch/out"
begin
check "a program without an instance of inotify is registered when dartd starts" soon requests 2
echo again >&5
check "and again when dartd restarts" soon requests 4
exec 6>&-
wait $server
end

# ---- programs without a layout, and refusals

unasked() {
	[ -z "$(LD_PRELOAD=$library "$program" plain 2>&1 || echo failed)" ]
}
check "a program without a layout is left alone, silently" unasked

# refusal SENTENCE COMMAND...: the command runs with one sentence, and shows nothing
refusal() {
	local said

	said=$("${@:2}" 2>&1) || {
		echo "$said"
		return 1
	}
	echo "$said"
	[[ $said == "libdartzero-preload: "*$1* ]] && [ "$(wc -l <<<"$said")" = 1 ]
}

sed '/again\|constant/d' "$scratch/layout.yaml" >"$scratch/clean.yaml"
check "a layout of another build is refused" refusal "but the program has" \
	shown /bin/true
mv "$scratch/clean.yaml" "$scratch/layout.yaml"
sed 's/- {build_id.*/- {}/' "$scratch/layout.yaml" >"$scratch/any.yaml"
check "a layout of any build is refused" refusal "does not name the build-id" \
	env DART_ZERO_LAYOUT="$scratch/any.yaml" LD_PRELOAD="$library" "$program" plain
sed 's/fields:/fields: []/' "$scratch/layout.yaml" >"$scratch/form.yaml"
check "a file of another form is refused with its line" refusal "line 7 of" \
	env DART_ZERO_LAYOUT="$scratch/form.yaml" LD_PRELOAD="$library" "$program" plain
check "a layout that is missing is told" refusal "No such file" \
	env DART_ZERO_LAYOUT=/nonexistent LD_PRELOAD="$library" "$program" plain
sed '/count\|balance\|small\|name: name\|last\|again/d' "$scratch/layout.yaml" \
	>"$scratch/behind.yaml"
sed -i 's/entries:/&\n  - name: preload/' "$scratch/behind.yaml"
check "values behind pointers and in read-only pages are none" refusal "no value of its layout" \
	env DART_ZERO_LAYOUT="$scratch/behind.yaml" LD_PRELOAD="$library" "$program" plain
limited() {
	# The kernel checks the size of a memfd, too.
	(
		ulimit -f 0
		shown "$program" plain
	)
}
check "a program that may not create memory runs unseen" refusal "cannot share the variables" \
	limited
cat >"$scratch/threads.c" <<'END'
#include <pthread.h>
#include <unistd.h>
static void *run(void *unused)
{
	pause();
	return unused;
}
__attribute__((constructor)) static void begin(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
}
END
gcc -shared -fPIC -o "$scratch/threads.so" "$scratch/threads.c"
check "a program with threads before main() runs unseen" refusal "several threads" \
	env DART_ZERO_LAYOUT="$scratch/layout.yaml" LD_PRELOAD="$library $scratch/threads.so" \
	"$program" plain
gcc -g -static -o "$scratch/static" selftests/helpers/preload_program.c
check "a static program runs as before" shown "$scratch/static" plain

beside() {
	local id
	id=$(sed -n "s/.*build_id: '\(.*\)'.*/\1/p" "$scratch/layout.yaml")
	mkdir -p "$scratch/lib/arch" "$scratch/share/dart/schemas/applications/layouts" &&
		cp "$library" "$scratch/lib/arch" &&
		cp "$scratch/layout.yaml" "$scratch/share/dart/schemas/applications/layouts/$id.yaml" &&
		LD_PRELOAD=$scratch/lib/arch/libdartzero-preload.so "$program" check
}
check "the layout of a build is found beside the library" beside
check "the library has no symbol but those that it intercepts" \
	[ "$(nm -D --defined-only "$library" | awk '{ print $3 }' | xargs)" = "daemon setsid" ]
check "it needs nothing but libc" \
	sh -c "! readelf -d '$library' | grep NEEDED | grep -v -e libc.so -e libdl -e libpthread"
finish
