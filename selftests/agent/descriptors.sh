#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartd turns clients away while it is out of file descriptors, and goes on.
. "$(dirname "$0")/../lib.sh"

check "the agent starts" host_up
process=$(pidof dartd)
open=$(find "/proc/$process/fd" -mindepth 1 | wc -l)
check "the agent is left two descriptors" \
	prlimit --pid "$process" --nofile=$((open + 2))
for _ in 1 2 3 4 5 6; do
	dartctl monitor >/dev/null 2>>/run/monitors.log &
done
check "dartd turns clients away without a descriptor" sh -c '
	until grep -q "too many clients" /run/monitors.log; do sleep 0.1; done'
check "the agent runs on" [ "$(pidof dartd)" = "$process" ]
# An agent that spins is found running at each look.
asleep=0
for _ in $(seq 20); do
	! grep -q '^State:.S' "/proc/$process/status" || asleep=$((asleep + 1))
done
check "it sleeps, at $asleep of 20 looks" [ $asleep -ge 10 ]
refused() {
	[ "$(grep -c "too many clients" /run/monitors.log)" -ge 4 ]
}
check "all clients but two are turned away" soon refused
pkill -x dartctl
check "clients are served again afterwards" sh -c '
	until dartctl status; do sleep 0.1; done'
check "the clients are counted" sh -c 'dartctl -j show dartd |
	is_true ".values.rows[0].rejected_clients >= 4"'
check "the agent stops" host_down
finish
