#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartd in a container, whose mount namespace lacks the disks of the host, serves the file
# systems of the host; in a separate PID namespace it reports that it cannot.
# GATHERER=programs: without the module, in the cgroup and with the capabilities and settings of
# contrib/kubernetes/dartd-programs.yaml, where it sees all of the host.
. "$(dirname "$0")/../lib.sh"

log=/run/dartd.log
point=/var/lib/containers
images=/run/images

# A container with the root directory of this machine, without the mounts below.
cat >/run/contain <<'END'
#!/bin/sh
set -e
mount --make-rprivate /
mount -t tmpfs pod /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay pod -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
cd /mnt/root
for name in dev sys; do mount --rbind /$name $name; done
if [ "$1" = own ]; then mount -t proc proc proc; else mount --rbind /proc proc; fi
mkdir -p run var/lib/dart old
mount -t tmpfs run run
mkdir run/dart
mount --bind /run/dart run/dart
[ ! -d /run/netns ] || { mkdir run/netns && mount --rbind /run/netns run/netns; }
mount --bind /var/lib/dart var/lib/dart
# The directories of the tests, the programs and the log.
for name in "$PWD_OF_TEST" /tmp; do
	mkdir -p ".$name"
	mount --rbind "$name" ".$name"
done
pivot_root . old
umount -l /old
shift
exec "$@"
END
chmod +x /run/contain
export PWD_OF_TEST=$PWD

# contained host|own OPTION...: starts dartd in a container, in the PID namespace of the
# host or in a new namespace
contained() {
	local pids=$1 options=(--mount)

	[ "$pids" = host ] || options+=(--pid --fork)
	[ -z "$cgroup" ] || options+=(--cgroup)
	until_ready "$log" "${enter[@]}" unshare "${options[@]}" /run/contain "$pids" \
		"${confine[@]}" "$(type -P dartd)"
}

# covers KIND: no object of this kind is missing
covers() {
	dartctl -j status | gojq -c --arg kind "$1" '.coverage[] | select(.kind == $kind)' |
		tee /dev/stderr | is_true '.present > 0 and .missing == []'
}

has() {
	dartctl -j list | is_true --arg name "$1" 'any(.[]; .name == $name)'
}

has_size_of() {
	is_true ".size == $(stat -f -c '%b * %S' "$2")" <<<"$(sampled "$1")"
}

# Around dartd: before its container is made, and in it.
enter=() confine=() cgroup=''
if [ "${GATHERER-}" = programs ]; then
	manifest=$tests/../contrib/kubernetes/dartd-programs.yaml
	cgroup=/sys/fs/cgroup/pods
	mkdir -p $cgroup/dartd /etc/dart/dartd.d
	# shellcheck disable=SC2016 # sh expands them
	enter=(sh -c 'echo $$ >"$0/dartd/cgroup.procs" && exec "$@"' "$cgroup")
	confine=(setpriv --bounding-set "-all$(sed -n 's/^ *add: \[\(.*\)\]/, \1/p' "$manifest" |
		tr '[:upper:]' '[:lower:]' | sed 's/, /,+/g')")
	# In place of the file of host_up in an earlier test: a setting in two files is refused.
	printf '%s\n' 'gatherer: programs' 'device: none' >/etc/dart/dartd.d/gatherer.yaml
	modprobe -r dart_zero
	ip netns add blue
fi

modprobe -a loop ext4 overlay
rm -rf /var/lib/dart
mkdir -p /run/dart /var/lib/dart $point $images
truncate -s 16M $images/one $images/two
mkfs.ext4 -qF $images/one
mkfs.ext4 -qF $images/two
mount -o loop $images/one $point
check "dartd starts in a container with the processes of the host" contained host
check "it does not see the file system" sh -c '
	! grep " '$point' " /proc/$(pidof dartd)/mountinfo'
check "the file systems of disks are followed" dartctl register source filesystem \
	--all-filesystems --gather 100ms
check "a file system of the host has an entry" has filesystem@$point+100ms
check "it has the size of the file system" soon has_size_of filesystem@$point $point
mkdir -p $point/volume
mount -o loop $images/two $point/volume
check "a file system that is mounted later has an entry" soon has filesystem@$point/volume+100ms
check "its values are there" soon has_size_of filesystem@$point/volume $point/volume
umount $point/volume || umount $point/volume
check "an entry leaves when its file system is unmounted" \
	soon lacks filesystem@$point/volume+100ms
if [ "$cgroup" ]; then
	check "dartd has the capabilities of the manifest" [ "$(awk '/^CapEff/ { print $2 }' \
		"/proc/$(pidof dartd)/status")" = 000000c400080000 ]
	check "dartd has a cgroup namespace of its own" sh -c \
		'! cmp -s /proc/1/cgroup /proc/$(pidof dartd)/cgroup && [ "$(readlink \
		/proc/1/ns/cgroup)" != "$(readlink /proc/$(pidof dartd)/ns/cgroup)" ]'
	check "the file systems are unregistered" dartctl unregister "filesystem@*+100ms"
	check "the whole host is registered" dartctl register host --gather 100ms
	for kind in sources cgroups namespaces netdevs disks filesystems; do
		check "none of the $kind of the host is missing" soon covers $kind
	done
	check "the probe that dartd always loads has an entry" has tcp
	check "the ports of an RDMA device have an entry" has rdma:ports@eth0+100ms
	check "the cgroup of dartd has an entry under its name on the host" \
		has cgroup:memory@/pods/dartd+100ms
	check "a network namespace of the host has an entry" has snmp:tcp@blue+100ms
	check "its memory is that of the host" [ "$(sampled memory | gojq .total)" = \
		"$(awk '/^MemTotal/ { print $2 * 1024 }' /proc/meminfo)" ]
	mkdir $cgroup/later
	check "a cgroup that is made later has an entry" soon has cgroup:memory@/pods/later+100ms
	rmdir $cgroup/later
	check "it leaves with the cgroup" soon lacks cgroup:memory@/pods/later+100ms
fi
check "dartd stops" host_down

rm -rf /var/lib/dart
mkdir -p /run/dart /var/lib/dart
check "dartd starts in a container with processes of its own" contained own
refuse "it says that it cannot see the mounts of the host, and the remedy" \
	"in a PID namespace of its own .*hostPID" dartctl register source filesystem \
	--all-filesystems --gather 100ms
refuse "so it does for one file system" "in a PID namespace of its own" \
	dartctl register source filesystem --filesystem $point --gather 100ms
check "the host is registered without them" dartctl register host --gather 1s
check "the reason is in the list" sh -c 'dartctl -j list | is_true ".[] |
	select(.kind == \"host\").left_out | any(.source == \"filesystem\" and
	(.reason | contains(\"PID namespace of its own\")))"'
check "dartd stops again" host_down

[ -z "$cgroup" ] || {
	ip netns delete blue
	soon rmdir $cgroup/dartd
	rmdir $cgroup
	rm /etc/dart/dartd.d/gatherer.yaml
}
umount $point || umount $point
rm -rf $images /run/contain
finish
