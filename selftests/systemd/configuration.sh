#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The service registers its configuration before the first scrape, and reloads it.
. "$(dirname "$0")/../lib.sh"

file=/etc/dart/dartd.yaml

# configure SOURCE...: writes the configuration
configure() {
	printf 'sources:\n' >$file
	printf -- '  - %s\n' "$@" >>$file
}

# first_scrape: the entries of the controller's first line with values
first_scrape() {
	while read -r line <&3; do
		gojq -er '.entries // empty | keys | join(" ")' <<<"$line" && return
	done
}

status() {
	dartctl -j status | gojq ".$1"
}

# memory_regions ENTRY...: the number of memory regions of these entries together
memory_regions() {
	dartctl -j list | gojq --args '[.[] | select(.name as $name |
		$ARGS.positional | index($name)).memory_regions] | add' "$@"
}

# numbers: of the memory regions of dartd, as the kernel knows them
numbers() {
	rdma -j resource show mr | gojq -r '.[] | select(.comm == "dartd") | .mrn' |
		sort
}

configure cpustat vmstat softnet
mkfifo /run/lines
dart-controller --json --interval 100ms 10.77.0.1 >/run/lines 2>/run/controller.log &
controller=$!
exec 3</run/lines
check "the service starts with its configuration" systemctl start dartd.service
check "the first scrape of a controller that waited has all of it" \
	[ "$(first_scrape)" = "cpustat dartd softnet tcp vmstat" ]
generation=$(status generation)
numbers >/run/before
configure cpustat softnet irqs
check "the service reloads with one source added and one removed" \
	systemctl reload dartd.service
for _ in $(seq 1000); do
	[ "$(status generation)" -eq "$generation" ] || break
	sleep 0.1
done
check "the table has the added source and lacks the removed one" \
	[ "$(dartctl -j list | gojq -r '.[].name' | sort | paste -sd ' ')" = \
	"cpustat dartd irqs softnet tcp" ]
check "this was one generation" [ "$(status generation)" -eq $((generation + 1)) ]
kept=$(memory_regions cpustat dartd softnet tcp)
same=$(numbers | comm -12 /run/before - | wc -l)
check "the $kept memory regions of other entries stay" \
	[ "$same" -ge "$kept" ]
check "the configuration in the package is valid" \
	dartd --check --config="$tests/../agent/dartd.yaml"
kill $controller
check "the service stops" systemctl stop dartd.service
rm $file /run/lines
finish
