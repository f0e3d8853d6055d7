#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartd follows network devices and disks; one word registers, restores and unregisters a whole
# host.
. "$(dirname "$0")/../lib.sh"
log=/run/dartd.log

# names PREFIX: the rest of the names of entries after PREFIX
names() {
	source_names | prefix=$1 awk 'index($0, ENVIRON["prefix"]) == 1 {
			print substr($0, length(ENVIRON["prefix"]) + 1)
		}' | sort
}

has() {
	names "" | grep -q -x -F "$1"
}

devices_agree() {
	diff <(names netdev:core@) <(find /sys/class/net -mindepth 1 -printf "%f\n" | sort)
}

disks_agree() {
	diff <(names disk:stats@) <(find /sys/block -mindepth 1 -printf "%f\n" | sort)
}

# filesystems_agree: each disk file system in df has an entry, by its shortest path
filesystems_agree() {
	diff <(names filesystem@) <(awk '$3 ~ /^ext|^xfs|^btrfs/ {
			if (!($1 in path) || length($2) < length(path[$1]))
				path[$1] = $2
		}
		END {
			for (disk in path) {
				gsub(/\\040/, "%20", path[disk])
				print path[disk] "+100ms"
			}
		}' /proc/self/mounts | sort)
}

# remount DIRECTORY: unmounts it, which fails while the module asks for its values
remount() {
	umount "$1" || umount "$1" || return
	mount /dev/d3 "$1"
}

# churn: 20 pairs of devices; some are renamed, some removed, and some take a name
churn() {
	for i in $(seq 20); do
		ip link add "a$i" type veth peer name "b$i" || return
		[ $((i % 3)) -gt 0 ] || ip link set "a$i" name "c$i" || return
		[ $((i % 4)) -gt 0 ] || ip link del "b$i" || return
		[ $((i % 5)) -gt 0 ] || [ $((i % 4)) -eq 0 ] || {
			ip link set "b$i" name tmp
			ip link set "b$((i - 1))" name "b$i"
			ip link set tmp name "b$((i - 1))"
		} 2>/dev/null || :
	done
}

# parts: the names of all parts of the host, without the intervals
parts() {
	entry_names | grep -v -e '^dartd$' -e '^tcp$' | sort
}

# arm64 does not count the interrupts of irqs.
[ "$(uname -m)" = x86_64 ] && absent='' || absent=irqs

# complete: each source has an entry or a follower, except sources that others include or
# that cost too much
complete() {
	parts >/run/parts
	dartctl -j source list | gojq -r '.[].name' |
		grep -v -x -e netdev:stats -e netdev:core -e disk:stats \
			-e cgroup:disks -e perf ${absent:+-e "$absent"} | while read -r source; do
		grep -q -e "^${source}[@+]" /run/parts || {
			echo "no part has $source"
			return 1
		}
	done
}

rm -f $log	# of other tests
check "the agent starts" host_up
ip netns add blue
check "all network devices are followed" dartctl register source netdev:core --all-netdevs
check "devices that do not count by CPU are not errors of a follower" sh -c \
	'ip link add dummy0 type dummy && dartctl source follow netdev:stats &&
		dartctl -j list | gojq -e "any(.[]; .name == \"netdev:stats@*\" and .failures == 0)"'
check "they are counted" sh -c 'dartctl -j list |
	gojq -e "any(.[]; .name == \"netdev:stats@*\" and .lacking > 0)"'
check "the log names one of them" logged 1 "^dartd: netdev:stats@\*: .* has no such values"
check "the devices that exist have entries" soon devices_agree
ip link add veth0 type veth peer name veth1
check "a new device has an entry" soon has netdev:stats@veth0
ip link set veth0 name west
check "a renamed device has an entry of its new name" soon has netdev:stats@west
check "the entry of a renamed device is read" dartctl show netdev:stats@west
check "a renamed device has no entry of its old name" lacks netdev:stats@veth0
ip link set west netns blue
check "a device that is moved to another namespace has no entry" \
	soon lacks netdev:stats@west
ip link add br0 type bridge
ip link set veth1 master br0
check "a port of a bridge has an entry" soon has netdev:core@veth1
ip link set veth1 nomaster
ip netns delete blue
check "20 pairs of devices come, go and change their names" churn
check "the devices that remain have entries of their names" soon devices_agree
for device in /sys/class/net/[abc][0-9]*; do
	ip link del "${device##*/}" 2>/dev/null
done
check "entries of the removed devices are removed" soon devices_agree

modprobe null_blk nr_devices=0
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
check "all disks are followed" dartctl register source disk:stats --all-disks
check "the disks that exist have entries" disks_agree
for i in 1 2 3; do
	mkdir /sys/kernel/config/nullb/d$i
	echo 1 >/sys/kernel/config/nullb/d$i/memory_backed
	echo 16 >/sys/kernel/config/nullb/d$i/size
	echo 1 >/sys/kernel/config/nullb/d$i/power
done
check "new disks have entries" soon disks_agree
check "there is a new disk" has disk:stats@d1
rmdir /sys/kernel/config/nullb/d2
check "a removed disk has no entry" soon disks_agree
mkdir /sys/kernel/config/nullb/d2
echo 1 >/sys/kernel/config/nullb/d2/power
check "a disk that takes the number of an earlier disk has an entry" soon disks_agree
mkdir -p "/run/a b" /run/long/path
mkfs.ext4 -q /dev/d1 && mkfs.ext4 -q /dev/d3 && mount /dev/d1 "/run/a b"
check "all file systems of disks are followed" dartctl register source filesystem \
	--all-filesystems --gather 100ms
check "a mounted file system has an entry" has filesystem@/run/a%20b+100ms
mount /dev/d3 /run/long/path
check "a file system that is mounted later has an entry" \
	soon has filesystem@/run/long/path+100ms
check "the entry is read" dartctl show filesystem@/run/long/path+100ms
check "it has the disk and the type of the file system" is_true \
	'.device == "/dev/d3" and .fstype == "ext4"' <<<"$(sampled filesystem@/run/long/path)"
check "file systems without a disk have no entry" filesystems_agree
mount --bind /run/long/path "/run/a b"
check "a file system that another hides has no entry, and the other is named by the shorter path" \
	soon lacks filesystem@/run/long/path+100ms
check "the two mounts of a file system have one entry" [ "$(names filesystem@)" = /run/a%20b+100ms ]
umount "/run/a b" || umount "/run/a b"
check "a file system has an entry again when the mount that hid it ends" soon has filesystem@/run/a%20b+100ms
check "the file system of the ended mount has the name of its other mount" soon filesystems_agree
check "a file system is unmounted and mounted again" remount /run/long/path
check "a file system that is mounted again has an entry again" \
	soon sampled filesystem@/run/long/path
umount "/run/a b" || umount "/run/a b"
check "a file system that is unmounted has no entry" soon lacks filesystem@/run/a%20b+100ms

refuse "a source of namespaces does not follow devices" "not of each netdev, but of each netns" \
	dartctl register source snmp:tcp --all-netdevs
refuse "a source of the machine does not follow devices" "cannot be followed" \
	dartctl register source vmstat --all-netdevs
for follower in netdev:core@* netdev:stats@* disk:stats@* filesystem@*+100ms; do
	check "the follower $follower is unregistered" dartctl unregister "$follower"
done
check "nothing of them is left" [ -z "$(parts)" ]

check "the whole host is registered" dartctl entry add host --gather 100ms
check "no source is left out but ${absent:-none}: $(dartctl -j list |
	gojq -c '.[] | select(.kind == "host") | {entries, followers, left_out}')" \
	is_true ".[] | select(.kind == \"host\") |
		[.left_out[].source] == [\"$absent\" | select(. != \"\")]" <<<"$(dartctl -j list)"
check "each source has an entry or a follower, or another source has its values" complete
check "no values are there twice" [ -z "$(parts | grep -e "netdev:[cs]" -e disk:stats)" ]
check "file systems are gathered every 10 s" has filesystem@/run/long/path+10s
mkdir /sys/fs/cgroup/later
check "a new cgroup becomes part of it" soon has cgroup:cpu@/later+100ms
check "a source that costs too much is not part of it" [ -z "$(names cgroup:disks)" ]
check "it is one registration" is_true \
	'map(select(.name != "probe tcp").name) == ["host host"]' \
	<<<"$(dartctl -j registration list)"
refuse "it cannot be registered twice" "registered already" dartctl register host
refuse "nothing else can have its name" "registered already" \
	dartctl counters add host one
refuse "a part of it cannot be unregistered alone" "is part of 'host'" \
	dartctl unregister cpustat+100ms
refuse "a follower of it cannot be unregistered alone" "is part of 'host'" \
	dartctl unregister 'cgroup:cpu@/**+100ms'
refuse "the entry of a follower of it cannot be unregistered alone" "is part of 'host'" \
	dartctl unregister cgroup:cpu@/later+100ms
refuse "a time that is not an interval is refused" "is not an interval" \
	dartctl register host --gather 1
check "it is saved as two lines of a configuration" sh -c \
	'dartctl save | tee /run/saved.yaml | head -2 | diff - /dev/fd/3' \
	3<<<$'host:\n  gather: 100ms'
parts >/run/before
check "the agent is killed" host_down KILL
check "another agent starts" host_up again
check "the host is registered again with all of its parts" sh -c 'diff /run/before /dev/fd/3' \
	3< <(parts)
check "it is unregistered with one word" dartctl unregister host
check "nothing of it is left" [ -z "$(parts)" ]
check "no registration is left of it" is_true 'all(.[]; .name == "probe tcp")' \
	<<<"$(dartctl -j registration list)"
check "the agent stops" host_down

check "an agent starts with a configuration that registers the host" \
	host_up --config=/run/saved.yaml
check "its parts are the same" sh -c 'diff /run/before /dev/fd/3' 3< <(parts)
sed -i 's/100ms/1s\n  deferrable: true/' /run/saved.yaml
check "the configuration is reloaded with another interval, deferrable" \
	pkill -HUP -x dartd
check "all of the host is gathered at the other interval" soon has cpustat+1s
check "the host says that its gathering is deferrable" is_true \
	'any(.[]; .name == "host" and .deferrable and .gather_ms == 1000)' \
	<<<"$(dartctl -j list)"
check "nothing of it is gathered at the earlier interval" [ -z "$(parts | grep 100ms)" ]
check "entries gathered at the same interval before are gathered again" \
	soon has filesystem@/run/long/path+10s
check "the agent stops again" host_down
check "the agent logs no error" sh -c "! grep -v 'host: ${absent:-none} is left out' $log |
	grep -i -e error -e cannot -e 'left out'"
rm /run/saved.yaml
umount /run/long/path
rmdir /sys/fs/cgroup/later
finish
