#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The rules and dashboards of contrib use metrics that exist, the rules work as they say, and the
# checks of that can fail.
. "$(dirname "$0")/../../../lib.sh"

python3 -c 'import yaml' 2>/dev/null || skip "python3 has no yaml"
contrib=$tests/../contrib
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp "$contrib"/grafana/host.json "$contrib"/prometheus/container.rules.yml "$copy"

check "all metrics of rules and dashboards exist, and no panels overlap" \
	"$tests/prometheus_uses" "$contrib"/grafana/*.json "$contrib"/prometheus/*.rules.yml

# planted FILE SCRIPT SENTENCE MESSAGE: a fault in a copy is found
planted() {
	sed -i.kept "$2" "$copy/$1"
	refuse "$3" "$4" "$tests/prometheus_uses" "$copy/$1"
	mv "$copy/$1.kept" "$copy/$1"
}

planted host.json 's/node_load15/node_load10/' \
	"a metric that does not exist is found in a dashboard" "no metric is called node_load10"
planted host.json 's/\$instance/$host/' \
	"a variable that does not exist is found" "no variable is called host"
planted host.json 's/"w": 8/"w": 9/' "panels that overlap are found" "has the place of"
planted container.rules.yml 's/container_threads{/container_tasks{/' \
	"a metric that does not exist is found in a rule" "no metric is called container_tasks"

planted container.rules.yml 's/container_threads{job="dart"}/container_threads/' \
	"a rule that reads any job is found" "container_threads is not of one job"
planted host.json 's/node_load15{job=\\"$job\\",/node_load15{/' \
	"a panel that shows any job is found" "node_load15 is not of one job"
planted host.json 's/"name": "job"/"name": "task"/' \
	"a dashboard whose job cannot be chosen is found" "the job cannot be chosen"

# tested: every alert fires in a test
tested() {
	sed -n 's/.* alert: //p' "$contrib"/prometheus/*.rules.yml >"$copy/alerts"
	[ -s "$copy/alerts" ] || return
	while read -r alert; do
		grep -h -A 1 "alertname: $alert\$" "$contrib"/prometheus/tests/*.yml |
			grep -q "exp_alerts:\( &[a-z]*\)\?\$" || {
			echo "$alert does not fire in any test"
			return 1
		}
	done <"$copy/alerts"
}

check "each alert fires in a test" tested
if command -v promtool >/dev/null; then
	check "Prometheus can read the rules" \
		promtool check rules "$contrib"/prometheus/*.rules.yml
	for file in "$contrib"/prometheus/tests/*.yml; do
		check "rules give the alerts that ${file##*/} expects" \
			promtool test rules "$file"
	done
	"$tests/prometheus_uses" --rules "$contrib"/grafana/*.json >"$copy/rules.json"
	check "Prometheus can read the expressions of dashboards" \
		promtool check rules "$copy/rules.json"
else
	point ok "Prometheus can read the rules # SKIP no promtool"
fi
finish
