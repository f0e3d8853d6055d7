#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The golden vectors are what the text of the format says, and RoCEv2.
. "$(dirname "$0")/../lib.sh"

vectors=$tests/vectors
python=/usr/bin/python3		# the one that Debian's scapy is for
$python -c 'import scapy.contrib.roce' 2>/dev/null ||
	skip "no scapy (Debian package python3-scapy)"
generated=$(mktemp)
check "they are generated" sh -c "$vectors/generate.py >$generated"
check "and the same as in the repository" cmp "$generated" \
	"$vectors/reports.json"
check "scapy reads each frame so, and builds the same" \
	"$vectors/dissect.py" "$vectors/reports.json"
rm -f "$generated"
finish
