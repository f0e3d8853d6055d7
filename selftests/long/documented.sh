#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Documentation/sources.md shows a command for each source, and each command runs.
. "$(dirname "$0")/../lib.sh"

page=$tests/../Documentation/sources.md

# run COMMAND: runs it, and removes its traces in the machine afterwards
run() {
	cd "$tests/.." && sh -ec "$1" || return
	host_down
	ip -all netns delete
	[ ! -e /sys/class/net/veth0 ] || ip link delete veth0
	[ ! -e /sys/fs/cgroup/mine ] || rmdir /sys/fs/cgroup/mine
}

# named: the sources in the table of the page, one per line
# shellcheck disable=SC2016 # backquotes of Markdown
named() {
	sed -n '/^| source/,/^$/s/^| \(`[^|]*`\) |.*/\1/p' "$page" |
		tr -d '`' | tr ' ' '\n'
}

mapfile -t -d "'" parts <"$page"	# commands are in quotes
sources=0
count=0
for ((i = 1; i < ${#parts[@]}; i++)); do
	[[ ${parts[i - 1]} == *"qemu/run -- sh -ec "* ]] || continue
	command=${parts[i]%"'"}
	commands+=$command
	check "documented command $((++count)) runs: $(grep -o 'register source.*' \
		<<<"$command" | head -1)" \
		run "$command"
done
for source in $(named); do
	check "the page has a command for the source $source" \
		grep -q -F -w "$source" <<<"${commands-}"
	sources=$((sources + 1))
done
check "the table of the page names more than 15 sources" [ $sources -gt 15 ]
finish
