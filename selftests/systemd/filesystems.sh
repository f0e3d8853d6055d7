#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every file system of a disk that PID 1 sees is served, at any mount point, under any name,
# even if dartd itself cannot see it.
. "$(dirname "$0")/../lib.sh"

# Keep the output in a directory over which the test mounts no file system.
rm -f "$output"
output=/run/filesystems.output
log=/run/dartd.log
images=/run/images

# image NAME SIZE: prints a new loop device
image() {
	mkdir -p $images
	truncate -s "$2" "$images/$1"
	losetup -f --show "$images/$1"
}

# ext4 NAME: prints a loop device with this file system
ext4() {
	local loop

	loop=$(image "$1" 16M) && mkfs.ext4 -qF "$loop" && echo "$loop"
}

# has ENTRY: by the part of the name between the source and the interval. Functions that are called
# often start few programs.
has() {
	local list

	list=$(dartctl list) || return
	[[ $list == *$'\n'"filesystem@$1+100ms "* ]] || { echo "$list" && return 1; }
}

has_not() {
	local list

	list=$(dartctl list) || return
	[[ $list != *$'\n'"filesystem@$1+100ms "* ]]
}

# is ENTRY FILTER: a sample of this file system from after this call satisfies a filter of jq
is() {
	local i now status

	read -r now _ </proc/uptime
	for ((i = 0; i < 1000; i++)); do
		dartctl -j show "filesystem@$1+100ms" >/run/shown || return
		gojq -e ".values.sum | select(.time > $now * 1e9 + 1e7) | $2" /run/shown
		status=$?
		[ "$status" = 4 ] || return "$status" # 4: it is older
		sleep 0.02
	done
	return 1
}

# source_of MOUNTPOINT: the device in mountinfo
source_of() {
	findmnt --task 1 --noheadings --output SOURCE --nofsroot --first-only "$1"
}

# has_size_of ENTRY MOUNTPOINT
has_size_of() {
	is "$1" ".size == $(stat -f -c '%b * %S' "$2")"
}

unmount() {
	# The file system is busy during a question, as with df.
	until umount "$1" 2>/dev/null || ! mountpoint -q "$1"; do
		sleep 0.01
	done
}

modprobe -a loop ext4 xfs btrfs jffs2 overlay mtdram
check "dartd starts" host_up
check "the file systems of disks are followed" dartctl register source filesystem \
	--all-filesystems --gather 100ms

for point in /home /root /srv /tmp /var/tmp /run/user; do
	mkdir -p $point
	mount_over $point "$(ext4 "${point//\//_}")"
	check "a file system that is mounted at $point has an entry" soon has $point
	check "it has the size of the file system" soon has_size_of $point $point
	check "it has the device" is $point ".device == \"$(source_of $point)\""
done

xfs=$(image xfs 320M)
mkfs.xfs -q "$xfs"
mkdir -p /srv/xfs
mount "$xfs" /srv/xfs
check "a file system of the type xfs has an entry" soon has /srv/xfs
check "it has its type" is /srv/xfs '.fstype == "xfs"'

btrfs=$(image btrfs 128M)
mkfs.btrfs -q "$btrfs" >/dev/null
mkdir -p /srv/whole /srv/root /home/volume
mount "$btrfs" /srv/whole
btrfs -q subvolume create /srv/whole/@ >/dev/null
btrfs -q subvolume create /srv/whole/@home >/dev/null
umount /srv/whole
mount -o subvol=@home "$btrfs" /home/volume
check "a subvolume of btrfs has an entry" soon has /home/volume
check "it has the device that mountinfo tells" is /home/volume ".device == \"$btrfs\""
mount -o subvol=@ "$btrfs" /srv/root
check "two subvolumes are one file system, with the shorter path" soon has /srv/root
check "the longer path has no entry" soon has_not /home/volume
check "its device is the same" is /srv/root ".device == \"$btrfs\" and .fstype == \"btrfs\""
check "its size is that of the file system" soon has_size_of /srv/root /srv/root
refuse "the other subvolume is the same file system" "registered already, as 'filesystem@/srv/root+100ms'" \
	dartctl register source filesystem --filesystem /home/volume --gather 100ms

mkdir -p /srv/flash
mount -t jffs2 mtd0 /srv/flash
check "the kernel calls the file system nodev" grep -P '^nodev\tjffs2$' /proc/filesystems
check "a file system that lies on memory of its own has an entry" soon has /srv/flash
check "it has the device that mountinfo tells" is /srv/flash ".device == \"$(source_of /srv/flash)\""

while IFS=" " read -r name entry; do
	point=$(printf %b "/srv/$name")
	mkdir -p "$point"
	mount "$(ext4 "$entry")" "$point"
	check "a mount point with the name $name has an entry" soon has "/srv/$entry"
	check "its values agree with the file system" soon has_size_of "/srv/$entry" "$point"
done <<-'END'
	a\x20b a%20b
	line\nline line%0Aline
	tab\ttab tab%09tab
	back\x5c040slash back%5C040slash
	foreign\xe9\xff foreign%E9%FF
	percent%20 percent%2520
	#hash %23hash
	plus+1s plus%2B1s
END

mkdir -p /srv/below /srv/bound /srv/over/{u,w,m}
mount --bind /home /srv/bound
mount -t overlay -o lowerdir=/srv/below,upperdir=/srv/over/u,workdir=/srv/over/w over /srv/over/m
mount "$(ext4 last)" /srv/below
check "a file system that is mounted after them has an entry" soon has /srv/below
check "another mount of the same file system has no entry" has_not /srv/bound
check "an overlay has no entry, because it lies on other file systems" has_not /srv/over/m

mount "$(ext4 over)" /srv/below
check "a mount over a mount takes its place" soon has_size_of /srv/below /srv/below
unmount /srv/below
check "the lower file system has its entry again" soon is /srv/below \
	".device == \"$(source_of /srv/below)\""
mount_over /srv -t tmpfs none
check "a file system hidden by a mount over a directory above has no entry" soon has_not /srv/below
check "others have theirs" has /home
umount --recursive /srv
check "they have their entries again" soon has /srv/below
mkdir -p /srv/moved
# The kernel does not move a mount below a shared mount.
mount --make-private /srv
mount --move /srv/below /srv/moved
check "a mount that was moved has an entry of its new path" soon has /srv/moved
check "and no entry of the old file system" soon has_not /srv/below

# All within the second in which mounts are not read again.
for name in one two three; do
	mkdir -p /srv/at/$name
	truncate -s 4M $images/$name
	mkfs.ext4 -qF $images/$name
done
for name in one two three; do
	mount -o loop $images/$name /srv/at/$name
done
for name in one two three; do
	check "of file systems that are mounted at once, the one at $name has an entry" \
		soon has /srv/at/$name
done
umount -l /srv/at/one /srv/at/two /srv/at/three

# Numbers and identifiers of a mount are used again at once.
device=$(source_of /srv/moved)
for _ in 1 2 3 4 5 6; do
	unmount /srv/moved
	mount "$device" /srv/moved
done
unmount /srv/moved
check "a file system that is unmounted has no entry" soon has_not /srv/moved
mount "$device" /srv/moved
check "a file system that is mounted again has an entry again" soon has /srv/moved
check "with its values" soon has_size_of /srv/moved /srv/moved

check "the follower is unregistered" dartctl unregister 'filesystem@*+100ms'
check "file systems are registered by hand" sh -c '
	dartctl register source filesystem --filesystem /home --gather 100ms &&
	dartctl register source filesystem --filesystem /tmp --gather 100ms &&
	dartctl register source filesystem --filesystem /srv/root --gather 100ms'
refuse "a directory is not a mount point" "'/srv/flash/..' is not a mount point\|not a mount point" \
	dartctl register source filesystem --filesystem /srv/below --gather 100ms
check "dartd is started again" sh -c 'host_down && host_up again'
for point in /home /tmp /srv/root; do
	check "the file system at $point is still registered" soon has_size_of $point $point
done
check "a process in a mount namespace without them registers a file system by its path" \
	unshare -m sh -c 'umount -l /var/tmp && [ ! -e /var/tmp/lost+found ] &&
		dartctl register source filesystem --filesystem /var/tmp --gather 100ms'
check "it has the values of the host's" soon has_size_of /var/tmp /var/tmp
refuse "a member of the group dart may not register a file system" "only root" \
	setpriv --reuid 65534 --regid dart --clear-groups \
	dartctl register source filesystem --filesystem /root --gather 100ms
refuse "nor does a member get dartd to open a path again later" "only root may say where" \
	setpriv --reuid 65534 --regid dart --clear-groups request_with /etc/passwd \
	'{"request": "register-map", "name": "mine", "path": "/root/lost+found"}'
refuse "a process with another file system there is refused" "the host has another file system" \
	unshare -m sh -c 'mount -t tmpfs none /root &&
		dartctl register source filesystem --filesystem /root --gather 100ms'

check "dartd stops" host_down
umount -l /srv/moved /srv/flash /srv/root /home /root /srv /tmp /var/tmp /run/user
losetup -D
rm -rf $images
finish
