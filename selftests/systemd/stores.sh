#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# systemd keeps the memory of stores while the service is restarted or crashes.
. "$(dirname "$0")/../lib.sh"

# property NAME: of the service
property() {
	systemctl show --property "$1" --value dartd.service
}

# again COMMAND...: waits until another dartd answers after this command
again() {
	local old end=$((SECONDS + patience))

	old=$(property MainPID)
	"$@" || return
	while [ "$SECONDS" -lt "$end" ]; do
		[ "$(property MainPID)" != "$old" ] &&
			dartctl status >/dev/null 2>&1 && return
		sleep 0.4
	done
	return 1
}

kept_is() {
	[ "$(property NFileDescriptorStore)" = "$1" ]
}

checksum_is() {
	[ "$(store_checksum paths)" = "$1" ]
}

rdma_up
check "the service starts" systemctl start dartd.service
check "a store is created" dartctl store create paths --slots 2^16 --value 20
check "systemd has its memory when dartctl ends" kept_is 1
check "random bytes are written to the store" sh -c "store_fill \
	\"\$(find /proc/$(property MainPID)/fd -lname '/memfd:dart-store*')\""
sum=$(store_checksum paths)
check "the service is restarted" again systemctl restart dartd.service
check "a restart keeps the bytes of the store" checksum_is "$sum"
for round in 1 2; do
	check "dartd is killed, and systemd starts it again: round $round" \
		again systemctl kill --signal KILL dartd.service
	check "a crash keeps the bytes of the store: round $round" checksum_is "$sum"
	check "systemd still has one descriptor: round $round" kept_is 1
done
check "the store is deleted" dartctl store delete paths
check "systemd has forgotten its memory when dartctl ends" kept_is 0
check "the service stops" systemctl stop dartd.service
finish
