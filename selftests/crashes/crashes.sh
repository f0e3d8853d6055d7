#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 200 rounds of long/crashes, each back within 10 s on an otherwise idle host.
DART_CRASHES=200 DART_CRASHES_MS=10000 exec "$(dirname "$0")/../long/crashes.sh"
