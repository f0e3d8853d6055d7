#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Another program scrapes dart-controller by HTTP, and gets the values of hosts by the names
# of node_exporter.
# shellcheck disable=SC2016 # variables of awk and of other shells
. "$(dirname "$0")/../lib.sh"
lib=$(cd "$(dirname "$0")/../lib" && pwd)

# fetch PATH [HEADER]...: prints a page; its header is then in /run/header
fetch() {
	python3 "$lib/fetch.py" "$@" 2>/run/header
}

# value SERIES: of the last page
value() {
	awk -v series="$1" '$1 == series { print $2 }' /run/page
}

# serves CONDITION: of all targets together, where $up is dart_up of the agent
serves() {
	fetch /metrics >/run/page && [ "$(value 'dart_up{instance="host:4792"}')" = "$1" ]
}

# is_value SERIES VALUE
is_value() {
	value "$1"
	[ "$(value "$1")" = "$2" ]
}

# of_agents_only PATTERN FILE: each sample matches, except the controller's own metrics
of_agents_only() {
	! grep -v -E '^(#|dart_controller_|process_)' "$2" | grep -v -e "$1"
}

# has_disk: a page, from now on /run/all, has values of the disk, which begin a pass after its entry
has_disk() {
	fetch /metrics >/run/all &&
		grep '^node_disk_reads_completed_total{.*device="nullb0"' /run/all
}

families() {
	grep -c '^# TYPE' /run/page
}

# refuses_lost: the page of the agent alone
refuses_lost() {
	fetch '/metrics?target=host' >/run/page
	cat /run/header /run/page
	head -n 1 /run/header | grep -q 503 && grep -q 'host:4792 is lost: ' /run/page
}

rdma_up
check "the agent starts" on host host_up
check "a cgroup is made on the host" on host mkdir /sys/fs/cgroup/shop
check "the whole host is registered" on host dartctl register host --gather 1s
check "disks are registered twice, gathered and direct" on host sh -c \
	'modprobe null_blk nr_devices=1 && dartctl register source disk:stats --all-disks'
dart-controller --listen -i 1s host >/run/values 2>/run/log &
controller=$!
check "a controller without --json serves metrics, and says that the agent is up" soon serves 1
cp /run/page /run/all
count=$(families)
check "it has at least 200 families: $count" test "$count" -ge 200
check "all samples are of the agent or of the controller itself" \
	of_agents_only 'instance="host:4792"' /run/all
memory=$(on host awk '/^MemTotal/ { printf "%.0f", $2 * 1024 }' /proc/meminfo)
check "the memory of the host is that of /proc/meminfo" \
	is_value 'node_memory_MemTotal_bytes{instance="host:4792"}' "$memory"
release=$(on host uname -r)
check "its kernel is that of uname(1)" grep -q "^node_uname_info{.*release=\"$release\"" \
	/run/all
check "each CPU has its modes" test "$(grep -c '^node_cpu_seconds_total' /run/all)" = \
	$((8 * $(on host nproc)))
check "the cgroup is called as cAdvisor does it" grep -q \
	'^container_cpu_usage_seconds_total{.*id="/shop"' /run/all
check "the disk has its series" soon has_disk
check "metrics of the direct source are left out silently" \
	is_value 'dart_scrape_dropped_series{instance="host:4792"}' 0
check "nothing is written to standard output, which is not a terminal" test ! -s /run/values

check "the page of one agent is fetched by its name" sh -c "
	python3 '$lib/fetch.py' '/metrics?target=host:4792' >/run/page"
check "its samples have no label of the target" sh -c \
	'grep -q "^node_memory_MemTotal_bytes " /run/page && ! grep -q instance= /run/page'
check "an unknown agent is not found" sh -c "
	python3 '$lib/fetch.py' '/metrics?target=other' | grep -q 'there is no such target'"
check "for OpenMetrics the page has its type and its end" sh -c "
	python3 '$lib/fetch.py' /metrics 'Accept: application/openmetrics-text' \
		>/run/page 2>/run/header && tail -n 1 /run/page | grep -qx '# EOF' &&
	grep -qi '^content-type: application/openmetrics-text; version=1.0.0' /run/header"
check "service discovery names the agent, to be asked for here" sh -c "
	python3 '$lib/fetch.py' /sd |
	gojq -e '. == [{targets: [\"127.0.0.1:4794\"], labels:
		{instance: \"host:4792\", __param_target: \"host:4792\"}}]'"
refuse "a second controller cannot serve there" "cannot listen at '127.0.0.1:4794': Address already in use (choose another port" \
	dart-controller --listen host
refuse "a malformed address is refused" "is not an address to listen at" \
	dart-controller --listen=1:2:3 host

cat >/run/outputs.yaml <<-END
	agents: [{host: host, labels: {rack: a7}}]
	outputs:
	  - listen: 127.0.0.1:4795
END
dart-controller --config /run/outputs.yaml --json >/run/lines 2>/run/log2 &
other=$!
check "the configuration has an address as well, and its agents labels" soon sh -c "
	PORT=4795 python3 '$lib/fetch.py' /metrics |
	grep '^node_memory_MemTotal_bytes{instance=\"host:4792\",rack=\"a7\"} $memory'"
kill $other
wait $other
check "JSON is written meanwhile" is_true -s 'map(select(has("entries"))) | length > 0' \
	/run/lines

check "the agent ends" on host host_down
check "the controller says that it is not up" soon serves 0
check "then it has nothing else of the agent" of_agents_only ^dart_up /run/page
check "who asks for it alone is told 503, and why" refuses_lost
check "the agent starts again" on host host_up
check "then it is up again" soon serves 1
check "the agent ends again" on host host_down
kill $controller
check "the controller ends" wait $controller
finish
