#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A replay shows the recorded scrapes unchanged: the same lines, from files that are whole,
# cut, damaged or left by a killed controller.
# shellcheck disable=SC2016 # variables of jq
. "$(dirname "$0")/../lib.sh"
lib=$(cd "$(dirname "$0")/../lib" && pwd)

dir=/run/recordings
mkdir -p $dir

# lines FILE: the samples among lines of JSON, unchanged
lines() {
	grep -v -e '"summary":' -e '"error":' "$1"
}

# same_lines LIVE REPLAYED: are the samples of both the same to the byte?
same_lines() {
	lines "$1" >/run/one
	lines "$2" >/run/other
	wc -l /run/one /run/other
	[ -s /run/one ] && cmp /run/one /run/other
}

# begins LIVE REPLAYED: are the lines of REPLAYED the first lines of LIVE, but not all?
begins() {
	lines "$1" >/run/one
	lines "$2" >/run/other
	wc -l /run/one /run/other
	[ -s /run/other ] && [ "$(wc -l </run/other)" -lt "$(wc -l </run/one)" ] &&
		head -n "$(wc -l </run/other)" /run/one | cmp - /run/other
}

# replay FILE...: as fast as possible to /run/replayed; its exit status and messages
replay() {
	dart-controller replay --json --speed max "$@" >/run/replayed 2>/run/said
}

# fails_with COUNT TEXT COMMAND...: the command fails with one sentence
fails_with() {
	fails_count=$1 fails_text=$2
	shift 2
	"$@" && return 1
	cat /run/said
	[ "$(grep -c . /run/said)" = "$fails_count" ] && grep -q -e "$fails_text" /run/said
}

rdma_up
check "the agent starts" on host host_up
check "cgroups and namespaces are made on the host" on host many_objects 15 5
check "the whole host is registered" on host dartctl register host --gather 1s

check "a controller records 20 scrapes while it prints them" sh -c \
	"dart-controller --json -i 100ms -n 20 --record $dir/a host >/run/live 2>/run/log; cat /run/log; grep ': 20 scrapes recorded, 0 dropped' /run/log"
bytes=$(gojq -s 'map(.bytes // 0) | max' /run/live)
stored=$(stat -c %s $dir/a)
check "a scrape of $bytes bytes takes $((stored / 20)) in the file, with its part of the table" \
	[ $((stored / 20)) -lt $((bytes / 4)) ]
check "they are replayed" replay $dir/a
check "as the same lines: values, times and names" same_lines /run/live /run/replayed
check "nothing is said about a recording that is whole" [ ! -s /run/said ]
check "with more workers as well" sh -c \
	"dart-controller replay --json --speed max $dir/a >/run/again && cmp /run/again /run/replayed"

check "a dump as JSON is the same" sh -c \
	"dart-controller dump --format json $dir/a | cmp - /run/replayed"
check "a dump as CSV has a line for each value" sh -c \
	"dart-controller dump $dir/a >/run/csv; head -n 3 /run/csv;
	 [ \"\$(head -n 1 /run/csv)\" = agent,sequence,time_ns,entry,copy,field,element,value ] &&
	 [ \$(wc -l </run/csv) -gt 10000 ]"
# The values of CPU 0 in each scrape.
gojq -r '.sequence as $s | .time_ns as $t | .entries | to_entries[] |
	select(.value.copies == "cpu") | .key as $entry | .value.cpus[0] | to_entries[] |
	select(.value | type == "number") |
	"\"host:4792\",\($s),\($t),\($entry),0,\(.key),,\(.value)"' /run/replayed | sort >/run/of_json
check "with the values of the JSON, $(wc -l </run/of_json) of CPU 0" sh -c \
	"[ -s /run/of_json ] && sort /run/csv | comm -23 /run/of_json - | head | tee /run/missing; [ ! -s /run/missing ]"
check "the table takes a replay as well" sh -c \
	"COLUMNS=100 dart-controller replay --speed max $dir/a >/run/table && grep -q cpustat /run/table"

from=$(gojq -s '.[5].time_ns' /run/replayed)
to=$(gojq -s '.[9].time_ns' /run/replayed)
seconds() { echo "@$(($1 / 1000000000)).$(printf %09d $(($1 % 1000000000)))"; }
check "a part is replayed by its times" sh -c \
	"dart-controller replay --json --speed max --from $(seconds "$from") --to $(seconds "$to") $dir/a |
	 gojq -c .sequence | tr '\n' ' ' | grep -x '6 7 8 9 '"
start=$(date +%s%N)
check "a replay at its own speed prints the same" sh -c \
	"dart-controller replay --json $dir/a | cmp - /run/replayed"
took=$((($(date +%s%N) - start) / 1000000))
check "and takes as long as the recording did, $took ms" [ $took -ge 1500 ]

# Metrics of the recording: names, values and times, at each output.
check "a dump as OpenMetrics has an end" sh -c \
	"dart-controller dump --format openmetrics $dir/a >/run/text && tail -n 1 /run/text | grep -qx '# EOF'"
check "and each family once" sh -c \
	'[ $(grep -c "^# TYPE" /run/text) -ge 200 ] && [ -z "$(grep "^# TYPE" /run/text | sort | uniq -d)" ]'
memory='node_memory_MemTotal_bytes{instance="host:4792"}'
check "a gathered value is there once for each time that it was gathered" sh -c \
	"grep -F '$memory' /run/text; [ \$(grep -cF '$memory' /run/text) -ge 2 ] &&
	 [ -z \"\$(grep -F '$memory' /run/text | cut -d ' ' -f 3 | uniq -d)\" ]"

# last_of FILE: the value and time of the last line with the memory
last_of() {
	grep -F "$memory" "$1" | tail -n 1 | cut -d ' ' -f 2-
}
dart-controller replay --speed max --listen --web $dir/a >/run/values 2>/run/log &
controller=$!
check "a replay that is looked at stays when all is replayed" soon grep -q 'all is replayed' /run/log
check "it serves the last values, with their times" sh -c \
	"python3 '$lib/fetch.py' /metrics 'Accept: application/openmetrics-text' >/run/page 2>/dev/null; grep -F '$memory' /run/page"
check "which equal the dump's" [ "$(last_of /run/page)" = "$(last_of /run/text)" ]
check "the host was up then" sh -c \
	"[ \$(grep -F 'dart_up{' /run/page | cut -d ' ' -f 2) = 1 ] &&
	 [ \$(grep -F 'dart_up{' /run/page | cut -d ' ' -f 3 | cut -d . -f 1) = $(gojq -s '.[-1].time_ns / 1000000000 | floor' /run/replayed) ]"
check "the page shows the host as it was, not as late" sh -c \
	"PORT=4795 python3 '$lib/fetch.py' /api/hosts 2>/dev/null | tee /run/hosts | gojq -e '.hosts[0].row[1] == \"up\"'"
kill $controller
check "until it is told to end" wait $controller

coproc python3 "$lib/receiver.py" 9001 /run/9001 503 2>/run/9001.log
one=$COPROC_PID
read -r <&"${COPROC[0]}"
coproc python3 "$lib/receiver.py" 9002 /run/9002 2>/run/9002.log
other=$COPROC_PID
read -r <&"${COPROC[0]}"
check "a replay is pushed to receivers, even to one that fails at first" sh -c \
	"dart-controller replay --speed max --remote-write http://127.0.0.1:9001/w --influx http://127.0.0.1:9002 $dir/a 2>/run/log; status=\$?; cat /run/log; [ \$status = 0 ] && ! grep -E '[1-9][0-9]* (samples )?dropped' /run/log"
kill "$one" "$other"
# Names and values equal the dump's; buckets of histograms are separate series. Only
# receivers get a sample "up" with each scrape.
samples=$(grep -vc '^#' /run/text)
check "remote write has all $samples samples of the dump" \
	[ "$(grep -vcE '^(dart_)?up[{ ]' /run/9001)" = "$samples" ]
check "with the times of the recording" sh -c \
	"[ \"\$(grep '^node_memory_MemTotal_bytes' /run/9001 | tail -n 1 | cut -d ' ' -f 3)\" = $(last_of /run/text | awk '{ printf "%.0f", int($2 * 1000) }') ]"
check "InfluxDB has at least as many" [ "$(wc -l </run/9002)" -ge "$samples" ]

# A reader that takes nothing before it is told to, and then all.
mkfifo /run/pipe /run/go
{ read -r _ </run/go; cat; } </run/pipe >/run/late &
reader=$!
dart-controller --json -i 20ms host >/run/pipe 2>/run/log &
controller=$!
check "an output that is not read fills up" soon grep -q 'is read too slowly' /run/log
echo go >/run/go
kill $controller
check "the controller ends" wait $controller
wait $reader
check "its last line is whole: $(wc -l </run/late) lines" sh -c \
	'cat /run/log; [ -z "$(tail -c 1 /run/late)" ] && tail -n 1 /run/late | gojq -c .sequence'

size=$(stat -c %s $dir/a)
head -c $((size / 2)) $dir/a >$dir/cut
check "a truncated file is reported in one sentence, and fails" \
	fails_with 1 'is cut off' replay $dir/cut
head -c $((size - 3)) $dir/a >$dir/cut
check "also at its end" fails_with 1 'is cut off' replay $dir/cut
refuse "a file that is no recording is refused" "is not a recording" \
	dart-controller replay /proc/self/exe
refuse "a recording is not overwritten" "exists: remove it" \
	dart-controller record $dir/a host
refuse "nor is any other file" "exists and is not a recording" \
	dart-controller record /etc/passwd host

dart-controller record $dir/killed --json -i 100ms host >/run/live 2>/run/log &
controller=$!
log=/run/log
two_chunks() {
	grep -q -a RDCk "$dir/killed" && [ "$(lines /run/live | wc -l)" -ge 70 ]
}
check "a controller records until it is killed" soon two_chunks
kill -9 $controller
wait $controller 2>/dev/null
replay $dir/killed
check "the rest is read: $(lines /run/replayed | wc -l) of $(lines /run/live | wc -l) scrapes" \
	begins /run/live /run/replayed

# The agent is lost and comes back, with another table.
dart-controller record $dir/b --json -i 100ms host >/run/live 2>/run/log &
controller=$!
check "a controller only records" soon grep -q '"sequence":9,' /run/live
check "the agent stops" on host host_down
check "which the recorder notices" soon grep -q '"error":' /run/live
check "the agent starts again" on host host_up
check "and has entries again" on host dartctl register host --gather 1s
is_back() { tail -n 1 /run/live | grep -q '"cpustat[+"]'; }
check "which are recorded again" soon is_back
kill $controller
wait $controller
check "the recorder ends with 0" [ $? = 0 ]
replay $dir/b
check "all tables are replayed, in one go" same_lines /run/live /run/replayed
# losses FILE: without the lines that say in each interval that the agent is still lost
losses() {
	grep -h '"error":' "$1" | grep -v '"up":0'
}
losses /run/live >/run/one
losses /run/replayed >/run/other
check "with the loss between them" sh -c 'test -s /run/one && cmp /run/one /run/other'

# Values that no recording can make smaller: 64 KiB at random, which change many times a second.
check "the host has a map of values at random" on host sh -ec '
	bpftool map create /sys/fs/bpf/noise type array key 4 value 8 entries 8192 name noise flags 1024
	dartctl map add name noise as noise'
check "which change" on host until_ready /run/noise.log "$lib/noise.py" /sys/fs/bpf/noise
check "a recording of several files is made" sh -c \
	"timeout 120 dart-controller record $dir/c --record-size 1M --record-files 3 -i 100ms -n 40 -e noise host 2>/run/log; cat /run/log; grep ' scrapes recorded, ' /run/log"
on host pkill -f noise.py
check "of three, none above its size" sh -c \
	"stat -c '%s %n' $dir/c $dir/c.* | tee /run/sizes; [ \$(awk '\$1 > 500000 && \$1 <= 1048576 { print \$2 }' /run/sizes | wc -l) -ge 2 ] && [ \$(wc -l </run/sizes) = 3 ]"
recorded=$(sed -n 's/.*: \([0-9]*\) scrapes recorded.*/\1/p' /run/log)
replay $dir/c*
seq "$recorded" >/run/one
grep -o '"sequence":[0-9]*' /run/replayed | cut -d : -f 2 >/run/other
check "all of them together have the $recorded scrapes, in order" cmp /run/one /run/other
check "the host is unregistered" on host dartctl unregister host
check "the agent stops in the end" on host host_down
finish
