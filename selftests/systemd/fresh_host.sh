#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A new user's host: the packages are installed, one command registers the host, and a receiver
# gets every family that prometheus.md promises, of all file systems and of the cgroups of an
# ordinary user; each unserved object shows a reason.
. "$(dirname "$0")/../lib.sh"

lib=$(cd "$(dirname "$0")/../lib" && pwd)
log=/run/controller.log
images=/run/images
metrics=/run/metrics
user=/sys/fs/cgroup/user.slice/user-1000.slice

# Families that this machine cannot provide, regardless of the exporter.
cat >/run/absent <<'END'
node_cpu_scaling_frequency_hertz	no cpufreq: the emulated CPU has one frequency
node_nf_conntrack_entries	nf_conntrack is loaded with the first rule of a firewall
node_nf_conntrack_entries_limit	the same
END

disk() {
	local loop

	truncate -s "$2" "$images/$1"
	loop=$(losetup -f --show "$images/$1")
	"${@:3}" "$loop" >/dev/null && echo "$loop"
}

# scraped: gets the metrics of a second scrape, as Prometheus would
scraped() {
	python3 "$lib/fetch.py" /metrics >"$metrics" 2>/dev/null &&
		grep -a -q '^node_load1{' "$metrics" && grep -q -a '^node_filesystem_size' "$metrics"
}

# promised: the families that prometheus.md promises
promised() {
	sed -n '/^[0-9]* of the 229/,/^[A-Z#]/{s/^    //p}' \
		"$tests/../Documentation/prometheus.md" | tr ' ' '\n' | LC_ALL=C sort -u
}

# absent: the promised families without a series
absent() {
	LC_ALL=C comm -23 <(promised) \
		<(LC_ALL=C sed -n 's/^\([a-z_A-Z0-9:]*\)[{ ].*/\1/p' "$metrics" | LC_ALL=C sort -u)
}

# serves FAMILY TEXT: the family contains a series with this text in its labels
serves() {
	grep -e "^$1{" "$metrics" | grep -a -q -F -e "$2" || {
		grep -a "^$1{" "$metrics"
		return 1
	}
}

# explained: every object is served or shows a reason with a remedy
explained() {
	dartctl -j status >/run/status && cat /run/status && is_true '.coverage |
		length > 0 and all(.[]; .present == .served + (.missing |
			map(.count) | add // 0) and
			all(.missing[]; .example != "" and .remedy != ""))' /run/status
}

modprobe -a loop ext4 xfs btrfs
mkdir -p $images /srv/data /srv/root
mount_over /home "$(disk home 16M mkfs.ext4 -qF)"
mkdir -p /srv
mount_over /srv "$(disk srv 32M mkfs.ext4 -qF)"
mkdir -p /srv/data /srv/root /home/volume
mount "$(disk data 320M mkfs.xfs -q)" /srv/data
btrfs=$(disk volumes 128M mkfs.btrfs -q)
mount "$btrfs" /srv/root
btrfs -q subvolume create /srv/root/@ >/dev/null
btrfs -q subvolume create /srv/root/@home >/dev/null
umount /srv/root
mount -o subvol=@ "$btrfs" /srv/root
mount -o subvol=@home "$btrfs" /home/volume
mkdir -p $user
chown 1000 $user $user/cgroup.procs
long=$(printf 'd%.0s' $(seq 199))
check "a user makes three cgroups" setpriv --reuid 1000 --clear-groups bash -c "
	mkdir $user/plain $user/\$'x\\xe9' && mkdir -p $user/$long/$long"

check "the service starts as it is installed" systemctl start dartd.service
check "one command registers the host" sh -c \
	'dartctl list | grep -q "^host " || dartctl register host --gather 1s'
dart-controller --listen --interval 1s 10.77.0.1 >/run/lines 2>$log &
controller=$!
check "the controller serves metrics" soon scraped
read -r now _ </proc/uptime
sleep_until=$((${now%.*} + 12))

# File systems are gathered every 10 s, and their values come one interval later.
have_values() {
	read -r now _ </proc/uptime
	[ "${now%.*}" -ge "$sleep_until" ] && python3 "$lib/fetch.py" /metrics >"$metrics"
}
check "all file systems have values" soon have_values
check "prometheus.md promises as many families as it says" [ "$(promised | wc -l)" = \
	"$(sed -n 's/^\([0-9]*\) of the 229 .*/\1/p' "$tests/../Documentation/prometheus.md")" ]
check "each has a series, but for $(wc -l </run/absent) that such a machine lacks" \
	diff <(cut -f 1 /run/absent | LC_ALL=C sort) <(absent)
for mount in /home /srv /srv/data /srv/root; do
	check "the size of the file system at $mount is served" \
		serves node_filesystem_size_bytes "mountpoint=\"$mount\""
done
check "two subvolumes of btrfs are one file system with its device" \
	serves node_filesystem_size_bytes "device=\"$btrfs\",fstype=\"btrfs\",mountpoint=\"/srv/root\""
check "a cgroup of the user is served" \
	serves container_cpu_usage_seconds_total 'id="/user.slice/user-1000.slice/plain"'
check "Prometheus' own parser reads the page: up is 1" python3 -c "
from prometheus_client.parser import text_string_to_metric_families as parse
text = open('$metrics', encoding='utf-8', errors='strict').read()
assert sum(len(family.samples) for family in parse(text)) > 500"
check "each unserved object has a reason and a remedy" explained
kill $controller
check "the service stops" systemctl stop dartd.service
umount -l /srv/data /srv/root /home/volume /srv /home
losetup -D
rm -rf $images
rmdir $user/plain $user/x* "$user/$long/$long" "$user/$long" $user
finish
