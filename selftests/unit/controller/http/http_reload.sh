#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The servers of metrics and of the page when the configuration is read again: their successors
# listen first, and settings that cannot be used change nothing and are said.
. "$(dirname "$0")/../../../lib.sh"
PATH=$tests/../.output/bin:$PATH
command -v curl >/dev/null || skip "curl is not installed (Debian package curl)"
scratch=$(mktemp -d)
controller=
other=
trap 'end_processes "$controller" "$other"; rm -rf "$scratch"' EXIT
metrics=14896
moved=14897
page=14898
taken=14899

# configure LINE...: the controller has these outputs from now on
configure() {
	{
		printf '%s\n' "agents: [{host: 192.0.2.1}]" "outputs:"
		[ $# -eq 0 ] || printf '  - %s\n' "$@"
	} | sed '$!b; s/^outputs:$/outputs: []/' >"$scratch/new.yaml"
	mv "$scratch/new.yaml" "$scratch/c.yaml"
}

# reload LINE...
reload() {
	configure "$@"
	kill -HUP "$controller"
}

# answered STATUS OPTION...
answered() {
	local status=$1

	shift
	[ "$(curl -s -o "$scratch/page" -w '%{http_code}' -m 10 "$@")" = "$status" ]
}

# Nobody listens there.
is_closed() {
	answered 000 "$1"
}

# status FILTER: jq says that it is true of the status
status() {
	dart-controller status -j --socket "$scratch/socket" | jq -e "$1" >/dev/null
}

# asks_on PORT...: asks at these ports in turn, until one answers: counts when none of them does
asks_on() {
	local port failed=0

	while [ -e "$scratch/asking" ]; do
		for port in "$@"; do
			curl -s -o /dev/null -m 10 "127.0.0.1:$port/-/healthy" && continue 2
		done
		failed=$((failed + 1))
	done
	echo "$failed" >"$scratch/failed"
}

configure "{listen: '127.0.0.1:$metrics'}" "{web: '127.0.0.1:$page'}"
dart-controller --config "$scratch/c.yaml" --socket "$scratch/socket" 2>"$scratch/log" &
controller=$!
check "metrics are served" soon answered 200 "127.0.0.1:$metrics/metrics"
check "and the page is" soon answered 200 "127.0.0.1:$page/"
check "the status shows where" soon status "[.outputs[] | select(.output == \"listen\" or
	.output == \"web\") | [.to, .failing]] ==
	[[\"http://localhost:$metrics/\", false], [\"http://localhost:$page/\", false]]"

touch "$scratch/asking"
asks_on "$metrics" "$moved" &
asking=$!
reload "{listen: '127.0.0.1:$moved'}" "{web: '127.0.0.1:$page'}"
check "at another address metrics are served after a reload" \
	soon answered 200 "127.0.0.1:$moved/metrics"
check "and no longer at the one before" soon is_closed "127.0.0.1:$metrics/metrics"
rm "$scratch/asking"
wait "$asking"
check "meanwhile one of them always answered" [ "$(cat "$scratch/failed")" = 0 ]
check "the status shows the new one" soon status "[.outputs[] | select(.output == \"listen\")] |
	.[0].to == \"http://localhost:$moved/\""
check "that is said" grep -q "listen: now at http://localhost:$moved/" "$scratch/log"
check "the page was not touched" answered 200 "127.0.0.1:$page/"

reload "{listen: ':$moved', names: [metrics.example]}" "{web: '127.0.0.1:$page'}"
named() {
	answered 200 -H "Host: metrics.example" "127.0.0.1:$moved/metrics"
}
check "all addresses and a name more are taken at the port of the one before" soon named

python3 -c '
import socket, sys, time
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
time.sleep(600)' "$taken" &
other=$!
takes() {
	ss -ltn "sport = :$taken" | grep -q LISTEN
}
check "another program listens" soon takes
reload "{listen: '127.0.0.1:$taken'}" "{web: '127.0.0.1:$taken'}"
failed_for() {
	status "[.outputs[] | select(.output == \"$1\")] | .[0] |
		.failing and (.error | test(\"cannot listen at '127.0.0.1:$taken'\"))"
}
check "its address cannot be had, which the status says of metrics" soon failed_for listen
check "and of the page" soon failed_for web
check "the log says where they stay" grep -q \
	"web: cannot listen at .*it stays as it was, at http://localhost:$page/" "$scratch/log"
check "metrics are served on" named
check "and so is the page" answered 200 "127.0.0.1:$page/"
check "its metrics say that the last settings could not be used" grep -q \
	"^dart_controller_output_failing{output=\"listen\",to=.*} 1" <(
		curl -s "127.0.0.1:$moved/-/metrics")

reload "{listen: ':$moved'}" "{web: '0.0.0.0:$page'}"
refused_page() {
	status "[.outputs[] | select(.output == \"web\")] | .[0] | .failing and
		(.error | test(\"could be seen by other hosts\"))"
}
check "the page is not shown to other hosts without a token" soon refused_page
check "it goes on for this host" answered 200 "127.0.0.1:$page/"

reload "{listen: ':$moved'}"
check "a page that is not configured any more ends" soon is_closed "127.0.0.1:$page/"
check "metrics go on" answered 200 "127.0.0.1:$moved/metrics"
reload "{listen: ':$moved'}" "{web: '127.0.0.1:$page', user: u, password_file: $scratch/p}"
check "a password that cannot be read keeps it closed" soon grep -q "web: .*$scratch/p" \
	"$scratch/log"
check "nobody sees it" is_closed "127.0.0.1:$page/"
echo secret >"$scratch/p"
reload "{listen: ':$moved'}" "{web: '127.0.0.1:$page', user: u, password_file: $scratch/p}"
check "with it the page is back" soon answered 200 -u u:secret "127.0.0.1:$page/api/hosts"
check "for those who know the password" answered 401 "127.0.0.1:$page/api/hosts"
check "the status shows no fault" soon status "[.outputs[] | .failing] | any | not"
check "the controller ends" kill "$controller"
wait "$controller"
check "with status 0" [ $? = 0 ]
controller=
finish
