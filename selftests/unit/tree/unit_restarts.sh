#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Whatever a program lacks when the host starts, such as an address that DHCP gives it later,
# systemd starts the program until it has it: no unit reaches the limit of starts, after which it
# stays dead.
. "$(dirname "$0")/../../lib.sh"
bin=$tests/../.output/bin
[ -x "$bin/dart-controller" ] || skip "make programs has not been run"

# Defaults of systemd-system.conf(5).
interval_default=10 burst_default=5

# value KEY FILE: the last one; nothing without the key
value() {
	sed -n "s/^$1=//p" "$2" | tail -n 1
}

# seconds TIME: in whole seconds, as units here have them
seconds() {
	case $1 in
	*min) echo $((${1%min} * 60)) ;;
	*) echo "${1%s}" ;;
	esac
}

# goes_on FILE: as many starts as the limit permits take longer than the interval of the limit
goes_on() {
	local interval burst pause
	interval=$(seconds "$(value StartLimitIntervalSec "$1")")
	burst=$(value StartLimitBurst "$1")
	pause=$(seconds "$(value RestartSec "$1")")
	interval=${interval:-$interval_default} burst=${burst:-$burst_default}
	echo "$burst starts, ${pause:-0} s between them, within $interval s"
	[ "$interval" = 0 ] || [ $((burst * ${pause:-0})) -gt "$interval" ]
}

for unit in "$tests"/../{agent,tools/*}/*.service; do
	[ "$(value Restart "$unit")" = on-failure ] || continue
	check "$(basename "$unit") is started until it runs" goes_on "$unit"
done

# It is of no host: RFC 5737.
refuse "the controller ends without its address" "cannot listen at '203.0.113.9:4795'" \
	timeout 60 "$bin/dart-controller" --web=203.0.113.9:4795 127.0.0.1
finish
