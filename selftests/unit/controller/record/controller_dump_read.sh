#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A recording that is dumped as OpenMetrics is read by Prometheus' own tool and by the parser
# of prometheus_client, if they are installed: every sample, with its value and time.
. "$(dirname "$0")/../../../lib.sh"

bin=$tests/../.output/bin
python=/usr/bin/python3		# Debian's Python, which includes prometheus_client
[ -x "$bin/invent_recording" ] || skip "make programs has not been run"
command -v promtool >/dev/null ||
	skip "promtool is not installed (Debian package prometheus)"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

check "a recording is made" "$bin/invent_recording" "$dir/file" 3 80 200
check "it is dumped" sh -c "'$bin/dart-controller' dump --format openmetrics '$dir/file' >'$dir/text'"
count=$(grep -vc '^#' "$dir/text")
check "with a sample of each of 3 x 80 counters and each of 200 scrapes" \
	[ "$(grep -c '^dart_invented_events_' "$dir/text")" = 48000 ]
check "promtool makes blocks of it" \
	promtool tsdb create-blocks-from openmetrics --quiet "$dir/text" "$dir/blocks"
# promtool reads the blocks of a database, which needs a WAL, even an empty one.
mkdir "$dir/blocks/wal"
# {__name__="NAME", LABEL="..."...} VALUE MS; of the text, in ms as promtool reads them.
promtool tsdb dump "$dir/blocks" >"$dir/dump"
check "they have all $count samples" [ "$(wc -l <"$dir/dump")" = "$count" ]
cat >"$dir/compare.py" <<'END'
import re, sys

def of_text(line):
    series, value, time = line.rsplit(" ", 2)
    name, _, labels = series.partition("{")
    return name, tuple(sorted(re.findall(r'(\w+)="([^"]*)"', labels))), \
        float(value), int(float(time) * 1000)

def of_dump(line):
    series, value, time = line.rsplit(" ", 2)
    labels = dict(re.findall(r'(\w+)="([^"]*)"', series))
    return labels.pop("__name__"), tuple(sorted(labels.items())), float(value), int(time)

with open(sys.argv[1]) as text, open(sys.argv[2]) as dump:
    one = sorted(of_text(line) for line in text if not line.startswith("#"))
    other = sorted(of_dump(line) for line in dump)
for a, b in zip(one, other):
    if a != b:
        sys.exit(f"{a} is {b}")
sys.exit(len(one) != len(other))
END
check "with their labels, values and times" "$python" "$dir/compare.py" "$dir/text" "$dir/dump"
$python -c 'import prometheus_client' 2>/dev/null ||
	skip "prometheus_client is not installed (Debian package python3-prometheus-client)"
cat >"$dir/parse.py" <<'END'
import sys
from prometheus_client.openmetrics import parser

with open(sys.argv[1], encoding="utf-8", newline="") as file:
    print(sum(len(family.samples) for family in parser.text_string_to_metric_families(file.read())))
END
check "the parser of prometheus_client finds them as well" \
	[ "$($python "$dir/parse.py" "$dir/text")" = "$count" ]
finish
