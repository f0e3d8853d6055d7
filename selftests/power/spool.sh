#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The samples that a spool keeps when the power fails, for each value of spool_sync. QEMU is killed
# three times while a controller in the machine pushes to spools, one disk for each value: while the
# receivers are down, in the middle of a delivery, and in the next outage. The machine boots again
# with the same disks, and at last delivers the rest. The test compares the samples that arrived
# with the contents of the spools, with the promise of each value, and with the samples made.
#
# A killed machine loses its memory: the pages that its kernel had not written to the disk. Pages
# that QEMU was told to write stay in the page cache of this host, so the test does not cover a real
# disk that loses its write cache; fdatasync() and fsync() write and flush, and both are counted.
# The kernel of the machine is set to write nothing by itself, so a spool without a sync loses all
# samples: for "never" the test syncs once, in place of the kernel, and shows that the rest is lost.
. "$(dirname "$0")/../lib.sh"

here=$tests/power
PATH=$PATH:/usr/sbin:/sbin
command -v mkfs.ext4 >/dev/null || skip "mkfs.ext4 is not installed (Debian package e2fsprogs)"
share=$(mktemp -d)
machine=
# shellcheck disable=SC2317 # called by the trap
clean() {
	end_processes "$machine"
	rm -rf "$share"
}
trap clean EXIT
mkdir "$share/received"
disks=()
for kind in never 1s always; do
	truncate -s 64M "$share/disk-$kind"
	mkfs.ext4 -q "$share/disk-$kind"
	disks+=(--disk "$share/disk-$kind")
done

# start BOOT: a machine with the disks
start() {
	"$tests/qemu/run" --share "$share" --timeout 900 "${disks[@]}" -- \
		"$here/spool_in_guest" "$share" "$1" >"$share/output" 2>&1 &
	machine=$!
}

# killed BOOT: QEMU is killed when the machine says that it may be, without a word to the machine
killed() {
	start "$1"
	until [ -e "$share/$1/now" ]; do
		kill -0 "$machine" 2>/dev/null || break
		sleep 0.05
	done
	end_processes "$machine"
	machine=
	# QEMU keeps the disks open until it is gone.
	while pgrep -f -- "file=$share/disk-never" >/dev/null; do
		sleep 0.05
	done
	[ -e "$share/$1/now" ] && return
	cat "$share/output" "$share/$1/log"
	return 1
}

delivered() {
	local status=0

	start 4
	wait "$machine" || status=$?
	machine=
	cat "$share/output" "$share/4/log"
	return "$status"
}

check "the power is cut while the receivers are down" killed 1
check "the power is cut while messages are delivered" killed 2
check "the power is cut while the receivers are down again" killed 3
check "after the last power cut all that is left is delivered" delivered
check "the arrived samples can be compared" sh -c \
	'python3 "$1/promised.py" "$2" >"$2/judged"' sh "$here" "$share"
: >"$output"
while read -r line; do
	case $line in
	'ok '*) point ok "${line#* - }" ;;
	'not ok '*) point "not ok" "${line#* - }" ;;
	*) echo "$line" ;;
	esac
done <"$share/judged"
finish
