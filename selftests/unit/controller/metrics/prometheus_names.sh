#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The names of metrics in schemas/prometheus belong to fields of the agent, and the check of that
# can fail.
. "$(dirname "$0")/../../../lib.sh"

python3 -c 'import yaml' 2>/dev/null || skip "python3 has no yaml"
tree=$tests/..
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
(cd "$tree" && cp -a --parents schemas/prometheus schemas/applications agent/region agent/base agent/self \
	selftests/prometheus_* selftests/lib/metric_names.py Documentation/prometheus.md \
	uapi tools/lib "$copy")
names=$copy/schemas/prometheus

check "each name has a valid form and is of a field of the agent" \
	"$tests/prometheus_names"
check "a copy of the tree passes as well" "$copy/selftests/prometheus_names"

# planted FILE SCRIPT SENTENCE MESSAGE: the check finds a fault in one file of the copy
planted() {
	cp "$names/$1" "$copy/kept"
	sed -i "$2" "$names/$1"
	refuse "$3" "$4" "$copy/selftests/prometheus_names"
	cp "$copy/kept" "$names/$1"
}

planted load.yaml 's/value: load1$/value: load2/' \
	"a field that the agent does not have is found" "load has no field load2"
planted files.yaml 's/value: open$/value: open + opened/' \
	"a field of a sum that the agent does not have is found" \
	"files has no field opened"
planted cpu.yaml 's/entry: cpus$/entry: cpu/' \
	"an entry that the agent does not have is found" "no entry is called cpu$"
planted vmstat.yaml 's/ oom_kill: / oom_killed: /' \
	"a field that BTF does not have is found" "vmstat has no field oom_killed"
planted load.yaml 's/node_load15/node_load5/' \
	"a family that is there twice is found" "is a family of .* already"
planted cpu.yaml 's/node_cpu_seconds_total/node_cpu_seconds/' \
	"a counter without _total is found" "a counter, and nothing else, ends with _total"
planted cpu.yaml 's/unit: hertz/unit: bytes/' \
	"a unit that the name does not have is found" "does not end with its unit bytes"
planted network.yaml 's/device: .selector/device: eth0/' \
	"a series of an entry with a selector that does not tell it is found" \
	"netdev:link, which has a selector"
planted redis.yaml 's/value: used_memory_rss$/value: used_memory_all/' \
	"a field that a description of an application does not have is found" \
	"redis has no field used_memory_all"
planted redis.yaml 's/when: child_type == 1/when: child_types == 1/' \
	"a condition with a field that is missing is found" "redis has no field child_types"
planted redis.yaml 's/labels: {application: .selector}/labels: {application: redis}/' \
	"a series of an application that does not tell its name is found" \
	"redis, which has a selector"
planted redis.yaml 's/signed: true/signed: yes/' \
	"another sign than true and false is found" "signed is neither true nor false: yes"
planted varnish.yaml 's/labels: {application: .application}/labels: {id: $instance}/' \
	"a series of memory that describes itself needs the name of its application" \
	"varnish:main, which has a selector"
planted pressure.yaml 's/scale:/factor:/' \
	"a key that is not known is found" "no key of a series is called factor"
planted containers.yaml 's/id: /instance: /' \
	"a label that Prometheus sets itself is found" "the label instance is not allowed"

check "the lists of families in the documentation are true" \
	"$tests/prometheus_names" --document
sed -i 's/^- family: node_load15$/- family: node_load16/' "$names/load.yaml"
refuse "a family that the documentation promises and no file has is found" \
	"node_load15 is said to be served" "$copy/selftests/prometheus_names" --document
finish
