#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# pair/churn for a minute.
DART_CHURN_SECONDS=60 exec "$(dirname "$0")/../pair/churn.sh"
