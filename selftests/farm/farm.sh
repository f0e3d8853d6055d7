#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# long/farm with 1,024 hosts, and each kind of I/O.
export DART_FARM_HOSTS=${DART_FARM_HOSTS-1024}
export DART_FARM_INTERVAL_MS=${DART_FARM_INTERVAL_MS-20000}
export DART_FARM_IO=${DART_FARM_IO-event poll hybrid}
export DART_FARM_KIB=${DART_FARM_KIB-64}
exec "$(dirname "$0")/../long/farm.sh"
