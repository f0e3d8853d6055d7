#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A P4 switch between two virtual machines: one sends flows, the other one rotates a store.
here=$(cd "$(dirname "$0")/.." && pwd)
missing=$("$here/p4_missing") && {
	echo "1..0 # SKIP $missing"
	exit 4
}
"$here/p4_network" 1 "$here/qemu/run" --timeout 3000 --tap machines \
	--peer host -- "$here/p4/rotations_to_host_in_guest"
