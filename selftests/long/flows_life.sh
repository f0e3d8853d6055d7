#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# As agent/flows_life, with 100,000 flows, 500 in a second.
export DART_FLOWS=${DART_FLOWS:-100000} DART_FLOWS_RATE=${DART_FLOWS_RATE:-500}
exec "$(dirname "$0")/../agent/flows_life.sh"
