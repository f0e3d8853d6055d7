#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Packets that a sketcher counts in a period are in the strips of its part, and frames that get lost
# are holes: which a program outside of the project's libraries checks byte for byte, and readers find
# the sum of all sketchers, here and by READ, also after the agent was killed.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../faulty_link.sh"

flows=40
model=$tests/lib/sketch.py

# count NAME RUN PACKETS [ADDRESS]: counts packets of all flows in a period
count() {
	dart-report --json --interface eth0 --sketch "/run/$1.json" --source "${4:-10.77.0.1}" \
		--flows uniform --count $flows --packets "$3" >"/run/$1.$2"
}

# missing NAME PART RUN...: prints how many strips are missing of the last run of "NAME.RUN"
missing() {
	local name=$1 part=$2

	shift 2
	on host "$model" memory "$name" >/run/memory &&
		"$model" same /run/memory "/run/$name.json" "$part" /run/keys "${@/#//run/}"
}

# exact NAME PART RUN: all strips of the run are there
exact() {
	missing "$1" "$2" "$1.$3" >/run/missing && grep -qx 0 /run/missing
}

rdma_up
ip address add 10.77.0.3/24 dev eth0
check "the agent starts under a service manager" on host sh -c "
	rm -rf /var/lib/dart && modprobe dart_zero && rdma_up && until_ready /run/dartd.log \
		service_manager dartd --config $tests/readers.yaml"
check "two sketches have this machine as a sketcher" on host sh -ec '
	dartctl sketch create flows --columns 2^10 --period 3s --parts 3
	dartctl sketch create signed --columns 2^8 --period 1s --rows 3 --kind count-sketch
	dartctl sketcher add flows 10.77.0.1
	dartctl sketcher add signed 10.77.0.1'
on host dartctl sketch export flows --sketcher 10.77.0.1 >/run/flows.json
on host dartctl sketch export signed >/run/signed.json
for i in $(seq 0 $((flows - 1))); do
	flow uniform $flows 0 "$i" | head -n 1
done >/run/keys
awk '{ print $2, $4, $6, $8, $10 }' /run/keys >/run/values
read -r key </run/keys
refuse "a sketch without strips has no period" "no sketcher has written a period yet" \
	dartctl sketch show flows --from host

# shellcheck disable=SC2016 # for the shell of the host
agent_ran() {
	on host sh -c 'cat "/proc/$(pidof dartd)/schedstat"'
}

before=$(agent_ran)
check "10,000 packets are counted" count flows first 10000
check "they take no time of the agent" [ "$(agent_ran)" = "$before" ]
check "the strips are exact" exact flows 0 first
check "a count sketch takes 4,000" count signed first 4000
check "its strips are exact" exact signed 0 first

# shellcheck disable=SC2086 # words
check "readers here and on the host find the packets of a flow" sh -c "
	on host dartctl -j sketch query flows flow-count $key >/run/here &&
	dartctl -j sketch query flows flow-count $key --from host >/run/there &&
	gojq -s -e 'map(del(.collector)) | .[0] == .[1]' /run/here /run/there &&
	gojq -e '.outcome == \"counted\" and .value.packets == 250 and .total == 10000 and
		.epsilon == 19 and .probability == 0.9375 and .rows == 4 and .present == 1 and
		.unused == 2 and .without_hole == 64 and .reporters == 1' /run/here"
# shellcheck disable=SC2086 # words
check "people read it, too" sh -c "dartctl sketch query flows flow-count $key --from host |
	grep -c '^packets: 250\$\|^too high by at most 19 with probability 0.9375, of a total of' |
	grep -qx 2"
# shellcheck disable=SC2086 # words
check "a count sketch says how far it may be off" sh -c "
	dartctl -j sketch query signed flow-count $key --from host |
		gojq -e '.outcome == \"counted\" and (.value.packets - 100 | fabs) <= .epsilon and
			.rows == 3'"
check "the greatest counts of a list of keys are found" sh -c "
	dartctl -j sketch top flows flow-count --keys /run/values --count 5 --from host |
		gojq -e '(.keys | length) == 5 and .unknown == 0 and .keys[0].value.packets >= 250'"
refuse "a list with other keys is refused" "/run/keys:1: a key of 'flow-count' has 5 values" \
	dartctl sketch top flows flow-count --keys /run/keys --from host
refuse "a schema whose values cannot be added up is refused" "values of 'int-path' are no sums" \
	on host dartctl sketch query flows int-path
refuse "an absent sketch is refused" "there is no sketch 'absent'" dartctl sketch show absent --from host
refuse "a period that nobody wrote is refused" "no sketcher has written period 5" \
	dartctl sketch show flows --period 5 --from host

# ---- lost, double and late frames, and a second sketcher

check "a second sketcher gets another part" on host dartctl sketcher add flows 10.77.0.3
on host dartctl sketch export flows --sketcher 10.77.0.3 >/run/other.json
check "frames get lost, come twice and late" faulty_link 5 5 5
# Both have two seconds to begin before the next period.
until [ $(($(date +%s) % 3)) -eq 0 ]; do
	sleep 0.2
done
count other second 10000 10.77.0.3 &
check "both count the same period" count flows second 10000
wait $!
sound_link
first=$(missing flows 0 flows.first flows.second)
other=$(missing flows 1 other.second)
echo "# ${first:-?} and ${other:-?} of 64 strips are missing"
check "each strip is exact or missing" grep -qxE "[0-9]+ [0-9]+" <<<"$first $other"
check "some are missing" [ "$((first + other))" -gt 0 ]
check "a reader counts the missing ones" sh -c "
	dartctl -j sketch show flows --from host >/run/shown
	period=\$(gojq .sketch.first_period /run/flows.second)
	gojq -e \"(.period == \$period) and (.holes.empty + .holes.older == $first + $other) and
		.holes.newer + .holes.torn + .holes.fewer == 0 and .present == 2 and
		.reporters == 2\" /run/shown"
# shellcheck disable=SC2086 # words
check "no hole is taken for zeros" sh -c "
	dartctl -j sketch top flows flow-count --keys /run/values --count 40 --from host |
		gojq -e '(.keys | length) + .unknown == 40 and
			all(.keys[]; .value.packets >= 500) and .total <= 20000'"

# ---- a restart of the agent

# written_after SECONDS: does a reader find a period that began later, of one sketcher?
written_after() {
	dartctl -j sketch show flows --from host |
		gojq -e --argjson least "$1" '.since > $least and .present == 1'
}

# exported FILE: the file has the present queue pair of the first sketcher
exported() {
	on host dartctl sketch export flows --sketcher 10.77.0.1 >/run/new.json && mv /run/new.json "$1"
}

dartctl -j sketch show flows --from host >/run/before
old=$(on host pidof dartd)
check "the agent is killed" on host sh -c "
	kill -KILL $old; while kill -0 $old; do sleep 0.05; done 2>/dev/null"
check "the next agent has the strips" soon sh -c "
	dartctl -j sketch show flows --from host | cmp - /run/before"
check "and the parts" sh -c "
	on host dartctl -j sketcher list flows | gojq -e 'map({(.sketcher): .part}) | add ==
		{\"10.77.0.1\": 0, \"10.77.0.3\": 1}'"
check "the parts have other queue pairs" exported /run/flows.json
check "a sketcher goes on with the next agent" count flows third 5000
check "its strips are exact again" exact flows 0 third
check "the other one is absent now" sh -c "
	dartctl -j sketch show flows --from host | gojq -e '.present == 1 and .absent == 1 and
		.unused == 1 and .total == 5000'"

# ---- a sketcher that counts packets as they arrive

cp /run/flows.json /run/live.json
dart-report --json --interface eth0 --sketch /run/live.json --source 10.77.0.1 --live eth0 --follow \
	>/run/live.summary &
sketcher=$!
check "it writes periods without any packets, too" soon written_after "$(date +%s)"
old=$(on host pidof dartd)
check "the agent is killed again" on host sh -c "
	kill -KILL $old; while kill -0 $old; do sleep 0.05; done 2>/dev/null"
check "the next agent exports other numbers" soon exported /run/live.json
check "the sketcher takes them over, and writes on" soon written_after "$(date +%s)"
kill -INT $sketcher
check "it ends" wait $sketcher
check "it counted packets, and no strip was late" gojq -e ".sketch | .packets > 0 and
	.renewals > 0 and .periods > 1 and .lost == 0" /run/live.summary
check "a sketcher is removed" on host dartctl sketcher remove flows 10.77.0.3
check "a sketch is deleted" on host dartctl sketch delete flows
check "the agent stops" on host host_down
finish
