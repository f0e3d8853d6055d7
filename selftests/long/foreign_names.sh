#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Names of any bytes, which ordinary users give to cgroups, are UTF-8 without control
# characters in each output of a controller, the same in all, and two names are two series.
. "$(dirname "$0")/../lib.sh"
lib=$(cd "$(dirname "$0")/../lib" && pwd)
root=/sys/fs/cgroup/user.slice/mine

# Names that a user gives to cgroups, and the label of each.
names=(
	$'x\xe9'		'x\xe9'
	'x\xe9'			'x\x5cxe9'
	$'caf\xc3\xa9'		$'caf\xc3\xa9'
	$'overlong\xc0\xaf'	'overlong\xc0\xaf'
	$'surrogate\xed\xa0\x80' 'surrogate\xed\xa0\x80'
	$'beyond\xf4\x90\x80\x80' 'beyond\xf4\x90\x80\x80'
	$'cut\xf0\x9f\x98'	'cut\xf0\x9f\x98'
	$'steer\e[2J\x7f\xc2\x9b' 'steer\x1b[2J\x7f\xc2\x9b'
	$'tab\tbed'		'tab\x09bed'
	'serial\x2dgetty'	'serial\x2dgetty'
	end\\			'end\x5c'
	'a "b", c=d'		'a "b", c=d'
)

# make_cgroups: as uid 1000, in a cgroup delegated to it
make_cgroups() {
	mkdir -p "$root"
	echo +memory +pids >/sys/fs/cgroup/cgroup.subtree_control
	echo +memory +pids >/sys/fs/cgroup/user.slice/cgroup.subtree_control
	chown -R 1000:1000 "$root"
	for ((i = 0; i < ${#names[@]}; i += 2)); do
		setpriv --reuid 1000 --regid 1000 --clear-groups \
			mkdir "$root/${names[i]}" || return
	done
}

# plain FILE: the file is UTF-8 without control characters except line feeds
plain() {
	[ -s "$1" ] && iconv -f UTF-8 -t UTF-8 "$1" >/dev/null &&
		! LC_ALL=C grep -n -a -P '[\x00-\x08\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$1"
}

# labelled FILE FORM: FILE contains each name at least once, in the form of its labels
labelled() {
	local i label missing

	for ((i = 1; i < ${#names[@]}; i += 2)); do
		label=/user.slice/mine/${names[i]}
		"$2"
		echo "$label"
	done >/run/labels
	LC_ALL=C sort -o /run/labels /run/labels
	missing=$(LC_ALL=C grep -a -o -F -f /run/labels "$1" | LC_ALL=C sort -u |
		LC_ALL=C comm -13 - /run/labels)
	echo "missing: $missing"
	[ -s /run/labels ] && [ -z "$missing" ]
}

# As the text formats print a label.
text() {
	label=${label//\\/\\\\}
	label=\"${label//\"/\\\"}\"
}

influx() {
	label=${label// /\\ }
	label=${label//,/\\,}
	label="=${label//=/\\=},"
}

receiver() {
	label=\"$label\"
}

# The page contains the text of a series as a string of JSON.
page() {
	text
	label=${label//\\/\\u005c}
	label=${label//\"/\\u0022}
}

# eventually COMMAND...: limited by the timeout of the test
eventually() {
	until "$@" >/dev/null 2>&1; do
		sleep 0.2
	done
}

# get ACCEPT PATH FILE
get() {
	curl -s -f -H "Accept: $1" "http://127.0.0.1:4794$2" >"$3" && [ -s "$3" ]
}

receivers=()
receive() {
	rm -f "/run/$1"
	coproc python3 "$lib/receiver.py" "$1" "/run/$1" "${@:2}" 2>"/run/$1.log"
	receivers+=("$COPROC_PID")
	read -r <&"${COPROC[0]}"
}

# served: the page shows all cgroups, with values
served() {
	get text/plain /metrics /run/text && labelled /run/text text
}

received() {
	[ -s "/run/$1" ] && labelled "/run/$1" "$2"
}

printf 'allow: {callers: [10.77.0.0/24]}\n' >/run/agent.yaml
printf 'h\xe9st' >/proc/sys/kernel/hostname
check "a user makes cgroups of any names" make_cgroups
check "a network device has a name of any bytes" ip link add $'b\xe9d' type dummy
check "dartd starts" host_up --config=/run/agent.yaml
check "cgroups are followed" dartctl register source cgroup:cpu --all-cgroups /user.slice \
	--gather 1s
check "network devices are followed" dartctl register source netdev:link --all-netdevs --gather 1s
receive 9001
receive 9002 415 415
receive 9003
cat >/run/controller.yaml <<-'END'
	interval: 8s
	agents: [{host: localhost, labels: {place: "a\nb\\"}}]
	outputs:
	  - {remote_write: "http://127.0.0.1:9001/w", delay: 500ms}
	  - {remote_write: "http://127.0.0.1:9002/w", delay: 500ms}
	  - {influx: "http://127.0.0.1:9003", delay: 500ms}
END
dart-controller --config /run/controller.yaml --json --listen=127.0.0.1:4794 \
	--web=127.0.0.1:4795 --record /run/recording --socket /run/controller.socket >/run/json 2>/run/log &
controller=$!
check "the Prometheus format has each name" eventually served
check "it is UTF-8" plain /run/text
check "OpenMetrics is served" get 'application/openmetrics-text;version=1.0.0' \
	/metrics /run/open
check "OpenMetrics has each name" labelled /run/open text
check "OpenMetrics is UTF-8" plain /run/open
check "Prometheus' own checker reads it" sh -c \
	'! command -v promtool || promtool check metrics </run/text'
check "the device has its name" grep -q -F 'device="b\\xe9d"' /run/text
check "the host has its name" grep -q -F 'node_name="h\\xe9st"' /run/text
check "a label of the target has neither a line feed nor a backslash at the end" \
	grep -q -F 'place="a\\x0ab\\x5c"' /run/text
check "no series is left out for the name of another" \
	grep -q '^dart_scrape_dropped_series{[^}]*} 0' /run/text
check "no series is there twice" sh -c \
	'! sed "s/ [^ ]*\$//" /run/open | grep -v "^#" | sort | uniq -d | grep .'
check "service discovery is served" get application/json /sd /run/sd
check "it has the label" grep -q -F 'a\\x0ab\\x5c' /run/sd
check "service discovery is UTF-8" plain /run/sd
check "remote write 2.0 sends each name" eventually received 9001 receiver
check "it is UTF-8 there" plain /run/9001
check "remote write 1.0 sends each name" eventually received 9002 receiver
check "it is UTF-8 there" plain /run/9002
check "InfluxDB gets each name" eventually received 9003 influx
check "its lines are UTF-8" plain /run/9003
check "the page has the series" sh -c \
	'curl -s -f "http://127.0.0.1:4795/api/series?target=localhost:4792" >/run/page'
check "the page has each name" labelled /run/page page
check "the page is UTF-8" plain /run/page
check "the control socket answers" sh -c 'dart-controller status --json --socket /run/controller.socket >/run/status'
check "its answer is UTF-8" plain /run/status
kill $controller
check "the controller ends" wait $controller
check "lines of JSON are ASCII" plain /run/json
check "its messages are UTF-8" plain /run/log
check "the recording is dumped" sh -c \
	'dart-controller dump --format openmetrics /run/recording >/run/dump'
check "the dump has each name" labelled /run/dump text
check "the dump is UTF-8" plain /run/dump
check "the recording is dumped as CSV" sh -c \
	'dart-controller dump --format csv /run/recording >/run/csv'
check "CSV is UTF-8" plain /run/csv
check "dartctl lists entries as UTF-8" sh -c \
	'dartctl list >/run/list && dartctl -j list >/run/list.json'
check "the list steers no terminal" plain /run/list
check "the list is plain JSON" plain /run/list.json
check "a message that quotes a name steers no terminal" sh -c \
	'! dartctl show "$(printf "x\\351\\033[2J")" 2>/run/message'
check "it has the escape" grep -q -F 'x\xe9\x1b[2J' /run/message
bpftool map create $'/sys/fs/bpf/map\xe9' type array key 4 value 8 entries 1 name plain \
	flags 1024
refuse "a map pinned at a path that dartd cannot keep is refused with the path" \
	'/map.xe9' dartctl register map $'/sys/fs/bpf/map\xe9'
check "dartd's log is UTF-8" plain /run/dartd.log
kill "${receivers[@]}"
finish
