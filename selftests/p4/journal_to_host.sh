#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A P4 switch appends paths of flows of one virtual machine to a journal of another one.
here=$(cd "$(dirname "$0")/.." && pwd)
missing=$("$here/p4_missing") && {
	echo "1..0 # SKIP $missing"
	exit 4
}
[ "${DART_SWITCH_ENTRIES-}" ] || {
	echo "1..0 # SKIP make check-p4 runs it; p4/journal_frames checks WRITEs without machines"
	exit 4
}
exec "$here/p4_network" --program journal 1 "$here/qemu/run" --timeout 5400 --tap machines \
	--peer host -- env "DART_SWITCH_ENTRIES=$DART_SWITCH_ENTRIES" \
	"$here/p4/journal_to_host_in_guest"
