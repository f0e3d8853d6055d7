# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Switches of BMv2 without interfaces, for tests in shell; source lib.sh first. Skips the
# test without the tools. When it ends, the processes in $switches are killed, and the
# files in $directory removed.
#
#	start PORT PROGRAM	starts a switch; $switch is its process
#	on PORT COMMAND...	runs commands in the switch's own command line

# shellcheck disable=SC2154 # lib.sh sets tests
PATH=$tests/../.output/bin:$PATH
for tool in p4c-bm2-ss simple_switch simple_switch_CLI; do
	command -v $tool >/dev/null || skip "$tool is not in PATH (see 'P4' in README.md)"
done

directory=$(mktemp -d)
switches=
# shellcheck disable=SC2086,SC2154 # words; lib.sh sets output
trap 'kill -KILL $switches 2>/dev/null; rm -rf "$directory" "$output"' EXIT

on() {
	there=$1
	shift
	printf '%s\n' "$@" | simple_switch_CLI --thrift-port "$there" 2>&1
}

# Without nanomsg simple_switch has no notifications, which only digests need, and refuses the
# option.
simple_switch --help 2>&1 | grep -q notifications-addr && has_notifications=1

# Its notifications, if it has any, use a separate socket.
start() {
	simple_switch --thrift-port "$1" --log-level off \
		${has_notifications:+--notifications-addr "ipc://$directory/notify.$1"} \
		"$2" >"$directory/log.$1" 2>&1 &
	switch=$!
	switches="$switches $switch"
	until on "$1" help >/dev/null 2>&1; do
		kill -0 $switch 2>/dev/null || {
			sed 's/^/# /' "$directory/log.$1"
			exit 1
		}
	done
}
