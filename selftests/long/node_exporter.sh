#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# node_exporter runs next to dartd, and one Prometheus scrapes both: the values of common families
# agree, and each family that only node_exporter serves is known.
# shellcheck disable=SC2016 # variables of other shells
. "$(dirname "$0")/../lib.sh"
lib=$(cd "$(dirname "$0")/../lib" && pwd)
document=$(cd "$(dirname "$0")/../.." && pwd)/Documentation/prometheus.md
seconds=90	# that are compared

for program in prometheus prometheus-node-exporter python3; do
	command -v $program >/dev/null || skip "$program is not installed"
done

# api QUERY: its first value, now
api() {
	python3 -c '
import json, sys, urllib.parse, urllib.request
url = "http://127.0.0.1:9090/api/v1/query?" + urllib.parse.urlencode({"query": sys.argv[1]})
print(json.load(urllib.request.urlopen(url))["data"]["result"][0]["value"][1])' "$1"
}

# has COUNT JOB: Prometheus scraped the job COUNT times
has() {
	[ "$(api "count_over_time(up{job=\"$2\"}[10m]) and up{job=\"$2\"} == 1")" -ge "$1" ]
}

# disk: a disk with a file system, and another whose path contains a space
disk() {
	local name directory=/sys/kernel/config/nullb

	modprobe null_blk nr_devices=0 || return
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config || return
	for name in d1 d2; do
		mkdir "$directory/$name" || return
		echo 1 >"$directory/$name/memory_backed"
		echo 64 >"$directory/$name/size"
		echo 1 >"$directory/$name/power" || return
		mkfs.ext4 -q "/dev/$name" || return
	done
	mkdir -p "/srv/with space" /srv/plain
	mount /dev/d1 "/srv/with space" && mount -o ro /dev/d2 /srv/plain
}

# work: counts on disks, in the network, in memory and processes
work() {
	while :; do
		dd if=/dev/zero of="/srv/with space/file" bs=64k count=40 oflag=direct
		rm "/srv/with space/file"
		echo sent >/dev/udp/127.0.0.1/9
		echo sent >/dev/tcp/127.0.0.1/9
		head -c 4000000 /dev/zero | tail -n 1 >/dev/null
		sleep 0.5
	done >/dev/null 2>&1
}

check "a disk is mounted" disk
check "the agent starts" host_up
check "the whole host is registered, and its other file system" sh -c '
	dartctl register host --gather 1s'
work &
worker=$!
dart-controller --listen -i 1s 10.77.0.1 >/run/values 2>/run/controller.log &
controller=$!
prometheus-node-exporter --web.listen-address=127.0.0.1:9100 >/run/exporter.log 2>&1 &
exporter=$!
cat >/run/prometheus.yml <<-END
	global: {scrape_interval: 3s, scrape_timeout: 3s}
	scrape_configs:
	  - job_name: node
	    static_configs: [{targets: ["127.0.0.1:9100"]}]
	  - job_name: dart
	    static_configs: [{targets: ["127.0.0.1:4794"]}]
END
prometheus --config.file=/run/prometheus.yml --storage.tsdb.path=/run/tsdb \
	--web.listen-address=127.0.0.1:9090 >/run/prometheus.log 2>&1 &
prometheus=$!
# soon waits for 20 s; Prometheus starts slowly where a CPU is emulated.
for _ in 1 2 3 4 5 6; do
	soon has 3 node >/dev/null && break
done
check "Prometheus scrapes node_exporter" soon has 3 node
check "it scrapes the controller" soon has 3 dart
sleep $((seconds + 10))
python3 "$lib/agreement.py" http://127.0.0.1:9090 "$document" $seconds >/run/agreement
agreed=$?
sed 's/^\(not ok\|ok\) [0-9]* -/# \1/; /^1\.\./d' /run/agreement
check "the values of both agree, and unserved families have a reason" \
	sh -c "grep -A 40 '^not ok' /run/agreement; [ $agreed = 0 ]"
check "no rule finds that series were dropped" test \
	"$(api 'dart_scrape_dropped_series')" = 0
kill $worker $controller $exporter $prometheus
wait $worker $controller $exporter $prometheus 2>/dev/null
sed 's/^/# /' /run/controller.log
umount "/srv/with space" /srv/plain 2>/dev/null
finish
