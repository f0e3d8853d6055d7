#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A collector's agent is killed while a P4 switch reports to its store.
here=$(cd "$(dirname "$0")/.." && pwd)
missing=$("$here/p4_missing") && {
	echo "1..0 # SKIP $missing"
	exit 4
}
exec "$here/p4_network" 1 "$here/qemu/run" --tap machines --peer host -- \
	"$here/p4/restarts_in_guest"
