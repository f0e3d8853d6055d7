#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Errors of commands that write their output to a file: dartctl prints them in JSON where it prints
# them without --output, removes the new file, and replaces nothing but files.
. "$(dirname "$0")/../../../lib.sh"
PATH=$tests/../.output/bin:$PATH
command -v dartctl >/dev/null || skip "make programs has not been run"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo before >"$scratch/file"

# tells ERROR COMMAND...: fails with this object on standard output, and leaves the file alone
tells() {
	local error=$1 status=0

	shift
	dartctl --json "$@" --output "$scratch/file" >"$scratch/said" || status=$?
	cat "$scratch/said"
	[ "$status" -eq 1 ] || return
	grep -q "\"error\": *\"$error\"" "$scratch/said" || return
	[ "$(cat "$scratch/file")" = before ] && [ ! -e "$scratch/file.new" ]
}

for object in table store ledger journal sketch; do
	check "$object export tells that dartd does not run" \
		tells ENOENT --socket "$scratch/absent" "$object" export some
done
check "application describe tells that its description is missing" tells ENOENT \
	application describe --binary "$scratch/absent" --types "$scratch/absent" "$scratch/absent"

to_closed() {
	dartctl --json --socket "$scratch/absent" table export some --output "$scratch/file" >&-
}

refuse "with a closed standard output the error goes to standard error" "No such file" to_closed

# is_refused PATH: it would be replaced by a file
is_refused() {
	dartctl --socket "$scratch/absent" table export some --output "$1" 2>&1 |
		grep "'$1' is not a regular file"
}

mkfifo "$scratch/pipe"
mkdir "$scratch/directory"
ln -s pipe "$scratch/link"
ln -s /proc/self/fd/1 "$scratch/stdout"
ln -s file "$scratch/alias"
check "a pipe is not replaced" is_refused "$scratch/pipe"
check "a directory is not replaced" is_refused "$scratch/directory"
check "a link to a pipe is not replaced" is_refused "$scratch/link"
check "a link to the standard output is not replaced" is_refused "$scratch/stdout"
refuse "a link to a file is accepted, and dartd is asked" "cannot reach dartd" \
	dartctl --socket "$scratch/absent" table export some --output "$scratch/alias"
finish
