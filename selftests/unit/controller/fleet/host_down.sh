#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A host that is configured and never comes up is told as down by every output, again and again.
. "$(dirname "$0")/../../../lib.sh"
bin=$tests/../.output/bin
[ -x "$bin/dart-controller" ] || skip "make programs has not been run"
command -v openssl >/dev/null || skip "openssl is not installed"
dir=$(mktemp -d)
log=$dir/log
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT

# receive NAME: a receiver that writes $dir/NAME; its port is then in $port
receive() {
	port=$("$tests/free_ports")
	mkfifo "$dir/$1.ready"
	python3 "$tests/lib/receiver.py" "$port" "$dir/$1" >"$dir/$1.ready" 2>"$dir/$1.log" &
	read -r <"$dir/$1.ready"
}

# has FILE COUNT PATTERN: at least COUNT lines of FILE match PATTERN
has() {
	[ -e "$dir/$1" ] && [ "$(grep -c -- "$3" "$dir/$1")" -ge "$2" ]
}

# grows FILE PATTERN: the times, which are the last numbers, grow
grows() {
	grep "$2" "$dir/$1" | awk '{ print $NF }' | sort -nuC
}

answer() {
	curl -s -o "$dir/page" -w '%{http_code}' "http://127.0.0.1:$listen/metrics$1"
}

host_port=$("$tests/free_ports")
host=127.0.0.1:$host_port
mkdir "$dir/tls"
"$tests/../.output/selftests/helpers/tls_files" "$dir/tls" controller >/dev/null
receive remote_write
remote_write=$port
receive influx
influx=$port
listen=$("$tests/free_ports")
cat >"$dir/config.yaml" <<-END
	agents: [{host: 127.0.0.1, port: $host_port, labels: {rack: a7}}]
	outputs:
	  - remote_write: http://127.0.0.1:$remote_write/
	    delay: 0s
	  - influx: http://127.0.0.1:$influx
	    delay: 0s
	  - listen: 127.0.0.1:$listen
END
"$bin/dart-controller" --config "$dir/config.yaml" --transport tcp --json \
	--socket "$dir/socket" --tls-certificate "$dir/tls/controller.pem" \
	--tls-key "$dir/tls/controller.key" --tls-authorities "$dir/tls/authority.pem" \
	>"$dir/json" 2>"$log" &
controller=$!
labels="instance=\"$host\",job=\"dart\",rack=\"a7\""
for series in up dart_up; do
	check "remote write has $series as 0 three times" \
		soon has remote_write 3 "^$series{$labels} 0.0 "
	check "its times grow" grows remote_write "^$series{"
	check "InfluxDB has $series as 0 three times" \
		soon has influx 3 "^$series,instance=$host,job=dart,rack=a7 value=0 "
	check "a line of JSON has $series as 0 three times, and the reason" \
		soon has json 3 "\"$series\":0,.*\"error\":\"cannot connect"
done
check "the page of this host is an answer 503" [ "$(answer "?target=$host")" = 503 ]
check "which says why" grep -q "^$host is lost: cannot connect" "$dir/page"
check "the page of all hosts is there" [ "$(answer "")" = 200 ]
check "with dart_up as 0" grep -q "^dart_up{instance=\"$host\",rack=\"a7\"} 0 " "$dir/page"
check "no output says anything but 0" sh -c "! grep -q -e '} 1\\.0 ' -e ' value=1 ' \
	'$dir/remote_write' '$dir/influx' && ! grep '\"up\":1' '$dir/json'"
sed -i "s/port: $host_port/port: 1/" "$dir/config.yaml"
check "the controller is told to reload without the host" kill -HUP $controller
check "a stale marker ends up" soon has remote_write 1 "^up{$labels} stale "
check "a stale marker ends dart_up" soon has remote_write 1 "^dart_up{$labels} stale "
kill $controller
check "the controller ends" wait $controller
finish
