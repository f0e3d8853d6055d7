#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The XDP reporter over a reliable connection: it follows the expected PSN by the answers that arrive
# at its interface, so that each report arrived in the memory of the host, or is counted as lost.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../restarts.sh"
. "$(dirname "$0")/../faulty_link.sh"

collectors=/run/paths.json
rate=1000

# packets COUNT SEED: the host sends packets with INT, which become reports
packets() {
	on host dart-report --interface eth0 --flows uniform --emit int --count "$1" --seed "$2" \
		--rate "$rate" >/dev/null
}

# of MEMBER: of the only collector, as the reporter shows it
of() {
	dartctl -j xdp status eth0 | gojq -r ".[0].collectors[0].$1"
}

expected() {
	on host dartctl -j reporter list paths | gojq -r ".[0].expected_psn"
}

# is_answered: a late report asks, and its answer tells of all reports up to it
is_answered() {
	[ "$(of state)" = followed ] && [ "$(of unanswered)" = 0 ] && return
	packets 1 99
	return 1
}

# begin: notes the expected PSN, and the reports and the lost ones of the reporter
begin() {
	until_true is_answered
	expected >/run/begin
	echo "$(of reports) $(of lost)" >/run/before
}

# arrived: since begin() as many reports arrived as were sent, less the ones that are lost
arrived() {
	local sent lost rise

	until_true is_answered
	sent=$(($(of reports) - $(cut -d " " -f 1 /run/before)))
	lost=$(($(of lost) - $(cut -d " " -f 2 /run/before)))
	rise=$((($(expected) - $(cat /run/begin)) & 0xffffff))
	echo "# $sent reports, $lost lost, $(of stops) stops, the expected PSN rose by $rise"
	[ $((sent - lost)) -eq "$rise" ]
}

export_store() {
	on host dartctl store export paths >$collectors
}

# renew: a new queue pair, as after an invalid report
renew() {
	on host dartctl reporter remove paths 10.77.0.1 >/dev/null &&
		on host dartctl reporter add paths 10.77.0.1 >/dev/null && export_store
}

rdma_up
check "the agent starts" on host host_up --config "$tests/readers.yaml"
check "a store takes reports over reliable connections" on host sh -c '
	dartctl store create paths --slots 2^16 --value 20 --transport rc \
		--file /run/paths.store &&
	dartctl reporter add paths 10.77.0.1'
export_store
check "the reporter is attached" dartctl xdp attach eth0 --collectors $collectors
check "500 packets become reports" packets 500 1
check "an answer tells of all of them" until_true is_answered
# A virtual network drops some frames on a busy machine.
check "most of them arrived" is_true '.[0].collectors[0] | .lost * 5 < .reports' \
	<<<"$(dartctl -j xdp status eth0)"
answers=$(on host flows_found /run/paths.store uniform 500 1)
echo "# $answers"
check "their paths are in the memory, and no other" is_true '.correct > 350 and .wrong == 0' \
	<<<"$answers"
begin
check "1,000 more become reports" packets 1000 2
check "each report arrived, or is counted as lost" arrived

# ---- loss

check "one of 100 frames is lost in each direction" faulty_link 1 0 0
begin
check "3,000 packets become reports" packets 3000 3
sound_link
check "each report arrived, or is counted as lost" arrived
check "some were lost, and most were not" is_true '.[0].collectors[0] |
	.lost > 0 and .stops > 0 and .lost * 2 < .reports' <<<"$(dartctl -j xdp status eth0)"
check "frames are lost, come twice and late" faulty_link 1 1 1
begin
check "1,000 packets become reports" packets 1000 4
sound_link
check "each report arrived, or is still counted as lost" arrived
begin
check "without loss 500 packets become reports" packets 500 5
check "each report arrived, or is counted as lost" arrived

# ---- other queue pairs

check "the reporter is detached" dartctl xdp detach eth0
check "a queue pair that was used gets a reporter that does not know it" dartctl xdp attach eth0 \
	--collectors $collectors
check "20 packets become reports" packets 20 6
check "an answer tells where it stands" until_true is_answered
begin
check "500 packets become reports" packets 500 7
check "each report arrived, or is counted as lost" arrived
check "the reporter follows the file" until_ready /run/follow.log \
	dartctl xdp follow eth0 --collectors $collectors
check "another key" sh -c "
	gojq '.collectors[0].rkey |= (. + 256) % 4294967296' $collectors >/run/wrong.json &&
	cp $collectors /run/right.json && mv /run/wrong.json $collectors"
wrong() {
	packets 5 8
	[ "$(of state)" = error ]
}
check "puts the queue pair into the error state" until_true wrong
check "as the host says" [ "$(on host dartctl -j reporter list paths |
	gojq -r '.[0].state')" = error ]
reports=$(of reports)
check "packets become no reports any more" packets 20 9
check "but pass" [ "$(of reports)" = "$reports" ]
check "the reporter is removed and added" renew
check "the reporter goes on with the next queue pair" until_true sh -c "
	dartctl -j xdp status eth0 | gojq -e '.[0].collectors[0].state == \"asking\"'"
check "packets become reports again" packets 100 10
begin
check "and more of them" packets 500 11
check "each report arrived, or is counted as lost" arrived

check "the reporter is detached again" dartctl xdp detach eth0
check "the agent stops" on host host_down
finish
