#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The state of dart-controller over HTTP: health, readiness, reloads, and its own metrics.
. "$(dirname "$0")/../../../lib.sh"
PATH=$tests/../.output/bin:$PATH
command -v curl >/dev/null || skip "curl is not installed (Debian package curl)"
scratch=$(mktemp -d)
controller=
silent=
trap 'end_processes "$controller" "$silent"; rm -rf "$scratch"' EXIT
port=$("$tests/free_ports")
at=127.0.0.1:$port

# configure LINE...
configure() {
	printf '%s\n' "agents: [{host: 192.0.2.1}]" "outputs:" "  - {listen: '127.0.0.1:$port'}" \
		"$@" >"$scratch/c.yaml"
}

# answered STATUS OPTION...
answered() {
	local status=$1

	shift
	[ "$(curl -s -o "$scratch/page" -w '%{http_code}' -m 10 "$@")" = "$status" ]
}

# metric NAME VALUE
metric() {
	curl -s -m 10 "$at/-/metrics" >"$scratch/page"
	awk -v name="$1" -v value="$2" '$1 == name { found = $2 == value } END { exit !found }' \
		"$scratch/page"
}

says() {
	grep -q -e "$1" "$scratch/page"
}

# A source that is connected to, and does not answer.
exec 4< <(exec python3 -c '
import socket, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
time.sleep(600)')
silent=$!
read -r silent_port <&4

configure "sources: [{http_sd: 'http://127.0.0.1:$silent_port/'}]"
dart-controller --config "$scratch/c.yaml" --io-threads 2 --workers 3 2>"$scratch/log" &
controller=$!
check "it is healthy" soon answered 200 "$at/-/healthy"
check "it is not ready before each source has been looked at" answered 503 "$at/-/ready"
check "and its metrics say so" metric dart_controller_ready 0
end_processes "$silent"
silent=
check "it is ready when the source has failed, too" soon answered 200 "$at/-/ready"
check "and its metrics say so" metric dart_controller_ready 1

# thread NAME FAMILY: the family has a series of the thread
thread() {
	curl -s -m 10 "$at/-/metrics" >"$scratch/page"
	says "^$2{thread=\"$1\"} "
}
for name in "io event 0" "io event 1" "worker 0" "worker 2"; do
	check "its metrics show the CPU time of the thread $name" \
		thread "$name" dart_controller_thread_cpu_seconds_total
done
check "the agents of an I/O thread" thread "io event 1" dart_controller_thread_agents
check "and the queue of a worker" thread "worker 2" dart_controller_worker_queued_scrapes
no_thread() {
	! thread "$@"
}
check "which an I/O thread has not" no_thread "io event 1" dart_controller_worker_queued_scrapes

check "GET does not reload" answered 405 "$at/-/reload"
check "a web page cannot ask for a reload" answered 403 -X POST -H "Origin: http://x.example" \
	"$at/-/reload"
check "nor by another name" answered 403 -X POST -H "Host: x.example" "$at/-/reload"
check "nor a peer beyond a proxy" answered 403 -X POST -H "X-Forwarded-For: 192.0.2.7" \
	"$at/-/reload"
check "nothing was read again" metric dart_controller_config_reloads_total 0
check "the first configuration was taken" metric \
	dart_controller_config_last_reload_successful 1

configure "interval: 2s" "flow: {control: nothing}"
check "a configuration with a mistake is refused" answered 400 -X POST "$at/-/reload"
check "with the line of the mistake" says "c.yaml:5: .*nothing has changed"
check "the last reload has failed" metric dart_controller_config_last_reload_successful 0
check "and is counted" metric dart_controller_config_reloads_refused_total 1
kill -HUP "$controller"
check "a reload by a signal is counted as well" soon metric \
	dart_controller_config_reloads_refused_total 2
configure "interval: 2s"
check "without the mistake it is taken" answered 200 -X POST "$at/-/reload"
check "the last reload has worked" soon metric dart_controller_config_last_reload_successful 1
check "it has been read again" grep -q "c.yaml: read again (agents: 1, sources: 0)" "$scratch/log"
configure "  - {remote_write: 'http://127.0.0.1:9/', token_file: $scratch/none}" "interval: 2s"
check "a configuration whose receiver lacks its token is valid" answered 200 -X POST "$at/-/reload"
check "the receivers stay as they were" soon grep -q "receivers stay as they were" "$scratch/log"
check "the last reload has not worked" soon metric dart_controller_config_last_reload_successful 0
configure "interval: 2s"
check "without the receiver it is taken" answered 200 -X POST "$at/-/reload"
check "the last reload has worked again" soon metric \
	dart_controller_config_last_reload_successful 1
check "it is healthy all the time" answered 200 "$at/-/healthy"

pages() {
	local resident

	curl -s "$at/-/metrics" >"$scratch/own"
	curl -s "$at/metrics" >"$scratch/all"
	resident=$(awk '/^process_resident_memory_bytes/ { printf "%d", $2 / 1024 }' "$scratch/own")
	awk -v resident="$resident" '/VmRSS/ { exit !($2 / 2 < resident && resident < $2 * 2) }' \
		"/proc/$controller/status"
}
check "its own metrics have its memory" pages
check "and its version" grep -q 'dart_controller_build_info{version="[0-9.]*"} 1 ' "$scratch/own"
check "they have no agent" sh -c "! grep -q instance= '$scratch/own'"
check "the page of all agents has them as well" grep -q "^process_cpu_seconds_total " "$scratch/all"
if command -v promtool >/dev/null; then
	check "promtool takes the page" sh -c "promtool check metrics <'$scratch/own'"
fi
end_processes "$controller"

# Peers on other hosts need the token; programs of this host do not.
own=$(hostname -I | tr ' ' '\n' | grep -m 1 '\.')
openssl rand -hex 16 >"$scratch/token"
sed -i "s|listen: '127.0.0.1:$port'|listen: ':$port', token_file: $scratch/token|" "$scratch/c.yaml"
dart-controller --config "$scratch/c.yaml" 2>"$scratch/log" &
controller=$!
check "health needs no token" soon answered 200 "$at/-/healthy"
check "metrics of the controller do" answered 401 "$at/-/metrics"
check "a program of this host may reload without a token" answered 200 -X POST "$at/-/reload"
if [ -n "$own" ]; then
	check "another host may not" answered 403 -X POST "$own:$port/-/reload"
	check "it may with the token" answered 200 -X POST \
		-H "Authorization: Bearer $(cat "$scratch/token")" "$own:$port/-/reload"
fi
finish
