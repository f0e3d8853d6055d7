#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A controller tells its interval only if it is long, offers a mirror only if it is asked to, and
# connects without them to an agent that is too old.
. "$(dirname "$0")/../lib.sh"

requests=/run/requests
log=/run/controller.log
patience=60

rdma_up
check "an agent of an earlier release listens" until_ready $requests old_agent
dart-controller --json --interval 5s localhost >/run/lines 2>$log &
controller=$!
check "the agent refuses a controller that tells 5 s" soon grep -q "told 5000 ms" $requests
check "the controller asks again without it" soon grep -q "told nothing" $requests
check "and it says why" grep -q "dartd there is older than this program" $log
check "it goes on without it" soon grep -q "it is a test" $log
check "it told its interval once" [ "$(grep -c "told 5000 ms" $requests)" = 1 ]
kill $controller
: >$requests
dart-controller --json --interval 1s localhost >/run/lines 2>$log &
controller=$!
check "a controller that reads every second asks as well" soon grep -q "told nothing" $requests
check "it does not tell its interval" sh -c "! grep 'told .* ms' $requests"
kill $controller
: >$requests
dart-controller --json --interval 5s --mirror 64K localhost >/run/lines 2>$log &
controller=$!
check "a controller that offers a mirror as well asks without both" \
	soon grep -q "told nothing" $requests
check "it offered the mirror once" [ "$(grep -c "offered a mirror" $requests)" = 1 ]
check "and it says why it does not again" grep -q "cannot update a mirror" $log
kill $controller
pkill -x old_agent
finish
