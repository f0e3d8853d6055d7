#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each command of Documentation/sources.md for a machine, run in this one, shows
# what it says; and there is one for each source.
. "$(dirname "$0")/../lib.sh"

page=$tests/../Documentation/sources.md

# run COMMAND: as if the machine had just begun
run() {
	cd "$tests/.." && sh -ec "$1" || return
	host_down
	ip -all netns delete
	[ ! -e /sys/class/net/veth0 ] || ip link delete veth0
}

# named: the sources of the table, one a line
# shellcheck disable=SC2016 # they are in backquotes there
named() {
	sed -n '/^| source/,/^$/s/^| \(`[^|]*`\) |.*/\1/p' "$page" |
		tr -d '`' | tr ' ' '\n'
}

mapfile -t -d "'" parts <"$page"	# each second one is a command
sources=0
for ((i = 1; i < ${#parts[@]}; i += 2)); do
	[[ ${parts[i - 1]} == *"qemu/run -- sh -ec "* ]] || continue
	command=${parts[i]%"'"}
	commands+=$command
	check "runs: $(grep -o 'register source.*' <<<"$command" | head -1)" \
		run "$command"
done
for source in $(named); do
	check "there is one for $source" grep -q -F -w "$source" <<<"${commands-}"
	sources=$((sources + 1))
done
check "the page names sources" [ $sources -gt 15 ]
finish
