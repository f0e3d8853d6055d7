#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The statistics and settings of a PostgreSQL that runs equal its views, as
# Documentation/postgresql.md lists them.
. "$(dirname "$0")/../../../lib.sh"

ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || skip "postgresql is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"
[ "$(id -u)" = 0 ] || skip "only root can start it as another user"
python3 "$tests/unit/agent/application/postgresql.py" "$tests/.."
