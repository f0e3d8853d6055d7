#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reports of a program that follows the export go on over DART_ROTATIONS rotations of a store on
# another machine, which loses none of them without rotations: each flow is found in an epoch,
# also if the kernel reports, or if the disk of the epochs takes nothing for a while.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../restarts.sh"

exec 3>&1	# for progress in checks
rotations=${DART_ROTATIONS:-100}
# Frames a second, slow enough for a virtual network to drop nothing; with rotations, each of which
# takes about 8 s, slow enough to go on until the last one.
plain_rate=400
rate=20
flows=$((rotations * 100))
collectors=/run/epochs.json
files=/var/lib/dart/epochs/paths

export_collectors() {
	on host dartctl store export paths >"$collectors.new" && mv "$collectors.new" "$collectors"
}

# start SEED RATE: both copies of all flows, in the background
start() {
	dart-report -i eth0 -c "$collectors" --follow -f uniform -n $flows --copies all \
		--rate "$2" --seed "$1" --json >/run/report.json &
	reporter=$!
}

# is_followed: a report has come to the present epoch, or all have been sent
is_followed() {
	on host dartctl -j store show paths | is_true ".written > 0" ||
		! kill -0 "$reporter" 2>/dev/null
}

# has_come REPORTS: this number since $before, or the last one was sent
has_come() {
	[ $(($(taken) - before)) -ge "$1" ] || ! kill -0 "$reporter" 2>/dev/null
}

# rotate_all REPORTS: while REPORTS go on; each rotation waits for its share of them, because many in
# one epoch would overwrite each other, and until the last epoch is in a file.  On a busy machine that
# takes longer than dartctl waits for it, and the export takes longer to come here than the 5 s that
# dartd gives reporters if another rotation waits: this one waits for them.
rotate_all() {
	local i

	for ((i = 0; i < rotations; i++)); do
		until_true has_come $(($1 * i / rotations)) &&
			until_true on host dartctl store rotate paths && export_collectors &&
			until_true is_followed || return
		[ $(((i + 1) % 10)) -ne 0 ] || echo "# $((i + 1)) rotations after $SECONDS s" >&3
	done
}

# late: slots that reports wrote after the grace time of their epoch, which are in no epoch
late() {
	on host dartctl -j store list | gojq '.[0].epochs.late_slots'
}

written() {
	on host dartctl -j store list | is_true ".[0].epochs | .written == $1 and .lost == 0"
}

# found SEED: how many flows are in any epoch; prints those in the wrong one as well.  A flow
# that reports of others overwrote is in no epoch, and yet was not lost: of 10,000 flows in one epoch,
# about 20.
found() {
	on host sh -c "for file in $files/*; do
		zstdcat -c \$file >/run/slots && flows_found /run/slots uniform $flows $1
	done" | gojq -s 'map(.correct) | add'
}

rdma_up
check "the agent starts" on host host_up
check "the host creates a store with epochs" on host dartctl store create paths \
	--slots 2^18 --value 20 --epoch 1440min
check "this machine is added as a reporter of the store" \
	on host dartctl reporter add paths 10.77.0.1
check "the numbers for reporters are exported" export_collectors
before=$(taken)
start 1 $plain_rate
check "flows are reported without rotations" wait "$reporter"
all_taken() {
	[ $(($(taken) - before)) = $((${1:-2} * flows)) ]
}
check "the network dropped none of them" soon all_taken
check "the store rotates" on host dartctl store rotate paths
check "its epoch is in a file" soon written 1
on host sh -c "rm $files/*"

check "the numbers for reporters are exported again" export_collectors
before=$(taken)
start 2 $rate
check "the store rotates $rotations times meanwhile" rotate_all $((2 * flows))
kill -0 $reporter 2>/dev/null || echo "# the last rotations came after the last report"
check "flows are reported" wait "$reporter"
check "the store rotates again" on host dartctl store rotate paths
check "all epochs are in files" soon written $((rotations + 2))
check "no report is lost at a rotation: each flow is in an epoch" [ "$(found 2)" -ge $flows ]
check "epochs follow each other without a gap" sh -c "on host ls $files | sort -n | gojq -R -s -e '
	split(\"\n\")[:-1] | map(rtrimstr(\".dart\") / \"-\") |
	length == $rotations + 1 and ([.[1:][][0]] == [.[:-1][][1]])'"

# ---- the reporter in the kernel, which sends one copy

# emit SEED: a packet with INT-MD of each flow, for as long as both copies of all flows took
emit() {
	dart-report -i card0 --source 10.77.0.1 -f uniform -n $flows --rate $((rate / 2)) --seed "$1" \
		--emit int >/run/emitted &
	reporter=$!
}

on host sh -c "rm $files/*"
modprobe veth
ip link add card0 type veth peer name card1
ip link set card0 up
ip link set card1 up
check "the numbers for reporters are exported" export_collectors
check "the XDP reporter is attached" dartctl xdp attach card1 --through eth0 --source 10.77.0.1 \
	--collectors "$collectors"
check "it follows the file" until_ready /run/follow.log dartctl xdp follow card1 \
	--collectors "$collectors"
before=$(taken)
before_late=$(late)
emit 4
check "the store rotates $rotations times meanwhile" rotate_all $flows
kill -0 $reporter 2>/dev/null || echo "# the last rotations came after the last packet"
check "packets are sent" wait "$reporter"
check "each of them became a report, and each report was taken" soon all_taken 1
check "the status says so" sh -c "dartctl -j xdp status card1 | gojq -e '
	.[0].reports == $flows and .[0].unassigned == 0'"
check "the reporter took each rotation over" \
	[ "$(grep -c "reports to new memory of store paths" /run/follow.log)" -eq "$rotations" ]
check "the store rotates again" on host dartctl store rotate paths
check "all epochs are in files" soon written $((2 * rotations + 3))
# Reports of other flows overwrite two flows in 100 epochs on average.
there=$(found 4)
echo "# $there of $flows flows are in an epoch; $(($(late) - before_late)) slots were written too late"
check "no report is lost at a rotation: each flow is in an epoch" [ "$there" -ge $((flows - 10)) ]
check "the XDP reporter is detached" dartctl xdp detach card1

# ---- a disk that takes nothing for a while

stop_disk() {
	on host sh -ec 'modprobe -a loop ext4
		truncate -s 64M /run/disk
		mkfs.ext4 -q /run/disk
		mount -o loop /run/disk "$0"
		rmdir "$0/lost+found"
		fsfreeze --freeze "$0"' "$files"
}

many_taken() {
	[ $(($(taken) - before)) -ge 2000 ]
}

is_stuck() {
	on host sh -c 'grep -qs "^State:.D" /proc/$(pidof dartd)/task/*/status'
}

flows=4000
check "the disk of the epochs takes nothing" stop_disk
check "the numbers for reporters are exported" export_collectors
before=$(taken)
start 3 $plain_rate
check "flows are reported" soon many_taken
check "the store rotates" on host dartctl store rotate paths
check "the numbers for reporters are exported again" export_collectors
check "all flows are reported" wait "$reporter"
check "the network dropped none of them" soon all_taken
check "a thread of the agent waits for the disk" soon is_stuck
refuse "another rotation is refused, because the last epoch is not in a file" \
	"its last epoch is not in a file yet" on host dartctl store rotate paths
check "the agent answers, and has written no other epoch" written $((2 * rotations + 3))
check "the disk goes on" on host fsfreeze --unfreeze $files
check "the epoch is in a file" soon written $((2 * rotations + 4))
check "the store rotates again" on host dartctl store rotate paths
check "so is the next one" soon written $((2 * rotations + 5))
# Reports of other flows overwrite one flow on average, if all are in one epoch.
check "each flow is in an epoch" [ "$(found 3)" -ge $((flows - 4)) ]
check "the agent stops" on host host_down
on host sh -c "umount $files; rm /run/disk"
rm -f "$collectors"
finish
