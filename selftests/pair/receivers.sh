#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Metrics are pushed to receivers of remote write, of InfluxDB's line protocol and of OTLP/HTTP, which
# fail at first.  A scrape each five seconds: receivers in Python are slow in an emulated guest.
# shellcheck disable=SC2016 # variables of awk
. "$(dirname "$0")/../lib.sh"
lib=$(cd "$(dirname "$0")/../lib" && pwd)

# receive PORT STATUS...: the receiver writes /run/PORT
receivers=()
receive() {
	local port=$1
	shift
	rm -f "/run/$port"
	coproc python3 "$lib/receiver.py" "$port" "/run/$port" "$@" 2>"/run/$port.log"
	receivers+=("$COPROC_PID")
	read -r <&"${COPROC[0]}"
}

# has PORT COUNT PATTERN: at least COUNT lines match
has() {
	[ -e "/run/$1" ] && [ "$(grep -c "$3" "/run/$1")" -ge "$2" ]
}

# distinct PORT: no two lines share series and time; labels may contain blanks
distinct() {
	! sed 's/ [^ ]* \([0-9]*\)$/ \1/' "/run/$1" | sort | uniq -d | grep .
}

# says_up VALUE: by remote write, InfluxDB's protocol and OTLP, three times, as pushed
says_up() {
	for series in up dart_up; do
		has 9001 3 "^$series{$labels} $1" && has 9002 3 "^$series{$labels,site=\"north\"} $1" &&
			has 9004 3 "^$series,instance=host:4792,job=dart value=$1 " &&
			has 9006 3 "^$series{$labels} $1" || return
	done
}

labels='instance="host:4792",job="dart"'
total="^node_memory_MemTotal_bytes{$labels}"
rdma_up
check "the agent starts" on host host_up
check "the whole host is registered" on host dartctl register host --gather 1s
check "the host measures how long tasks wait for a CPU" on host dartctl probe load runqlat
memory=$(on host awk '/^MemTotal/ { printf "%.1f", $2 * 1024 }' /proc/meminfo)
receive 9001
receive 9002 415 415
receive 9003 0 503 503
receive 9004
receive 9005
receive 9006 503
# A few series, among them a histogram: decoding takes long in an emulated guest.
by_otlp='node_memory_Mem.*|dart_runqlat_.*|up|dart_up'
cat >/run/receivers.yaml <<-END
	interval: 5s
	agents: [{host: host}]
	outputs:
	  - remote_write: http://127.0.0.1:9001/api/v1/write
	    delay: 500ms
	  - remote_write: http://127.0.0.1:9002/api/v1/write
	    delay: 500ms
	    labels: {site: north}
	  - remote_write: http://127.0.0.1:9003/api/v1/write
	    delay: 500ms
	    spool: /run/spool
	  - influx: http://127.0.0.1:9004
	    delay: 500ms
	  - remote_write: http://127.0.0.1:9005/api/v1/write
	    delay: 500ms
	    write_relabel_configs:
	      - {source_labels: [__name__], regex: 'node_memory_Mem(Total|Free)_bytes', action: keep}
	      - {source_labels: [instance], regex: '(.*):.*', target_label: node}
	      - {regex: instance, action: labeldrop}
	  - otlp: http://127.0.0.1:9006
	    delay: 500ms
	    write_relabel_configs:
	      - {source_labels: [__name__], regex: '$by_otlp', action: keep}
END
mkdir -p /run/spool
log=/run/log
dart-controller --config /run/receivers.yaml >/run/values 2>/run/log &
controller=$!
check "a receiver of remote write 2.0 gets the memory of the host, three times" \
	soon has 9001 3 "$total $memory"
check "a receiver of 1.0 only gets it, too, with the label of its output" \
	soon has 9002 3 "^node_memory_MemTotal_bytes{$labels,site=\"north\"} $memory"
check "a receiver that fails at first gets everything later" soon has 9003 3 "$total $memory"
check "InfluxDB gets it" soon has 9004 3 \
	"^node_memory_MemTotal_bytes,instance=host:4792,job=dart value=${memory%.0}"
check "a receiver of OTLP gets it" soon has 9006 3 "$total $memory"
check "with a histogram" soon has 9006 3 '^dart_runqlat_latency_seconds_bucket{.*,le="+Inf"} '
check "no sample comes twice" distinct 9001
rewritten='{job="dart",node="host"}'
check "an output with rules gets the series that they keep, with other labels" \
	soon has 9005 3 "^node_memory_MemTotal_bytes$rewritten $memory"
check "and no others" sh -c '! grep -v "^node_memory_Mem\(Total\|Free\)_bytes$1 " /run/9005' \
	sh "$rewritten"
sed -i 's/Mem(Total|Free)/Mem(Total|Available)/' /run/receivers.yaml
check "the rules change by a reload" kill -HUP $controller
check "the series that the new rules drop ends" soon has 9005 1 \
	"^node_memory_MemFree_bytes$rewritten stale"
check "the series that only the new rules keep begins" soon has 9005 1 \
	"^node_memory_MemAvailable_bytes$rewritten "
check "the reload says nothing about other settings" \
	sh -c 'grep "read again (agents: 1, sources: 0)$" /run/log'
check "the series that both keep goes on" sh -c \
	'! grep "^node_memory_MemTotal_bytes.* stale" /run/9005'
check "up and dart_up are 1 in each of the four protocols" says_up 1
check "each scrape has hundreds of series" sh -c \
	'[ "$(awk "{ print \$1 }" /run/9001 | sort -u | wc -l)" -gt 300 ]'

check "the agent ends" on host host_down
check "the series of its host are marked as stale" soon has 9001 1 "$total stale"
check "by OTLP, too" soon has 9006 1 "$total stale"
check "then up and dart_up are 0 in each of the four protocols, again and again" soon says_up 0
check "no stale marker ends up or dart_up" sh -c '! grep "^\(dart_\)\?up{.* stale" /run/9001'
kill $controller
check "the controller ends" wait $controller
# The last samples of up may be at one of them only.
grep -E "^($by_otlp|#.*)[{ ]" /run/9006 | grep -Ev '^(dart_)?up\{' >/run/by_otlp
grep -E "^($by_otlp)\{" /run/9001 | grep -Ev '^(dart_)?up\{' >/run/by_remote_write
check "every sample came by OTLP as it came by remote write" \
	"$lib/otlp_agrees.py" /run/by_otlp /run/by_remote_write
check "its messages do not say that anything was dropped" sh -c \
	'cat /run/log; ! grep "are dropped" /run/log'
kill "${receivers[@]}"
refuse "an invalid URL is refused" "is not a URL (expected http:// or https://)" \
	dart-controller --remote-write localhost:9001 host
finish
