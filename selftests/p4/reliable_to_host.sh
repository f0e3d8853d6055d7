#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A P4 switch reports over a reliable connection into a store of a virtual machine.
here=$(cd "$(dirname "$0")/.." && pwd)
missing=$("$here/p4_missing") && {
	echo "1..0 # SKIP $missing"
	exit 4
}
[ "${DART_SWITCH_AMOUNTS-}" ] || {
	echo "1..0 # SKIP make check-p4 runs it; without machines, p4/reliable checks the same"
	exit 4
}
exec "$here/p4_network" 1 "$here/qemu/run" --timeout 1800 --tap machines --peer host -- \
	"$here/p4/reliable_to_host_in_guest"
