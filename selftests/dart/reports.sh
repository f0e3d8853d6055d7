#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# DART_COUNTS reports reach a store over an unreliable connection while 1 % of the frames get lost, and
# as many come twice and late: flows are found with the odds of their age, and none has another path.
# Then as many more, while the agent of the store is killed.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../restarts.sh"
. "$(dirname "$0")/../faulty_link.sh"

counts=${DART_COUNTS:-1000000}
flows=$((counts / 2))
slots=$((1 << 20))
rate=$((counts < 90000 ? counts / 60 : 1500))	# of frames, slow enough for a virtual network

# report SEED: both copies of all flows, to whichever queue pair the file of the collector has
report() {
	dart-report --json --interface eth0 --collectors "$collectors" --flows uniform \
		--count "$flows" --copies all --rate "$rate" --seed "$1" --follow >"/run/reported.$1"
}

# theory LOST: the average share of flows that are found if the share LOST of reports is lost.  A copy
# of a flow that r other flows follow survives with the probability (1 - LOST) e^(-x), where x is
# 2 (1 - LOST) r / slots; the average is over all r.
theory() {
	gojq -n --argjson lost "$1" --argjson flows "$flows" --argjson slots "$slots" '
		(1 - $lost) as $there | (2 * $there * $flows / $slots) as $x |
		2 * $there * (1 - (-$x | exp)) / $x -
			$there * $there * (1 - (-2 * $x | exp)) / (2 * $x)'
}

# judge SEED TAKEN: the flows of a run, before which the host had accepted TAKEN packets.  Of 100
# frames that are not lost, one comes twice.  Consecutive losses hit both copies of a flow.
judge() {
	local found lost

	found=$(on host flows_found /run/paths.store uniform "$flows" "$1") || return
	lost=$(gojq -n "1 - ($(taken) - $2) / (1.01 * 2 * $flows) | [., 0] | max")
	echo "# lost: $lost, theory: $(theory "$lost"), $found"
	is_true --argjson lost "$lost" --argjson theory "$(theory "$lost")" --argjson flows "$flows" \
		'.wrong == 0 and $lost < 0.2 and
		(.correct / $flows - $theory | fabs) < 0.01 + $lost / 2' <<<"$found"
}

# judge_killed SEED TAKEN: likewise, if most of the lost reports followed each other: flows whose
# copies were both lost then are not found.
judge_killed() {
	local found lost

	found=$(on host flows_found /run/paths.store uniform "$flows" "$1") || return
	lost=$(gojq -n "1 - ($(taken) - $2) / (1.01 * 2 * $flows) | [., 0] | max")
	echo "# lost: $lost, theory without loss: $(theory 0), $found"
	is_true --argjson lost "$lost" --argjson theory "$(theory 0)" --argjson flows "$flows" \
		'.wrong == 0 and $lost < 0.5 and
		.correct / $flows > (1 - $lost) * $theory - 0.01 and
		.correct / $flows < $theory + 0.01' <<<"$found"
}

# renewed: the host's file has the next queue pair, and is here, too
renewed() {
	on host cat /run/kept.json >/run/next.json && [ -s /run/next.json ] &&
		! cmp -s /run/next.json "$collectors" && mv /run/next.json "$collectors"
}

rdma_up
check "the agent starts under a service manager" on host sh -c "
	rm -rf /var/lib/dart && modprobe dart_zero && rdma_up && until_ready /run/dartd.log \
		service_manager dartd --config $tests/readers.yaml"
check "a store takes reports of this machine" on host sh -c "
	dartctl store create paths --slots $slots --value 20 --file /run/paths.store &&
	dartctl reporter add paths 10.77.0.1"
on host dartctl store export paths >$collectors

check "frames get lost, come twice and late" faulty_link 1 1 1
before=$(taken)
check "$counts reports are sent" report 1
check "flows are found with the odds of their age, and none has another path" judge 1 "$before"
sound_link

# ---- the agent is killed, and back

check "the host keeps a file of its collectors" on host until_ready /run/watch.log \
	dartctl store export paths --watch /run/kept.json
on host cat /run/kept.json >$collectors
check "frames get lost, come twice and late again" faulty_link 1 1 1
before=$(taken)
report 2 &
reporting=$!
check "reports arrive" until_true rises_by "$before" $((counts / 20))
old=$(on host pidof dartd)
check "the agent is killed" on host sh -c "
	kill -KILL $old; while kill -0 $old; do sleep 0.05; done 2>/dev/null"
check "the export has the next queue pair" until_true renewed
there=$(taken)
kill -0 $reporting 2>/dev/null || echo "# the last report came before the next queue pair"
check "$counts reports are sent" wait "$reporting"
check "reports arrive again" rises_by "$there" $((counts / 4))
check "flows are found with the odds of their age, unless the agent was away, and none has another path" \
	judge_killed 2 "$before"
sound_link
check "the agent stops" on host host_down
finish
