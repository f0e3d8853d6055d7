#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A Prometheus that runs here, if it is installed, has the same series after the same rules.
. "$(dirname "$0")/../../../lib.sh"

command -v prometheus >/dev/null || skip "prometheus is not installed (Debian package prometheus)"
check "12 lists of rules on 200 series each have Prometheus' own results" \
	"$tests/relabel/compare.py" 12 200
finish
