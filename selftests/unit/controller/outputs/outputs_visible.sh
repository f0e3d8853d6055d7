#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The figures of every output, while it works and while it fails, are visible from outside: in
# /metrics, in both formats, and in the status, for people and as JSON.
. "$(dirname "$0")/../../../lib.sh"

bin=$tests/../.output/bin
python=/usr/bin/python3		# Debian's Python, which includes prometheus_client
[ -x "$bin/invent_recording" ] || skip "make programs has not been run"
dir=$(mktemp -d)
controllers=()
cleanup()
{
	kill "${controllers[@]}" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$dir"
}
trap cleanup EXIT

# A receiver that answers requests at /refuse with 403, at /busy with 503, and takes all other
# requests.
cat >"$dir/receiver.py" <<'END'
import http.server, os, sys

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response({"/refuse": 403, "/busy": 503}.get(self.path.partition("?")[0], 200))
        self.send_header("X-Prometheus-Remote-Write-Samples-Written", "1")
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"why\n")

    def log_message(self, *arguments):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
END
"$python" "$dir/receiver.py" "$dir/port" &
controllers+=($!)
check "a receiver runs" soon test -e "$dir/port"
port=$(cat "$dir/port")
listen=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

check "a recording is made" "$bin/invent_recording" "$dir/recording" 20 100 20
"$bin/dart-controller" replay --speed 200 "--listen=127.0.0.1:$listen" \
	--remote-write "http://me:secret@127.0.0.1:$port/taken" \
	--remote-write "http://127.0.0.1:$port/refuse?token=secret" \
	--remote-write "http://127.0.0.1:$port/busy" \
	--remote-write "http://127.0.0.1:9/nobody" "$dir/recording" >"$dir/out" 2>"$dir/said" &
controllers+=($!)

# figure NAME PART...: the sum of all its series that contain each of the texts
figure()
{
	local lines

	lines=$(curl -s "http://127.0.0.1:$listen/metrics" | grep "^dart_controller_output_$1{")
	shift
	for part; do
		lines=$(grep -F -e "$part" <<<"$lines")
	done
	awk 'NF { n += $(NF - 1) } END { printf "%.0f\n", n }' <<<"$lines"
}

# above NAME NUMBER PART...: the figure is above it
above()
{
	[ "$(figure "$1" "${@:3}")" -gt "$2" ]
}

check "an output that works counts the samples that were taken" \
	soon above sent_samples_total 1000 /taken
check "a refused output counts samples with a reason" \
	soon above refused_samples_total 1000 /refuse 'reason="'
check "an output with a busy receiver has waiting samples, and tries again" \
	soon above retries_total 0 /busy
check "it fails, and says for what" soon above last_error_timestamp_seconds 1700000000 /busy \
	'error="status_503"'
check "and so does one without an answer, of which samples wait" \
	soon above waiting_samples 1000 /nobody
check "in memory" soon above queue_bytes 1000 /nobody
check "no output shows a number of another" [ "$(figure sent_samples_total /nobody)" = 0 ]
curl -s "http://127.0.0.1:$listen/metrics" >"$dir/text"
check "the page has the numbers of all four outputs" \
	[ "$(grep -c '^dart_controller_output_retries_total{' "$dir/text")" = 4 ]
refuse "no series has a secret" "^$" sh -c "grep -e secret -e token '$dir/text'; echo; false"
check "no series is there twice" \
	[ -z "$(grep -v '^#' "$dir/text" | sed "s/} .*//" | sort | uniq -d)" ]
if command -v promtool >/dev/null; then
	refuse "promtool finds no fault in these families" "^$" \
		sh -c "promtool check metrics <'$dir/text' 2>&1 | grep dart_controller_output; echo; false"
fi
curl -s -H 'Accept: application/openmetrics-text' "http://127.0.0.1:$listen/metrics" >"$dir/open"
if "$python" -c 'import prometheus_client' 2>/dev/null; then
	check "the parser of OpenMetrics takes them" "$python" -c '
import sys
from prometheus_client.openmetrics import parser
families = parser.text_string_to_metric_families(open(sys.argv[1]).read())
sys.exit(sum(f.name.startswith("dart_controller_output_") for f in families) < 10)' "$dir/open"
fi
agent=$(curl -s "http://127.0.0.1:$listen/sd" | "$python" -c '
import json, sys
print(json.load(sys.stdin)[0]["labels"]["__param_target"])')
curl -s "http://127.0.0.1:$listen/metrics?target=$agent" >"$dir/one"
check "a page of one agent is its own" grep -q ^dart_up "$dir/one"
refuse "and has none of them" "^$" sh -c "grep dart_controller_output '$dir/one'; echo; false"

# A controller without a host, but with outputs and a control socket.
cat >"$dir/live.yaml" <<END
transport: read
agents: [{host: 192.0.2.1}, {host: test1}]
sources: [{file_sd: $dir/agents.json}]
relabel_configs: [{source_labels: [__address__], regex: 'test.*', action: drop}]
outputs:
  - {remote_write: "http://127.0.0.1:9/w?token=secret", spool: $dir/live, spool_bytes: 8M}
record: {file: $dir/recorded}
END
echo '[{"targets": ["test2", "test3", "192.0.2.2"]}]' >"$dir/agents.json"
"$bin/dart-controller" --config "$dir/live.yaml" --socket "$dir/socket" >"$dir/out" 2>"$dir/live.said" &
controllers+=($!)

asked()
{
	"$bin/dart-controller" status "$@" --socket "$dir/socket"
}

# named: the source was read
named()
{
	asked -j 2>/dev/null | grep -q '"targets":1,'
}

if soon named; then
	asked -j >"$dir/status"
	check "the status has the agents that relabel_configs drop, and their number" "$python" -c '
import json, sys
status = json.load(open(sys.argv[1]))
assert status["controller"]["agents_dropped"] == 1, status
assert status["controller"]["agents_dropped_first"] == ["test1:4792"], status
source = status["sources"][0]
assert source["dropped"] == 2 and source["dropped_first"] == ["test2", "test3"], source
assert {t["agent"] for t in status["targets"]} == {"192.0.2.1:4792", "192.0.2.2:4792"}' "$dir/status"
	check "the status has each output with its figures" "$python" -c '
import json, sys
outputs = {o["output"]: o for o in json.load(open(sys.argv[1]))["outputs"]}
push = outputs["remote_write"]
assert push["to"] == "http://127.0.0.1:9/w", push
for member in ("waiting_samples", "oldest_waiting_ns", "queue_bytes", "sent_samples",
               "refused_samples", "dropped_samples", "retries", "spool_bytes"):
    assert push[member] >= 0, member
assert push["spool_limit_bytes"] == 8 << 20
assert push["failing"] is False and push["error"] is None
assert {d["reason"] for d in push["dropped"]} >= {"queue_full", "spool_full"}
assert outputs["record"]["dropped_scrapes"] == 0
assert outputs["standard_output"]["dropped_texts"] == 0
assert outputs["standard_error"]["dropped_texts"] == 0' "$dir/status"
	check "and for people a line each" sh -c \
		"'$bin/dart-controller' status --socket '$dir/socket' | grep 'remote_write.*http://127.0.0.1:9/w '"
	refuse "without a secret" "^$" sh -c "grep secret '$dir/status'; echo; false"
fi
finish
