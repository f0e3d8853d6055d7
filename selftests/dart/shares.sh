#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A tenth of the shares moves back and forth between two stores DART_MOVES times while flows are
# reported, as agent/shares has it move a few times.
DART_MOVES=${DART_MOVES:-50} exec "$(dirname "$0")/../agent/shares.sh"
