#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The counters of an nginx that runs equal stub_status.
. "$(dirname "$0")/../../../lib.sh"

PATH=$PATH:/usr/sbin
command -v nginx >/dev/null || skip "nginx is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"
python3 "$tests/unit/agent/application/nginx.py" "$tests/.."
