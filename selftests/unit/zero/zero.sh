#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A program with libdartzero, built in each way that programs are built in, finds the values of its
# variables and objects in the memory that dartd would show.
. "$(dirname "$0")/../../lib.sh"

cd "$tests/.." || exit
library=.output/lib/libdartzero.a
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
flags=(-D_GNU_SOURCE -Wall -Wextra -Werror -Iuapi -Itools/lib/include)

# built COMPILER LANGUAGE [OPTION...]: compiles the program so, and runs it
built() {
	local standard=c11

	[ "$2" = c ] || standard=c++11
	"$1" -x "$2" -std="$standard" "${flags[@]}" "${@:3}" -o "$scratch/program" \
		selftests/helpers/zero_program.c -x none "$library" &&
		timeout 60 "$scratch/program" check
}

# each COMPILER LANGUAGE: with each set of options
each() {
	local level

	for level in -O0 -O1 -O2 -O3; do
		built "$1" "$2" "$level" || return
	done
	built "$1" "$2" -O2 -flto &&
		built "$1" "$2" -O2 -static &&
		built "$1" "$2" -O2 -fno-pie -no-pie &&
		built "$1" "$2" -O2 -fdata-sections -ffunction-sections -Wl,--gc-sections &&
		built "$1" "$2" -O2 -flto -static -fdata-sections -Wl,--gc-sections
}

for compiler in gcc clang; do
	for language in c c++; do
		check "$compiler, $language: -O0 to -O3, LTO, static, without PIE and with --gc-sections" \
			each $compiler $language
	done
done

# Objects with variables after the library share pages with other data.
cat >"$scratch/main.c" <<'END'
#include <libdartzero/zero.h>
#include <errno.h>
int main(void)
{
	return dart_zero_start("late", 0) != -EXDEV;
}
END
cat >"$scratch/late.c" <<'END'
#include <libdartzero/zero.h>
DART_ZERO uint64_t late[100];
END
late() {
	gcc "${flags[@]}" -o "$scratch/program" "$scratch/main.c" "$library" "$scratch/late.c" &&
		"$scratch/program"
}
check "a program that links variables after the library is told so" late

cat >"$scratch/classes.cpp" <<'END'
#include <libdartzero/zero.hpp>
#include <utility>
struct web {
	uint64_t requests;
};
DART_ZERO_TYPE(web, web, DART_ZERO_COUNTER(web, requests, "requests"));
DART_ZERO web site;
DART_ZERO_VARIABLE(site, web);
int main()
{
	void *first;
	{
		dart_zero::session session("classes", 4096);
		if (session.error())
			return 1;
		dart_zero::object<web> one(dart_zero_web, "one"), two(dart_zero_web, "two");
		one->requests = 1;
		two->requests = 2;
		first = &*one;
		two = std::move(one);
		if (two->requests != 1 || &*two != first)
			return 2;
		site.requests++;
	}
	dart_zero::session again("classes", 4096);
	dart_zero::object<web> one(dart_zero_web, "one");
	return again.error() || one->requests || site.requests != 1 ? 3 : 0;
}
END
classes() {
	g++ -std=c++11 "${flags[@]}" -o "$scratch/program" "$scratch/classes.cpp" "$library" &&
		"$scratch/program" &&
		clang++ -std=c++17 "${flags[@]}" -O2 -o "$scratch/program" "$scratch/classes.cpp" \
			"$library" && "$scratch/program"
}
check "classes of C++ begin and end with their scope" classes

# ends [OPTION...]: the library is built with these, too
ends() {
	gcc -std=c11 "${flags[@]}" -O2 "$@" -o "$scratch/program" selftests/helpers/zero_ends.c \
		tools/lib/zero/zero*.c && rm -f "$scratch/dartd.sock" &&
		timeout 60 "$scratch/program" "$scratch/dartd.sock"
}
check "an end loses no value that other threads write, and does not wait for dartd" ends
check "nor an object that other threads free" ends -fsanitize=address

example() {
	gcc "${flags[@]}" -O2 -o "$scratch/program" contrib/libdartzero/shop.c "$library" &&
		printf 'one\ntwo\n' | "$scratch/program"
}
check "the example builds, and works without dartd" example
needs() {
	nm -u "$library" | awk 'NF == 2 { print $2 }' | sort -u |
		grep -v -x -F -f <(nm -D --defined-only "$(gcc -print-file-name=libc.so.6)" |
			sed 's/.* //; s/@.*//'; nm "$library" | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }') |
		grep -v -e _GLOBAL_OFFSET_TABLE_ -e ^__start_ -e ^__stop_
}
check "the library needs nothing but libc" [ -z "$(needs)" ]
finish
