#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A P4 switch counts flows of one virtual machine in a ledger of another one.
here=$(cd "$(dirname "$0")/.." && pwd)
missing=$("$here/p4_missing") && {
	echo "1..0 # SKIP $missing"
	exit 4
}
[ "${DART_SWITCH_AMOUNTS-}" ] || {
	echo "1..0 # SKIP make check-p4 runs it; without machines, p4/ledger_faults checks the same"
	exit 4
}
exec "$here/p4_network" --program ledger 1 "$here/qemu/run" --timeout 5400 --tap machines \
	--peer host -- env "DART_SWITCH_AMOUNTS=$DART_SWITCH_AMOUNTS" \
	"$here/p4/ledger_to_host_in_guest"
