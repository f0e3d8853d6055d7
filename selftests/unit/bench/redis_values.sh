#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The bench of applications compares values of a redis-server with INFO, and finds wrong ones.
. "$(dirname "$0")/../../lib.sh"

command -v redis-server >/dev/null || skip "redis-server is not installed"
command -v redis-benchmark >/dev/null || skip "redis-benchmark is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"
python3 "$tests/unit/bench/redis_values.py" "$tests/.."
