#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The counters in the memory of a Java virtual machine are those that jcmd prints.
. "$(dirname "$0")/../../../lib.sh"

command -v java >/dev/null || skip "java is not installed"
command -v jcmd >/dev/null || skip "jcmd is not installed"
test -x /usr/bin/python3 || skip "python3 is not installed"
/usr/bin/python3 "$tests/unit/agent/application/described.py" "$tests/.." jvm
