#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Lists of agents in files whose names have bytes that are not UTF-8, or line ends.
. "$(dirname "$0")/../../../lib.sh"
bin=$tests/../.output/bin
[ -x "$bin/dart-controller" ] || skip "make programs has not been run"
command -v openssl >/dev/null || skip "openssl is not installed"
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT

# status FILTER: of the JSON of the status
status() {
	"$bin/dart-controller" status --json --socket "$dir/socket" | gojq -r "$1"
}

# tells EXPECTED FILTER
tells() {
	[ "$(status "$2" 2>/dev/null)" = "$1" ]
}

mkdir "$dir/tls"
"$tests/../.output/selftests/helpers/tls_files" "$dir/tls" controller >/dev/null
port=$("$tests/free_ports")
file=$dir/$'a\xffb\nc.json'
echo "[{\"targets\": [\"127.0.0.1:$port\"]}]" >"$file"
"$bin/dart-controller" --file-sd "$file" --transport tcp --json --socket "$dir/socket" \
	--tls-certificate "$dir/tls/controller.pem" --tls-key "$dir/tls/controller.key" \
	--tls-authorities "$dir/tls/authority.pem" >/dev/null 2>"$dir/log" &
controller=$!
shown=$dir/'a\xffb\x0ac.json'
check "the agent of the file is there, with its source" \
	soon tells "127.0.0.1:$port $shown" '.targets[] | "\(.agent) \(.source)"'
check "and so is the source" tells "$shown 1" '.sources[] | "\(.source) \(.targets)"'
check "the log has its name in one line" grep -qF "$shown: names 1 agent" "$dir/log"
check "the status has a table for people" \
	sh -c "'$bin/dart-controller' status --socket '$dir/socket' | grep -q '127.0.0.1:$port'"
kill $controller; wait $controller
finish
