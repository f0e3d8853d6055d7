#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# P4 switches add up the strips of sketchers in one virtual machine for a sketch of another one.
here=$(cd "$(dirname "$0")/.." && pwd)
missing=$("$here/p4_missing") && {
	echo "1..0 # SKIP $missing"
	exit 4
}
[ "${DART_SWITCH_COUNTS-}" ] || {
	echo "1..0 # SKIP make check-p4 runs it; p4/merges checks WRITEs without machines"
	exit 4
}
exec "$here/p4_network" --program merger 2 "$here/qemu/run" --timeout 3600 --tap machines \
	--peer host -- env "DART_SWITCH_COUNTS=$DART_SWITCH_COUNTS" \
	"$here/p4/merger_to_host_in_guest"
