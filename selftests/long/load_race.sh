#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The module is loaded and unloaded 200 times while processes use the device.
DART_ROUNDS=200 exec "$(dirname "$0")/../../.output/selftests/module/load_race"
