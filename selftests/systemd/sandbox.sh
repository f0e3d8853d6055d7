#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every feature of dartd works in the sandbox of its unit, as the unprivileged user
# dart; then nothing wakes it up.
. "$(dirname "$0")/../lib.sh"

unit=/usr/local/lib/systemd/system/dartd.service

# service VERB: shows the log if it fails
service() {
	systemctl "$1" dartd.service || {
		journalctl --no-pager --unit dartd.service --lines 20
		return 1
	}
}

# property NAME: of the service
property() {
	systemctl show --property "$1" --value dartd.service
}

# exposure: the rating of the unit by systemd-analyze, from 0 to 10
exposure() {
	systemd-analyze security --no-pager --offline=yes "$unit" |
		sed -n 's/.*Overall exposure level.*: \([0-9.]*\) .*/\1/p'
}

is_at_most() {
	awk -v figure="$1" -v most="$2" 'BEGIN { exit !(figure + 0 > 0 && figure <= most) }'
}

# status_of_dartd FIELD: from /proc/PID/status
status_of_dartd() {
	awk -v field="$1:" '$1 == field { print $2; exit }' \
		"/proc/$(property MainPID)/status"
}

# sources SELECTOR: the sources that take this selector
sources() {
	dartctl -j source list |
		gojq -r --arg selector "$1" '.[] | select(.selector == $selector and
			(.gathered_only | not)).name'
}

followed_sources() {
	dartctl -j source list | gojq -r '.[] | select(.follows and (.gathered_only | not)).name'
}

# counts of voluntary and other context switches
switches() {
	awk '/^(non)?voluntary_ctxt_switches/ { sum += $2 } END { print sum }' \
		"/proc/$(property MainPID)/status"
}

entries() {
	dartctl list | awk 'NR > 1 && $2 != "follow" && $2 != "host" { print $1 }' | sort
}

# reads_all: a controller reads exactly all entries
reads_all() {
	dart-controller --json --once 10.77.0.1 >/run/scraped &&
		diff <(gojq -r '.entries | keys[]' /run/scraped | sort) \
			<(entries)
}

# This test registers by command the objects of the installed configuration, too.
rm -f /etc/dart/dartd.yaml
ip netns add blue
ip -n blue link add br0 type bridge
mkdir -p /sys/fs/cgroup/one /sys/fs/cgroup/all/two
modprobe null_blk nr_devices=0
mount -t configfs none /sys/kernel/config || :
mkdir /sys/kernel/config/nullb/n0
echo 1 >/sys/kernel/config/nullb/n0/power
ip neighbour replace 10.77.0.9 lladdr 02:00:00:00:00:01 dev eth0
bpftool map create /sys/fs/bpf/pinned type array key 4 value 8 entries 4 \
	name pinned flags 0x400

check "systemd rates the exposure of the unit at 3.2 or less" \
	is_at_most "$(exposure)" 3.2
check "the service starts" service start
check "dartd runs as user dart" \
	[ "$(status_of_dartd Uid)" = "$(id -u dart)" ]
check "dartd has the five capabilities of the unit and can gain no others" \
	[ "$(status_of_dartd CapEff) $(status_of_dartd CapBnd)" = \
	"0000000400281002 0000000400281002" ]
check "dartd is under the filter of system calls" [ "$(status_of_dartd Seccomp)" = 2 ]
check "dartctl reaches the service" dartctl list

for source in $(sources none); do
	check "the source $source is added" dartctl source add "$source"
done
check "a source is gathered" dartctl source add vmstat --gather 1s
for source in cgroup:memory pressure; do
	selector=()
	[ $source = pressure ] || selector=(--cgroup /one)
	check "an eBPF program takes samples of the source $source" \
		dartctl source add $source --gather 1s "${selector[@]}"
done
check "a file system is gathered" dartctl source add filesystem --filesystem / --gather 10s
for source in $(sources netns); do
	check "the source $source of the own network namespace is added" \
		dartctl source add "$source"
	check "the source $source of another network namespace is added" \
		dartctl source add "$source" --netns blue
done
for source in $(sources netdev); do
	check "the source $source of an interface is added" \
		dartctl source add "$source" --netdev lo
	check "the source $source of an interface in another namespace is added" \
		dartctl source add "$source" --netdev br0 --netns blue
done
for source in $(sources disk); do
	check "the source $source of a disk is added" \
		dartctl source add "$source" --disk n0
done
for source in $(sources cgroup); do
	check "the source $source of a cgroup is added" \
		dartctl source add "$source" --cgroup /one
done
for source in $(followed_sources); do
	case $source in
	cgroup:*) cgroup=(--cgroup /all) ;;
	*) cgroup=() ;;
	esac
	check "the source $source is followed" \
		dartctl source follow "$source" "${cgroup[@]}"
done
check "a new cgroup can be created" mkdir /sys/fs/cgroup/all/three
check "a cgroup that appears is followed" sh -c \
	'dartctl list | grep -F cgroup:cpu@/all/three'

check "the whole host is registered" dartctl register host --gather 10s
check "no part of the host is left out" is_true \
	'.[] | select(.kind == "host").left_out == []' <<<"$(dartctl -j list)"

check "a pinned map is added" dartctl map add /sys/fs/bpf/pinned
check "the schema of a map is read from its BTF" sh -c \
	'dartctl -j show tcp | is_true ".values.sum.sent_bytes >= 0"'
check "new counters are added" dartctl counters add drops rx tx
for probe in $(dartctl -j probe list | gojq -r '.[] | select(.loaded | not).name'); do
	check "the probe $probe is loaded" dartctl probe load "$probe"
done
check "a process gets slices" until_ready /run/owner.log slice_owner 10 \
	"$(property MainPID)"
check "a store is created in anonymous memory" \
	dartctl store create paths --slots 2^16 --value 20
check "a store is created in a file" dartctl store create kept --slots 2^16 \
	--value 20 --file /dev/shm/kept
echo 8 >/proc/sys/vm/nr_hugepages
check "a store is created in huge pages" \
	dartctl store create huge --slots 2^17 --value 28
check "the store that is in huge pages has them" \
	[ "$(awk '/^HugePages_Free/ { print $2 }' /proc/meminfo)" -lt 8 ]
for store in paths kept huge; do
	check "a reporter is added to the store $store" \
		dartctl reporter add $store 10.77.0.9
done
check "the collector of a reporter is exported" sh -c 'dartctl store export paths |
	is_true ".collectors[0].reporter == \"10.77.0.9\""'
check "a store is shown" dartctl store show kept

check "more than 40 entries are registered" [ "$(entries | wc -l)" -gt 40 ]
check "a controller reads all entries" reads_all
# systemd gives any service a cgroup.
check "the host is unregistered" dartctl unregister host
check "its leases end" sh -c 'until dartctl -j status | is_true ".leases == 0"; do
	sleep 0.5
done'

dart-controller --json --interval 3s 10.77.0.1 >/run/scrapes &
controller=$!
check "a controller begins to scrape" timeout 120 sh -c \
	'until [ -s /run/scrapes ]; do sleep 0.1; done'
before=$(switches)
# dartd tells the watchdog of 5 min that it is alive 150 s after the last time, which may lie 75 s
# before the controller connected.
sleep 40
check "nothing wakes up dartd in 40 s, with everything registered and scraped" \
	[ "$(switches)" = "$before" ]
check "the controller has read all entries at least 7 times in 40 s" \
	[ "$(wc -l </run/scrapes)" -ge 7 ]
kill "$controller"

check "a registered disk can be removed" rmdir /sys/kernel/config/nullb/n0
check "the entry of a disk that was removed leaves the table" soon lacks disk:stats@n0
check "a registered cgroup can be removed" rmdir /sys/fs/cgroup/one
check "the entry of a cgroup that was removed leaves the table" soon lacks cgroup:cpu@/one
check "a registered namespace can be deleted" ip netns delete blue
check "the entries of a namespace that was deleted leave the table" soon lacks snmp:ip@blue
check "the owner of slices is killed" pkill -KILL slice_owner
check "the entries of slices whose owner was killed leave the table" soon lacks slice-9
check "the service stops" service stop
rm -f /sys/fs/bpf/pinned /dev/shm/kept
echo 0 >/proc/sys/vm/nr_hugepages
rmdir /sys/fs/cgroup/all/two /sys/fs/cgroup/all/three /sys/fs/cgroup/all
finish
