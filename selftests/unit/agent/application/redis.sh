#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The fields of a redis-server that runs equal INFO, as Documentation/redis.md lists them.
. "$(dirname "$0")/../../../lib.sh"

command -v redis-server >/dev/null || skip "redis-server is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"
python3 "$tests/unit/agent/application/redis.py" "$tests/.." redis-server
