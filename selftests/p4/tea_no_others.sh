#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A P4 switch finds no key that is not in a table in the memory of a virtual machine.
here=$(cd "$(dirname "$0")/.." && pwd)
missing=$("$here/p4_missing") && {
	echo "1..0 # SKIP $missing"
	exit 4
}
exec "$here/p4/tea_all_entries" absent
