#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The packaged dartd, with its few capabilities, gathers Debian's redis-server as its unit runs it,
# in a user namespace of its own, and goes on with the next process when the unit restarts.
. "$(dirname "$0")/../lib.sh"
log=/run/log.dartd
unit=redis-server.service

packaged=/lib/systemd/system/$unit
[ -e $packaged ] || skip "redis-server is not installed"
id=$(file -bL "$(command -v redis-server)" | sed -n 's/.*BuildID\[sha1\]=\([0-9a-f]*\).*/\1/p')
[ -e "$tests/../schemas/applications/layouts/$id.yaml" ] ||
	skip "no layout is for this redis-server ($id)"

main_pid() {
	systemctl show --property MainPID --value $unit
}

start_service() {
	systemctl start "$1" || {
		journalctl --no-pager --unit "$1" --lines 20
		return 1
	}
}

# shows PID: the entry has values of the process
shows() {
	journalctl --no-pager --unit dartd.service --lines 10 >"$log"
	dartctl -j show redis@redis-server+100ms | is_true --argjson pid "$1" \
		'.values.sum.process_id == $pid'
}

ln -s $packaged /run/systemd/system/$unit
systemctl daemon-reload
check "dartd starts" start_service dartd.service
check "Debian's unit of Redis starts" start_service $unit
check "Redis is added by its unit" \
	dartctl application add redis --unit $unit --gather 100ms
first=$(main_pid)
check "its entry is called after the unit" soon shows "$first"
check "Redis starts again" systemctl restart $unit
check "it is another process" [ "$(main_pid)" != "$first" ]
check "whose values follow" soon shows "$(main_pid)"
check "dartd stops" systemctl stop dartd.service
systemctl stop $unit
finish
