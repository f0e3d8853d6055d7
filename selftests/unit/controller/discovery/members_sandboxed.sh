#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With the /proc that its unit gives it, the controller refuses a list of members of another boot,
# and takes a list of this one.
. "$(dirname "$0")/../../../lib.sh"
bin=$tests/../.output/bin
unit=$tests/../tools/controller/dart-controller.service
[ -x "$bin/dart-controller" ] || skip "make programs has not been run"
[ "$(id -u)" = 0 ] || skip "only root may mount /proc"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
subset=$(sed -n 's/^ProcSubset=//p' "$unit")

# sandboxed COMMAND...: with a /proc like that of the unit
sandboxed() {
	# shellcheck disable=SC2016 # of the inner shell
	unshare --mount --pid --fork sh -c '
		mount -t proc ${1:+-o "subset=$1"} proc /proc && shift && exec "$@"' \
		sh "${subset#all}" "$@"
}

# lists BOOT_ID: a list of that boot, which is valid for ten minutes
lists() {
	printf '{"members": [1, 2], "valid_until": %s, "boot_id": "%s"}\n' \
		"$(awk '{ print $1 + 600 }' /proc/uptime)" "$1" >"$dir/members"
}

printf 'agents: [{host: h}]\nshard: {member: 1, members_file: %s}\n' "$dir/members" >"$dir/config.yaml"
# explain AGENT
explain() {
	sandboxed "$bin/dart-controller" shard --config "$dir/config.yaml" --explain "$1"
}

lists "$(cat /proc/sys/kernel/random/boot_id)"
check "a list of this boot is taken" explain h:1
lists 00000000-0000-0000-0000-000000000000
refuse "a list of another boot is refused" "was written before this host started" explain h:1
finish
