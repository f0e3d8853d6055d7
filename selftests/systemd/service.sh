#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The installed service starts, stops and is restarted by systemd.
. "$(dirname "$0")/../lib.sh"

# property NAME: of the service
property() {
	systemctl show --property "$1" --value dartd.service
}

check "PID 1 is systemd" grep -x systemd /proc/1/comm
check "the service starts, and with it the module" systemctl start dartd.service
check "the running dartd is the service's" \
	[ "$(pidof dartd)" = "$(property MainPID)" ]
check "dartctl reaches the service" dartctl list
check "the service stops" systemctl stop dartd.service
check "a service that was stopped is inactive, not failed" \
	[ "$(property ActiveState)" = inactive ]
finish
