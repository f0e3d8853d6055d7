#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# pair/farm with 1,024 hosts.
export DART_FARM_HOSTS=${DART_FARM_HOSTS-1024}
export DART_FARM_INTERVAL_MS=${DART_FARM_INTERVAL_MS-20000}
exec "$(dirname "$0")/../pair/farm.sh"
