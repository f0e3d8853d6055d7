#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A thousand functions that live 1 to 500 ms, 50 a second, are all shown with their final values.
FUNCTIONS=1000 exec "$(dirname "$0")/../pair/functions.sh"
