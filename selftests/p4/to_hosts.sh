#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Two P4 switches between virtual machines: one machine sends flows, two others hold stores.
here=$(cd "$(dirname "$0")/.." && pwd)
missing=$("$here/p4_missing") && {
	echo "1..0 # SKIP $missing"
	exit 4
}
# A program that only the PATH of the caller leads to.
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
ln -s "$(command -v simple_switch_CLI)" "$directory/simple_switch_CLI_of_caller"
PATH=$PATH:$directory "$here/p4_network" 2 "$here/qemu/run" --tap machines \
	--peer host --peer other -- "$here/p4/to_hosts_in_guest"
