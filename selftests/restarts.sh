# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for tests that kill the agent of the collector "host" while $reporter, the
# address of a reporter, sends to its store "paths".
#
#	. "$(dirname "$0")/../lib.sh"
#	. "$(dirname "$0")/../restarts.sh"

exported=/run/exported.json	# the file of collectors on the host
collectors=/run/paths.json	# the same here
stop=/run/stop	# while this exists, the file is not carried here

up() {
	on host sh -c 'rm -rf /var/lib/dart && modprobe dart_zero && rdma_up &&
		until_ready /run/dartd.log service_manager dartd'
}

# until_true COMMAND...: succeeds when the command does, within 60 s
until_true() {
	local end=$((SECONDS + 60))

	while [ "$SECONDS" -lt "$end" ]; do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	return 1
}

# How many packets the host's soft-RoCE has accepted.
taken() {
	on host "${tests:?}/host_counts" | gojq .taken
}

# rises_by TAKEN COUNT: COUNT more than TAKEN are accepted now
rises_by() {
	[ $(($(taken) - $1)) -ge "$2" ]
}

create() {
	on host dartctl store create paths --slots 2^14 --value 20 &&
		on host dartctl reporter add paths "${reporter:?}"
}

# carry: brings the file of the host here, as any tool that copies files does
carry() {
	local new=$collectors.carried

	while [ ! -e /run/end ]; do
		if [ ! -e $stop ] && on host cat $exported >$new 2>/dev/null &&
			[ -s $new ] && ! cmp -s $new $collectors &&
			[ ! -e $stop ]; then
			mv $new $collectors
		fi
		sleep 0.2
	done
}

# follow_collectors COUNT RATE: the XDP reporter of this machine reports COUNT packets that
# the host sends, RATE in a second, and follows the host's file of collectors
follow_collectors() {
	check "the host keeps a file of its collectors" on host until_ready \
		/run/watch.log dartctl store export paths --watch $exported
	on host cat $exported >$collectors
	carry &
	check "the XDP reporter is attached" \
		dartctl xdp attach eth0 --collectors $collectors
	check "the XDP reporter follows the file" until_ready /run/follow.log \
		dartctl xdp follow eth0 --collectors $collectors
	on host dart-report --interface eth0 --emit int --flows uniform \
		--count "$1" --rate "$2" >/dev/null 2>&1 &
}

checksum() {
	on host store_checksum paths
}

differs() {
	[ "$(checksum)" != "$1" ]
}

# killed_sum: of the memory in the hands of the service manager
# shellcheck disable=SC2016 # variables of the host
killed_sum() {
	on host sh -c 'memory=$(find /proc/$(pidof service_manager)/fd \
			-lname "/memfd:dart-store*")
		store_sum $memory 0 "" | cut -c 17-'
}

# kill_agent: sets $killed, the time in ms, and $sum, the checksum of the memory after
# the end of the process, which takes a while
kill_agent() {
	old=$(on host pidof dartd)
	killed=$(date +%s%3N)
	on host sh -c "kill -KILL $old; while kill -0 $old; do sleep 0.05; done" \
		2>/dev/null
	sum=$(killed_sum)
	[ "$sum" ]
}

# restored: waits for the next agent, with the store in it
restored() {
	until_true on host dartctl store show paths
}

# flow_again ROUNDS: checks that reports arrive again after the agent is killed, and prints
# after how long.
flow_again() {
	local round

	for round in $(seq "$1"); do
		check "the agent is killed in round $round" kill_agent
		check "the agent and the store are back in round $round" restored
		check "reports flow again in round $round" until_true differs "$sum"
		echo "# $(($(date +%s%3N) - killed)) ms after the agent was killed"
	done
}
