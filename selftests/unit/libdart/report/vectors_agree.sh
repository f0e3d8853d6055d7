#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The golden vectors follow from the text of the format, and scapy agrees with them.
. "$(dirname "$0")/../../../lib.sh"

vectors=$tests/vectors
python=/usr/bin/python3		# Debian's Python, which includes scapy
$python -c 'import scapy.contrib.roce' 2>/dev/null ||
	skip "scapy is not installed (Debian package python3-scapy)"
generated=$(mktemp)
check "the second implementation generates golden vectors" sh -c "$vectors/generate.py >$generated"
check "the generated vectors equal the repository's" cmp "$generated" \
	"$vectors/reports.json"
check "scapy reads the fields of each frame and builds the same frame" \
	"$vectors/dissect.py" "$vectors/reports.json"
check "the second implementation of lookup tables generates golden vectors" \
	sh -c "$vectors/generate_tea.py >$generated"
check "these equal the repository's" cmp "$generated" "$vectors/tables.json"
check "scapy reads the fields of each WRITE, READ and response and builds the same frame" \
	"$vectors/dissect_tea.py" "$vectors/tables.json"
check "the second implementation of a switch's sketch generates golden vectors" \
	sh -c "$vectors/generate_sketch.py >$generated"
check "these, too, equal the repository's" cmp "$generated" "$vectors/sketch.json"
check "the second implementation of journals generates golden vectors" \
	sh -c "$vectors/generate_journal.py >$generated"
check "these also equal the repository's" cmp "$generated" "$vectors/journal.json"
check "the example in <dart/journal.h> is one of the golden vectors" \
	grep -q '"batch": "000000016553f100800002040102030408090a0b0*682232c9"' "$vectors/journal.json"
check "the header has this example" grep -q '^ \*   682232c9$' "$tests/../uapi/dart/journal.h"
check "the second implementation of ledgers generates golden vectors" \
	sh -c "$vectors/generate_ledger.py >$generated"
check "these equal the repository's as well" cmp "$generated" "$vectors/ledger.json"
check "the example in <dart/ledger.h> is one of the golden vectors" sh -c "
	frame=\$(sed -n '/An example: a request/,/The transport/s/^ \*   \([0-9a-f]*\)\$/\1/p' \
		$tests/../uapi/dart/ledger.h | tr -d '\n')
	grep -q \"\\\"frame\\\": \\\"\$frame\\\"\" $vectors/ledger.json"
check "the second implementation of strips generates golden vectors" \
	sh -c "$vectors/generate_strips.py >$generated"
check "the generated strips equal the repository's" cmp "$generated" "$vectors/strips.json"
check "it generates the example in <dart/sketch.h>" sh -c "
	sed -n '/An example: strip 1/,/_UAPI/s/^ \*   \([0-9a-f ]*\)\$/\1/p' \
		$tests/../uapi/dart/sketch.h | tr -d ' \n' >$generated
	$vectors/generate_strips.py example | tr -d '\n' | cmp - $generated"
check "the second implementation of postcards generates golden vectors" \
	sh -c "$vectors/generate_postcards.py >$generated"
check "the generated postcards equal the repository's" cmp "$generated" "$vectors/postcards.json"
check "the examples in <dart/postcard.h> are golden vectors" sh -c "
	header=$tests/../uapi/dart/postcard.h
	grep -q '^ \*   010d0205000000070a0100020a030103c00001bb06\$' \$header &&
	grep -q '\"datagram\": \"010d0205000000070a0100020a030103c00001bb06\"' $vectors/postcards.json &&
	value=\$(sed -n '/010d0205/,/_UAPI/s/^ \*   \([0-9a-f]*\)\$/\1/p' \$header | tail -n +2 |
		tr -d '\n') &&
	grep -q \"\\\"value\\\": \\\"\$value\\\"\" $vectors/postcards.json"
# The report in the comment of the header: its key, its place and its frame.
in_the_header() {
	$python - "$tests/../uapi/dart/store.h" "$vectors/reports.json" <<'END'
import json, re, sys

header = open(sys.argv[1]).read()
example = header[header.index("An example:"):]
frame = "".join(re.findall(r"^ \*   ([0-9a-f]+)$", example, re.M)[1:])
vector = next(each for each in json.load(open(sys.argv[2]))
              if each["frame"] == frame)
words = re.findall(r"\w+", example)
place = [vector["key"], vector["value"], str(vector["share"]),
         vector["checksum"][2:], *map(str, vector["slots"])]
missing = [word for word in place if word not in words]
sys.exit(f"the header does not have {missing}" if missing else 0)
END
}
check "the example in <dart/store.h> is one of the golden vectors" in_the_header
rm -f "$generated"
finish
