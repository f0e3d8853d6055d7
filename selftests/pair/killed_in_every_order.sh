#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# kill -9 of agent, controller and owner of a map, in every order: nothing is
# left of any of them. While one lives, it goes on with what there still is; a map
# without an owner is gone.
. "$(dirname "$0")/../lib.sh"

kill_agent() {
	on host host_down KILL
}

kill_owner() {
	on host host_down KILL map_owner
}

kill_controller() {
	host_down KILL dart-controller
}

start_all() {
	on host host_up &&
		on host until_ready /run/map_owner.log map_owner owned &&
		on host dartctl register source cpustat &&
		on host dartctl register map name owned || return 1
	# Not the lines of the round before.
	: >/run/scrapes
	dart-controller --interval 50ms --json host >/run/scrapes 2>/run/log &
	# It is at work when there is a line.
	tail -F /run/scrapes 2>/dev/null | grep -q -m 1 '"owned"'
}

# none COMMAND...: prints nothing.
none() {
	if "$@" 2>/dev/null | grep .; then
		echo "left: $*"
		exit 1
	fi
}

# Of all that the three held. Kernel threads have queue pairs, but no pid.
rdma_left() {
	rdma resource show mr
	rdma resource show cm_id
	rdma resource show qp | grep ' pid '
}

pins_left() {
	echo 1 >/proc/sys/vm/stat_refresh
	awk '/^nr_foll_pin_acquired/ { pins += $2 }
		/^nr_foll_pin_released/ { pins -= $2 }
		END { if (pins) print pins }' /proc/vmstat
}

agent_sockets_left() {
	ss --unix --listening --no-header | grep dartd
}

# Otherwise nobody would see that something is left. Runs on the host.
all_seen_there() {
	rdma resource show mr | grep -q ' pid ' &&
		rdma resource show qp | grep -q ' pid ' &&
		pins_left | grep -q . && agent_sockets_left | grep -q . &&
		! grep '^0$' /sys/module/dart_zero/refcnt
}

# Runs on the host.
nothing_left_there() {
	none rdma_left
	none pins_left
	none agent_sockets_left
	none bpftool map show name owned
	none grep -v '^0$' /sys/module/dart_zero/refcnt
	modprobe -r dart_zero
}

nothing_left() {
	on host "$0" nothing_left_there && none rdma_left
}

if [ $# -gt 0 ]; then
	"$@"
	exit
fi

rdma_up
for order in "agent controller owner" "agent owner controller" \
	"controller agent owner" "controller owner agent" \
	"owner agent controller" "owner controller agent"; do
	check "$order: all three are at work" start_all
	check "$order: what they hold is seen" on host "$0" all_seen_there
	agent=alive owner=alive
	for victim in $order; do
		check "$order: $victim is killed" "kill_$victim"
		case $victim in
		agent) agent=dead ;;
		owner) owner=dead ;;
		esac
		case $agent,$owner in
		alive,alive)
			check "$order: the agent still shows the map" \
				on host dartctl show owned
			;;
		alive,dead)
			refuse "$order: the map is gone with its owner" \
				"no entry" on host dartctl show owned
			;;
		esac
	done
	check "$order: nothing is left" nothing_left
done
finish
