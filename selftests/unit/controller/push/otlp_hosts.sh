#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The samples of many hosts arrive by OTLP/HTTP as they do by remote write, and as the page shows
# them; the receivers fail at first.
. "$(dirname "$0")/../../../lib.sh"
bin=$tests/../.output/bin
helpers=$tests/../.output/selftests/helpers
[ -x "$bin/dart-controller" ] || skip "make programs has not been run"
[ -x "$helpers/fleet_hosts" ] || skip "make guest has not been run"
command -v openssl >/dev/null || skip "openssl is not installed"
hosts=40
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT

# receive NAME STATUS...: a receiver that writes $dir/NAME; its port is then in $port
receive() {
	local name=$1
	shift
	port=$("$tests/free_ports")
	mkfifo "$dir/$name.ready"
	python3 "$tests/lib/receiver.py" "$port" "$dir/$name" "$@" >"$dir/$name.ready" \
		2>"$dir/$name.log" &
	read -r <"$dir/$name.ready"
}

# have COUNT: series of COUNT hosts reached both receivers
have() {
	local name
	for name in otlp remote_write; do
		[ -e "$dir/$name" ] && [ "$(grep -o '^dart_fleet_row_host{[^}]*' "$dir/$name" |
			sort | uniq -c | awk '$1 >= 5' | wc -l)" = "$1" ] || return
	done
}

# are_held: all hosts are lost
are_held() {
	! curl -sf "http://127.0.0.1:$listen/metrics" | grep '^dart_up{.* 1 '
}

# lost_nothing URL: so the controller says at its end
lost_nothing() {
	grep "$1: [0-9]* samples sent, 0 refused, 0 dropped, 0 not expressible, 0 too old" "$dir/said"
}

"$helpers/tls_files" "$dir" 127.0.0.1 controller >/dev/null
first=$("$tests/free_ports" $hosts)
mkfifo "$dir/ready"
"$helpers/fleet_hosts" "$dir" "$first" $hosts 0 1 500 >"$dir/ready" &
fleet=$!
check "$hosts hosts serve over TCP" read -r <"$dir/ready"
receive otlp 0 503 429
otlp=$port
receive remote_write 503
remote_write=$port
listen=$("$tests/free_ports")
seq "$first" $((first + hosts - 1)) | gojq -cs \
	'[{targets: map("127.0.0.1:\(.)"), labels: {rack: "a7", "deployment.environment.name": "test"}}]' \
	>"$dir/hosts.json"
cat >"$dir/config.yaml" <<-END
	interval: 500ms
	transport: tcp
	tls: {certificate: $dir/controller.pem, key: $dir/controller.key,
	  authorities: $dir/authority.pem}
	sources: [{file_sd: $dir/hosts.json}]
	outputs:
	  - otlp: http://127.0.0.1:$otlp
	    delay: 1s
	  - remote_write: http://127.0.0.1:$remote_write/
	    delay: 1s
	    version: 2
	  - listen: 127.0.0.1:$listen
END
"$bin/dart-controller" --config "$dir/config.yaml" --socket "$dir/socket" \
	>/dev/null 2>"$dir/said" &
controller=$!
check "both receivers get the samples of all hosts" soon have $hosts
check "the page shows them" curl -sf -o "$dir/page1" "http://127.0.0.1:$listen/metrics"
kill -USR1 $fleet
check "no host answers any more, and their series end" soon are_held
kill $controller
check "the controller ends" wait $controller
check "OTLP refused, dropped and left out nothing" lost_nothing "http://127.0.0.1:$otlp"
check "its receiver could decode everything" [ ! -s "$dir/otlp.log" ]
check "each sample of $hosts hosts is the same by OTLP, by remote write and on the page" \
	"$tests/lib/otlp_agrees.py" "$dir/otlp" "$dir/remote_write" "$dir/page1"
check "ends of series are among them" grep -q '^dart_fleet_row_host{.* stale ' "$dir/otlp"
check "a label with a dot in its name arrives" grep -qF \
	'deployment.environment.name="test"' "$dir/otlp"
sed -i '0,/ 1\.0 /s// 1.5 /' "$dir/otlp"
check "another value would have been found" sh -c \
	'! "$@" | grep -q "1.5, not 1.0"; [ $? = 1 ]' sh \
	"$tests/lib/otlp_agrees.py" "$dir/otlp" "$dir/remote_write" "$dir/page1"
finish
