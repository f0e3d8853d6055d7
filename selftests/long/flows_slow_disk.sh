#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The journal of dart-flows is on a disk that takes three seconds for each write, and is written
# anew while packets come: none waits for the new file, which takes several writes.  A packet can
# wait for one write: ext4 lets no process change an inode while its block is on the way to the log.
. "$(dirname "$0")/../lib.sh"

command -v dmsetup >/dev/null || skip "dmsetup is not installed (make packages)"
log=/run/dart-flows.log
policy=/run/flows.yaml
control=/run/dart-flows.sock
disk=/run/slow
image=/run/slow.image
writes_ms=3000

# slow MS: each write to the disk takes this time from now on
slow() {
	dmsetup suspend slow &&
		echo "0 $sectors delay $loop 0 0 $loop 0 $1" | dmsetup load slow && dmsetup resume slow
}

make_disk() {
	modprobe -a loop ext4 dm_delay && truncate -s 256M "$image" &&
		loop=$(losetup -f --show "$image") && sectors=$(blockdev --getsz "$loop") &&
		echo "0 $sectors delay $loop 0 0 $loop 0 0" | dmsetup --noudevrules --noudevsync create slow &&
		dmsetup mknodes slow &&
		mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0 /dev/mapper/slow &&
		mkdir -p "$disk" &&
		mount /dev/mapper/slow "$disk" && slow "$writes_ms"
}

# records FILTER: of the number in the journal
records() {
	dartctl --socket "$control" -j flow show | is_true ".journal.records | $1"
}

# send COUNT [JOURNAL]: packets, one record each, and until that is another file
send() {
	"$tests/lib/flows_stops.py" flows1 "$@" >/run/stops && cat /run/stops
}

printf '%s\n' 'interface: flows0' 'table: nat' "journal: $disk/journal" 'inside: [10.0.0.0/8]' \
	'flows: 1000' 'rate: 1000000' 'pools: [{addresses: 203.0.113.1, ports: 2000-65000}]' \
	'routes:' ' - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}' \
	' - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}' >$policy
ip link add flows0 type veth peer name flows1
for interface in flows0 flows1; do
	echo 1 >/proc/sys/net/ipv6/conf/$interface/disable_ipv6
	ip link set $interface up
done
check "there is a disk that takes $writes_ms ms for a write" make_disk
check "dart-flows starts with a journal there" \
	until_ready $log dart-flows --policy $policy --control $control
check "65,000 records are in the journal" send 65000
check "it was not written anew meanwhile" records '. >= 64000'
check "packets come until it is written anew" send 6000 $disk/journal
echo "# $(cat /run/stops)"
check "none of them waited for more than one write" is_true \
	".longest_ms < $writes_ms * 1.5" /run/stops
# The file has its name before the directory is on the disk.
check "the journal has the flows that are left, and the records that came meanwhile" \
	soon records ". < 1000 + $(gojq '32 * .came' /run/stops)"
check "there is no next file" [ ! -e $disk/journal.new ]
check "nothing was said about it" test ! -s $log -o "$(grep -c -v 'dartd\|known from' $log)" = 0
slow 0
check "dart-flows ends" host_down TERM dart-flows

ip link del flows0
umount $disk
dmsetup remove slow
losetup -D
rm -rf $disk $image $policy /run/stops
finish
