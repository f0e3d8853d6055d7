#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A P4 switch and dart-flows are a VPN gateway together: the switch moves packets by the tunnels of a
# file alone, and dart-flows answers hosts inside.
here=$(cd "$(dirname "$0")/.." && pwd)
missing=$("$here/p4_missing") && {
	echo "1..0 # SKIP $missing"
	exit 4
}
exec "$here/p4/flows_tunnels"
