#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Registering a whole host makes the kernel print nothing: no deprecated protocol is used,
# and no module is requested.
. "$(dirname "$0")/../lib.sh"

check "the agent starts" host_up
dmesg | wc -l >/run/lines
check "a whole host is gathered" dartctl register host --gather 100ms
# shellcheck disable=SC2016 # expanded by the inner shell
check "the kernel has printed nothing" sh -c \
	'new=$(dmesg | tail -n "+$(($(cat /run/lines) + 1))" | grep -v "clocksource\|hrtimer")
	echo "$new"; [ -z "$new" ]'
passed
is_listed() {
	dartctl -j show "sockets+100ms" | is_true \
		".values.sum | .udplite_inuse == $1 and .udplite6_inuse == $2"
}
check "sockets of UDP-Lite are counted: none" soon is_listed 0 0
cat >/run/udplite.py <<'END'
import socket
kept = [socket.socket(family, socket.SOCK_DGRAM, 136)
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_INET6)]
for each in kept:
    each.bind(("::1" if each.family == socket.AF_INET6 else "127.0.0.1", 0))
print("ready", flush=True)
import time
time.sleep(1000)
END
if python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136)' 2>/dev/null; then
	mkfifo /run/udplite
	python3 /run/udplite.py >/run/udplite &
	check "three sockets of UDP-Lite are made" grep -q ready /run/udplite
	check "they are counted" soon is_listed 1 2
	kill $!
	wait $! 2>/dev/null
fi
check "the agent stops" host_down
finish
