#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# 200 rounds of register and unregister, twice in each exposure, leak no memory.
ROUNDS=200 exec "$(dirname "$0")/../agent/rounds.sh"
