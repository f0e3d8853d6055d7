#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Labels with names of any UTF-8, and labels that collide: pages and service discovery show the
# given names to peers that take such names, and plain names to other peers, never twice.
. "$(dirname "$0")/../../../lib.sh"

bin=$tests/../.output/bin
python=/usr/bin/python3
[ -x "$bin/dart-controller" ] || skip "make programs has not been run"
dir=$(mktemp -d)
cleanup()
{
	kill "$controller" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$dir"
}
trap cleanup EXIT

listen=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$dir/agents.json" <<'END'
[{"targets": ["192.0.2.1"], "labels": {"host.name": "a", "host_name": "b", "straße": "c", "rack": null}},
 {"targets": ["192.0.2.2", "bad:99999"], "labels": null}]
END
"$bin/dart-controller" --file-sd "$dir/agents.json" "--listen=127.0.0.1:$listen" \
	>"$dir/out" 2>"$dir/said" &
controller=$!

# page PATH [OPTION...]
page()
{
	curl -s "${@:2}" "http://127.0.0.1:$listen$1"
}

# has PATH TEXT [OPTION...]: the page contains the text
has()
{
	page "$1" "${@:3}" | grep -F -e "$2"
}

check "an agent without a fault is there" soon has /metrics 'dart_up{instance="192.0.2.2:4792"} 0'
check "the log names the omitted target" \
	grep -q "group 2: 'bad:99999' is not an agent.*it is left out" "$dir/said"
plain='dart_up{host_name="b",instance="192.0.2.1:4792",stra_e="c",target_host_name="a"} 0'
check "names are plain for a peer that says nothing" has /metrics "$plain"
check "and in OpenMetrics, if it does not ask for others" has /metrics "$plain" \
	-H 'Accept: application/openmetrics-text;version=1.0.0;escaping=underscores'
utf8='dart_up{"host.name"="a",host_name="b",instance="192.0.2.1:4792","straße"="c"} 0'
accept='Accept: text/plain;version=1.0.0;escaping=allow-utf-8;q=0.5'
check "they are as they were given for a peer that asks for them" has /metrics "$utf8" -H "$accept"
check "which is told so" sh -c "curl -si -H '$accept' http://127.0.0.1:$listen/metrics |
	grep -i '^content-type: text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8'"
check "in OpenMetrics, too" has /metrics "$utf8" \
	-H 'Accept: application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6'

# found NAME VALUE [OPTION...]: is there a target with this label?
found()
{
	page /sd "${@:3}" | "$python" -c '
import json, sys
sys.exit(not any(group["labels"].get(sys.argv[1]) == sys.argv[2] for group in json.load(sys.stdin)))' \
		"$1" "$2"
}

check "service discovery has them as they were given" found host.name a
check "all of them" found straße c
check "as it does for Prometheus 3" found host.name a -A Prometheus/3.0.1
check "and plain names for an older one, which would refuse others" found target_host_name a \
	-A Prometheus/2.42.0
check "all of them" found stra_e c -A Prometheus/2.42.0
refuse "all of which are plain" "^$" sh -c "curl -s -A Prometheus/2.42.0 \
	http://127.0.0.1:$listen/sd | grep -e host.name.: -e ß; echo; false"
check "the label that made room is counted" has /metrics \
	'dart_controller_output_collided_labels{output="metrics",to="all outputs"}'
if command -v promtool >/dev/null; then
	page /metrics >"$dir/text"
	refuse "promtool reads the page" "^$" \
		sh -c "promtool check metrics <'$dir/text' 2>&1 | grep -i error; echo; false"
fi
finish
