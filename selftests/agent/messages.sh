#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The registration socket: what is refused leaves no trace.
. "$(dirname "$0")/../lib.sh"

check "the agent starts" host_up
check "cpustat is registered" dartctl register source cpustat
check "malformed messages leave the list unchanged" malformed_messages

unprivileged() {
	setpriv --reuid 65534 --clear-groups "$@"
}

chmod 666 /run/dart/dartd.sock
refuse "a source is for root only" "only root" \
	unprivileged dartctl register source vmstat
refuse "so is taking it back" "another user's" \
	unprivileged dartctl unregister cpustat
check "others may look" unprivileged dartctl list
check "the agent ends" host_down
refuse "dartctl says that there is no agent" "is dartd running" dartctl list
finish
