#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The golden vectors follow from the text of the format, and scapy agrees with them.
. "$(dirname "$0")/../lib.sh"

vectors=$tests/vectors
python=/usr/bin/python3		# Debian's, which has its scapy
$python -c 'import scapy.contrib.roce' 2>/dev/null ||
	skip "scapy is not installed (Debian package python3-scapy)"
generated=$(mktemp)
check "the second implementation generates golden vectors" sh -c "$vectors/generate.py >$generated"
check "the generated vectors are those in the repository" cmp "$generated" \
	"$vectors/reports.json"
check "scapy reads the fields of each frame and builds the same frame" \
	"$vectors/dissect.py" "$vectors/reports.json"
rm -f "$generated"
finish
