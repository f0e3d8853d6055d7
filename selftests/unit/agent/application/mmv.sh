#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The values in the memory of a program with PCP's mmv library are those that pminfo prints.
. "$(dirname "$0")/../../../lib.sh"

command -v pminfo >/dev/null || skip "pminfo is not installed"
test -e /var/lib/pcp/pmdas/mmv/pmda_mmv.so || skip "pmdammv is not installed"
/usr/bin/python3 -c "from pcp import mmv, pmapi" 2>/dev/null || skip "python3-pcp is not installed"
/usr/bin/python3 "$tests/unit/agent/application/described.py" "$tests/.." mmv
