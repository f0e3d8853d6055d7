#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Agent, controller and map owner, killed in every order, leave no traces.
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
	: >/run/scrapes		# of the round before
	dart-controller --interval 50ms --json host >/run/scrapes 2>/run/log &
	# A line with the map shows that all three work.
	tail -F /run/scrapes 2>/dev/null | grep -q -m 1 '"owned"'
}

# none COMMAND...: succeeds if the command prints nothing
none() {
	if "$@" 2>/dev/null | grep .; then
		echo "left: $*"
		exit 1
	fi
}

# Objects of all three processes. Queue pairs of kernel threads show no pid.
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

# Shows, on the host, that nothing_left_there would find leftovers.
all_seen_there() {
	rdma resource show mr | grep -q ' pid ' &&
		rdma resource show qp | grep -q ' pid ' &&
		pins_left | grep -q . && agent_sockets_left | grep -q . &&
		! grep '^0$' /sys/module/dart_zero/refcnt
}

# On the host.
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
	check "$order: agent, map owner and controller work together" start_all
	check "$order: the kernel shows the objects of the three" \
		on host "$0" all_seen_there
	agent=alive owner=alive
	for victim in $order; do
		check "$order: the $victim is killed" "kill_$victim"
		case $victim in
		agent) agent=dead ;;
		owner) owner=dead ;;
		esac
		case $agent,$owner in
		alive,alive)
			check "$order: the agent shows the map after the $victim was killed" \
				on host dartctl show owned
			;;
		alive,dead)
			refuse "$order: the agent drops the map of a killed owner ($victim killed last)" \
				"no entry" on host dartctl show owned
			;;
		esac
	done
	check "$order: three killed processes leave nothing" nothing_left
done
finish
