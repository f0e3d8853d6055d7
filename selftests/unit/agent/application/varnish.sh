#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The counters in the memory of varnishd are those that varnishstat prints.
. "$(dirname "$0")/../../../lib.sh"

command -v varnishd >/dev/null || skip "varnishd is not installed"
test -x /usr/bin/python3 || skip "python3 is not installed"
/usr/bin/python3 "$tests/unit/agent/application/described.py" "$tests/.." varnish
