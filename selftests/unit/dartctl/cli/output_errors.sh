#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Errors in JSON of commands that write their output to a file: dartctl prints them where it prints
# them without --output, and removes the new file.
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
finish
