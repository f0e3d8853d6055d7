#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A controller that offers a mirror takes each new table from it, without a READ, and scrapes new
# entries at once.
. "$(dirname "$0")/../lib.sh"

lib=$(realpath "$(dirname "$0")/../lib")
lines=/run/lines
log=/run/controller.log
patience=60

check "the agent starts" host_up
dart-controller --json --interval 1s --mirror 256K localhost >$lines 2>$log &
controller=$!
check "a controller connects and offers a mirror" soon grep -q entries $lines
first_values 6 700 >/run/asked &
owner=$!
check "6 slices are registered within an interval of each other" wait $owner
check "the controller has the value of the last one" \
	soon grep -q "$(tail -n1 /run/asked | gojq .asked_ns)" $lines
end_processes $controller
check "the controller shows the value of each of them" \
	python3 "$lib/first_values.py" /run/asked $lines
python3 "$lib/first_values.py" /run/asked $lines | sed -n '/^#/p'
# A scrape that is due at the same moment may find the change first.
check "it had tables from its mirror, and was told of all" is_true \
	'select(has("summary")).summary.mirror | .updates >= 6 and .tables > 0' $lines
check "a controller without a mirror is not told" \
	sh -c 'dart-controller --json --interval 100ms --count 20 localhost >/run/plain &&
		is_true "select(has(\"summary\")).summary | has(\"mirror\") | not" /run/plain'
check "the agent stops" host_down
finish
