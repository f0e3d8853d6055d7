#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Programs of other projects, if installed, read the text formats of metrics.
. "$(dirname "$0")/../../../lib.sh"

program=$tests/../.output/unit/metric_text
python=/usr/bin/python3		# Debian's Python, which includes prometheus_client
$python -c 'import prometheus_client' 2>/dev/null ||
	skip "prometheus_client is not installed (Debian package python3-prometheus-client)"
text=$(mktemp)
"$program" prometheus >"$text.prometheus"
"$program" openmetrics >"$text.openmetrics"
"$program" prometheus mixed >"$text.mixed"
"$program" openmetrics mixed >"$text.mixed_openmetrics"

# How many samples the parser of MODULE finds in FILE; it fails if the text is wrong.
samples() {
	$python - "$1" "$2" <<'END'
import importlib, sys

parser = importlib.import_module(sys.argv[1])
with open(sys.argv[2], encoding="utf-8", newline="") as file:
    families = list(parser.text_string_to_metric_families(file.read()))
print(sum(len(family.samples) for family in families))
END
}

# all MODULE FORMAT: each line that is no comment is a sample
all() {
	[ "$(samples "$1" "$text.$2")" = "$(grep -vc '^#' "$text.$2")" ]
}

check "prometheus_client reads all samples of the Prometheus format" \
	all prometheus_client.parser prometheus
check "prometheus_client reads all samples of OpenMetrics" \
	all prometheus_client.openmetrics.parser openmetrics
check "prometheus_client reads all samples of families of several types" \
	all prometheus_client.parser mixed
check "and of those of OpenMetrics" \
	all prometheus_client.openmetrics.parser mixed_openmetrics
if command -v promtool >/dev/null; then
	check "promtool has nothing to say about the Prometheus format" \
		sh -c "[ -z \"\$(promtool check metrics <$text.prometheus 2>&1 | tee /dev/stderr)\" ]"
else
	echo "# promtool is not installed (Debian package prometheus)"
fi
rm -f "$text" "$text."*
finish
