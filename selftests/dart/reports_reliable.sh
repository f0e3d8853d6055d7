#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reports over a reliable connection: the same reports reach the same slots, a lost one stops the
# queue pair until the reporter has learnt where it stands, and the lost ones are counted exactly.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../faulty_link.sh"

collectors=/run/paths.json
reports=${DART_REPORTS:-100000}

# report NAME OPTION...: its summary is /run/NAME
report() {
	dart-report --json --interface eth0 --collectors "$collectors" --source 10.77.0.1 \
		--flows uniform "${@:2}" >"/run/$1"
}

# reports NAME MEMBER: of the summary of a run
reports() {
	gojq ".collectors[0].$2" "/run/$1"
}

reporter() {
	on host dartctl -j reporter list paths | gojq -r ".[0].$1"
}

# arrived NAME COMMAND...: the PSN that the queue pair expects, which was used before, rises by the
# reports of the run that are not lost; prints their number
arrived() {
	local before

	before=$(reporter expected_psn)
	"${@:2}" || return
	echo "# $1: $(reports "$1" reports) reports, $(reports "$1" lost) lost," \
		"$(reports "$1" stops) stops"
	[ "$(reports "$1" settled)" = true ] &&
		[ $((($(reporter expected_psn) - before) & 0xffffff)) -eq \
			$(($(reports "$1" reports) - $(reports "$1" lost))) ]
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
check "the agent starts under a service manager" on host sh -c "
	rm -rf /var/lib/dart && modprobe dart_zero && rdma_up && until_ready /run/dartd.log \
		service_manager dartd --config $tests/readers.yaml"
refuse "an unknown transport is refused" "transport uc, rc or auto, not 'ud'" \
	on host dartctl store create paths --slots 2^20 --value 20 --transport ud
check "a store takes reports over what its adapter has" on host sh -c '
	dartctl store create other --slots 2^10 --value 20 &&
	dartctl reporter add other 10.77.0.1 &&
	dartctl -j reporter list other | gojq -e ".[0] | .transport == \"uc\" and
		.state == \"ready\" and (has(\"expected_psn\") | not)" &&
	dartctl store delete other'
check "a store takes reports over reliable connections" on host sh -c '
	dartctl store create paths --slots 2^20 --value 20 --transport rc \
		--file /run/paths.store &&
	dartctl reporter add paths 10.77.0.1 &&
	dartctl store list | grep -q paths'
export_store
on host sh -c "dartctl store export paths >$collectors"
check "its export says so" gojq -e '.collectors[0].transport == "rc"' $collectors
check "so does the list of reporters" [ "$(reporter transport) $(reporter state)" = "rc ready" ]

# ---- the same reports, as pair/reports sends over an unreliable connection

check "5,000 flows are reported" report first --flows fat-tree --count 5000 --seed 1 \
	--copies all --rate 5000
check "none of them is lost" gojq -e '.collectors[0] | .reports == 10000 and .lost == 0 and
	.stops == 0 and .settled' /run/first
answers=$(on host store_flows $collectors /run/paths.store fat-tree 5000 1)
check "every flow is found, and no other byte was written: $answers" \
	[ "$answers" = '{"found": 5000, "empty": 0, "wrong": 0, "same": true}' ]
check "the next run finds the queue pair where it stands" arrived second \
	report second --count 500 --rate 5000
check "none of its reports is lost" [ "$(reports second 'lost, .collectors[0].stops' |
	tr '\n' ' ')" = "0 0 " ]

# ---- loss

check "100 frames with any PSN stop the queue pair, or are dropped" \
	malformed_frames eth0 $collectors psn 100
check "the next run starts it again" arrived third report third --count 500 --rate 5000
check "none of its reports is lost" [ "$(reports third lost)" = 0 ]

# has_risen PSN: the queue pair has taken a report of this run, whose reporter knows where it stands
has_risen() {
	local now

	now=$(reporter expected_psn) && [ "$now" != "$1" ]
}

# report_over LOSS TWICE LATE REPORT-ARGUMENT...: the link has these faults once reports have come.
# Before that, a lost probe would have the next one raise the expected PSN in place of a report.
report_over() {
	local faults=("${@:1:3}") psn reporting

	psn=$(reporter expected_psn)
	report "${@:4}" &
	reporting=$!
	soon has_risen "$psn" && faulty_link "${faults[@]}" && wait "$reporting"
}

check "lost reports are counted exactly, if one of 100 frames is lost in each direction" \
	arrived lossy report_over 1 0 0 lossy --count 12000 --rate 1000
sound_link
check "some were lost, and most were not" gojq -e '.collectors[0] |
	.lost > 0 and .stops > 0 and .lost * 2 < .reports' /run/lossy
check "of $reports reports, lost ones are counted exactly, if frames also come twice and late" \
	arrived mixed report_over 1 1 1 mixed --count "$reports" --rate 1000
sound_link
check "some were lost, and some were not" gojq -e '.collectors[0] |
	.lost > 0 and .stops > 0 and .lost < .reports' /run/mixed
check "the queue pair goes on after that" arrived fourth report fourth --count 500 --rate 5000
check "without loss" [ "$(reports fourth lost)" = 0 ]

# ---- rotations of a store with epochs

# of_timed MEMBER: of the only reporter of the store with epochs
of_timed() {
	on host dartctl -j reporter list timed | gojq -r ".[0].$1"
}

# The file of $collectors is that of the store with epochs.
export_timed() {
	on host dartctl store export timed >/run/timed.new && mv /run/timed.new /run/timed.json
}

written() {
	on host dartctl -j store list | is_true ".[] | select(.name == \"timed\") | .epochs |
		.written == $1 and .lost == 0"
}

# rotate_timed COUNT: the store has rotated COUNT times, and its last epoch is in a file
rotate_timed() {
	on host dartctl store rotate timed >/dev/null && export_timed && soon written "$1"
}

# A queue pair that no frame has reached before takes the first probe like a report, and the probe
# after a NAK as well, which comes if the first answer takes longer than 20 ms.
taken_with_probes() {
	local taken=$((($(of_timed expected_psn) - before) & 0xffffff))
	local arrived=$(($(reports rotated reports) - $(reports rotated lost)))

	echo "# $taken frames raised the expected PSN, $arrived reports arrived"
	[ $((taken - arrived)) -ge 1 ] && [ $((taken - arrived)) -le 2 ]
}

# found: flows of the run "rotated" in all epochs
found() {
	on host sh -c 'for file in /var/lib/dart/epochs/timed/*; do
		zstdcat -c $file >/run/slots && flows_found /run/slots uniform 3000 7
	done' | gojq -s 'map(.correct) | add'
}

check "a store with epochs takes reports over a reliable connection" on host sh -c '
	dartctl store create timed --slots 2^18 --value 20 --transport rc --epoch 1440min &&
	dartctl reporter add timed 10.77.0.1'
export_timed
before=$(of_timed expected_psn)
collectors=/run/timed.json report rotated --count 3000 --seed 7 --copies all --rate 250 --follow &
reporting=$!
check "it rotates while reports come" rotate_timed 1
check "and again" rotate_timed 2
kill -0 $reporting 2>/dev/null || echo "# the last rotation came after the last report"
check "the reports go on" wait $reporting
gojq -r '.collectors[0] | "# \(.reports) reports, \(.lost) lost, \(.stops) stops"' /run/rotated
check "each report arrived, or is counted as lost" taken_with_probes
check "the store rotates a third time" rotate_timed 3
# Reports of other flows overwrite half a flow on average, if all are in one epoch.
check "each flow is in an epoch, unless its reports were lost" \
	[ "$(found)" -ge $((2997 - $(reports rotated lost))) ]
psn=$(of_timed expected_psn)
begun() {
	[ "$(of_timed expected_psn)" != "$psn" ]
}
collectors=/run/timed.json report stale --count 300000 --rate 1000 2>/run/stale.error &
reporting=$!
check "a reporter that does not follow has read the file" soon begun
check "the store rotates meanwhile" rotate_timed 4
check "its reports go on, to the former memory" kill -0 "$reporting"
check "the store rotates to that memory" rotate_timed 5
late() {
	on host dartctl -j store list |
		is_true '.[] | select(.name == "timed") | .epochs.late_slots > 0'
}
check "the slots of its reports, which are in no epoch, are counted" late
stale() {
	! wait "$reporting" && grep -q "has closed queue pair [0-9]* after an invalid report" \
		/run/stale.error
}
check "the run ends when the key of the former memory is invalid" stale
check "the list of reporters says so" [ "$(of_timed state)" = error ]
check "the store with epochs is deleted" on host dartctl store delete timed

# ---- a queue pair in the error state

gojq '.collectors[0].rkey |= (. + 256) % 4294967296' $collectors >/run/wrong.json
mv $collectors /run/right.json
cp /run/wrong.json $collectors
refuse "reports with another key end the run" \
	"has closed queue pair [0-9]* after an invalid report" \
	report wrong --count 2000 --rate 2000
check "the list of reporters says so" [ "$(reporter state)" = error ]
check "the reporter is removed and added" renew
check "reports arrive again" report fifth --count 500 --rate 5000
check "all of them" gojq -e '.collectors[0] | .lost == 0 and .settled' /run/fifth

# ---- a restart of the collector

check "the export is kept in a file" on host until_ready /run/watch.log \
	dartctl store export paths --watch /run/kept.json
report sixth --count 15000 --rate 500 --follow &
reporting=$!
old=$(on host pidof dartd)
check "the agent is killed while reports come" on host sh -c "
	kill -KILL $old; while kill -0 $old; do sleep 0.05; done 2>/dev/null"
check "the export has the next queue pair" soon sh -c "
	on host cat /run/kept.json >/run/kept.json && [ -s /run/kept.json ] &&
	! gojq -s -e '.[0] == .[1]' /run/kept.json $collectors && mv /run/kept.json $collectors"
check "the reporter goes on with it" wait $reporting
gojq -r '.collectors[0] | "# \(.reports) reports to the last queue pair, \(.lost) lost of all"' \
	/run/sixth
check "its reports arrive there" gojq -e '.collectors[0] | .settled and .reports > 0 and
	.reports < 15000' /run/sixth
check "the agent stops" on host host_down
finish
