#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While dartd takes a large table over, systemd is told to wait longer for its start.
. "$(dirname "$0")/../lib.sh"

file=/dev/shm/table

# start: starts the service again; $invocation is the name that systemd gives to this start
start() {
	systemctl stop dartd.service && systemctl start dartd.service || return
	invocation=$(systemctl show --property InvocationID --value dartd.service)
	journalctl --sync
}

# extensions: how often dartd asked for more time since its start, as PID 1 logs it
extensions() {
	journalctl --quiet --no-pager --output cat _PID=1 INVOCATION_ID="$invocation" |
		grep -c EXTEND_TIMEOUT_USEC=300000000
}

# ready: PID 1 logged that dartd is ready
ready() {
	journalctl --quiet --no-pager --output cat _PID=1 INVOCATION_ID="$invocation" |
		grep READY=1
}

rdma_up
check "systemd logs the messages of services" \
	sh -c "systemctl log-target journal && systemctl log-level debug"
check "the service starts" start
check "systemd has logged that it is ready" ready
check "without a table it asks for no more time" [ "$(extensions)" = 0 ]
install -o dart -m 600 /dev/null "$file"
check "a table of many rows is created" dartctl table create flows --rows 2^23 --cells 1 \
	--key 2 --value 2 --file "$file"
check "the service starts again" start
asked=$(extensions)
check "while it takes the table over it asks for more time: $asked times" \
	[ "$asked" -ge 1 ]
check "the table is there" dartctl table show flows
check "the service stops" systemctl stop dartd.service
systemctl log-level info
rm "$file"
finish
