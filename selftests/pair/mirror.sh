#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An agent that fills its mirror with noise, or WRITEs beyond it, changes nothing but its own mirror
# or connection: an honest agent, whose mirror the same controller has, is read as before.
. "$(dirname "$0")/../lib.sh"

lines=/run/lines
log=/run/controller.log
hostile=/run/hostile.log
patience=60

# samples_of AGENT: how many samples of the agent there are
samples_of() {
	grep -c "^{\"agent\":\"$1:4792\".*\"entries\"" "$lines"
}

has_more() {
	[ "$(samples_of "$1")" -gt "$2" ]
}

# shows AGENT: a sample with values of the agent comes after this call
shows() {
	soon has_more "$1" "$(samples_of "$1")"
}

rdma_up
check "an honest agent starts beside the controller" host_up
check "a hostile agent starts on the host" on host rdma_up
on host until_ready $hostile hostile_agent mirror-noise mirror-beyond honest || exit 1
dart-controller --json --interval 100ms --mirror 64K localhost host >$lines 2>$log &
controller=$!
check "the controller shows values of the honest agent" shows localhost
check "and of the hostile one" shows host
check "it offered the hostile agent a mirror" on host grep -q 65536 $hostile
check "new slices of the honest agent are shown" sh -c \
	"first_values 3 300 >/run/asked && grep -q first-2 $lines"
check "the controller still shows values of the hostile agent" shows host
check "and it was never lost" sh -c "! grep -q lost $log"
# Its one thread waits in its updates as long as the controller lives.
end_processes $controller
check "the honest agent's tables came from its mirror, and none was lost" is_true \
	'select(.agent == "localhost:4792" and has("summary")).summary |
		.failed == 0 and .mirror.updates >= 3 and .mirror.tables > 0' $lines
check "the hostile agent's were refused, and READ, and its scrapes went on" is_true \
	'select(.agent == "host:4792" and has("summary")).summary |
		.failed == 0 and .mirror.updates > 4 and .mirror.tables == 0 and .mirror.gaps > 0' $lines

dart-controller --json --interval 100ms --mirror 64K localhost host >$lines 2>$log &
controller=$!
check "an agent that WRITEs beyond its mirror is refused to" \
	soon on host grep -q ^0.updates,.then.refused $hostile
check "it loses its connection, and an honest one comes back" soon grep -q "host:4792: connected" $log
check "meanwhile the other agent is read" shows localhost
end_processes $controller
check "none of its scrapes failed" is_true \
	'select(.agent == "localhost:4792" and has("summary")).summary.failed == 0' $lines
on host cat $hostile | sed 's/^/# /'
check "the hostile agent stops" on host host_down TERM hostile_agent
check "the honest agent stops" host_down
finish
