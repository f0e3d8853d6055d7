#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A P4 switch gathers postcards of one virtual machine and reports paths into a store of another one.
here=$(cd "$(dirname "$0")/.." && pwd)
missing=$("$here/p4_missing") && {
	echo "1..0 # SKIP $missing"
	exit 4
}
[ "${DART_SWITCH_POSTCARDS-}" ] || {
	echo "1..0 # SKIP make check-p4 runs it; p4/hop_postcards checks reports without machines"
	exit 4
}
exec "$here/p4_network" --program translator 1 "$here/qemu/run" --timeout 3600 --tap machines \
	--peer host -- env "DART_SWITCH_POSTCARDS=$DART_SWITCH_POSTCARDS" \
	"$here/p4/translator_to_host_in_guest"
