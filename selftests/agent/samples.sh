#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Samples: the module asks the kernel for values; they are between two of the kernel's own.
. "$(dirname "$0")/../lib.sh"

# Names without underscores and prefixes, times in seconds, load in tasks.
plain='.values |= with_entries(.key |= gsub("_"; "") |
	if .key | startswith("load") then .value /= 2048
	elif .key == "uptime" then .value /= 1e9 else . end)'

# agrees KERNEL ENTRY [TOLERANCE]
agrees() {
	compare_sample "$1" "$2" "${3:-0}" "$plain"
}

# In bytes.  The kernel exports the lines that are left out to no module.
meminfo() {
	awk -F '[: ]+' 'BEGIN { printf "{" }
		$1 !~ /^(SwapTotal|Zswap|Zswapped|CommitLimit|Vmalloc.*|Percpu|Huge.*|DirectMap.*|Cma.*|NFS_Unstable|Bounce|WritebackTmp|HardwareCorrupted|Unaccepted|Balloon|GPU.*)$/ {
			name = tolower($1)
			sub(/^mem/, "", name)
			gsub(/[()_]/, "", name)
			printf "%s\"%s\": %.0f", separator, name, $2 * 1024
			separator = ", "
		} END { print "}" }' /proc/meminfo
}

loadavg() {
	awk '{ getline uptime <"/proc/uptime"; split(uptime, up, " ")
		printf "{\"load1\": %.2f, \"load5\": %.2f, \"load15\": %.2f, \"uptime\": %.0f, \"onlinecpus\": %d}\n",
			$1, $2, $3, up[1], cpus }' cpus="$(nproc)" /proc/loadavg
}

# In ms, for each CPU.
proc_stat() {
	awk 'BEGIN { split("user nice system idle iowait irq softirq steal", names, " ")
			printf "{" }
		/^cpu[0-9]/ { for (i = 1; i <= 8; i++) {
			printf "%s\"%s.%s\": %d", separator, substr($1, 4), names[i],
				$(i + 1) * 10
			separator = ", "
		} } END { print "}" }' /proc/stat
}

# The values of cpustat, in the same form.
cpustat() {
	dartctl -j show cpustat+100ms | gojq -c '[.values.rows | to_entries[] |
		.key as $cpu | .value | to_entries[] |
		select(.key | IN("time", "cpu", "guest", "guest_nice") | not) |
		{key: "\($cpu).\(.key)", value: (.value / 1e6)}] | from_entries'
}

cpustat_agrees() {
	local before values after
	before=$(proc_stat)
	passed
	values=$(cpustat)
	after=$(proc_stat)
	agree "$before" "$values" "$after" 20
}

modprobe null_blk nr_devices=0
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
# The kernel looks for partitions, which takes three requests.
(mkdir /sys/kernel/config/nullb/n0 && cd /sys/kernel/config/nullb/n0 && echo 2 >irqmode &&
	echo 5000000000 >completion_nsec && echo 1 >power) &
disk=$!

check "the agent starts" host_up
check "the cost of gathering is gathered" dartctl source add gathering --gather 100ms
for source in memory load; do
	refuse "the source $source cannot be registered without an interval" \
		"source $source can only be gathered" dartctl source add $source
	check "the source $source is sampled" dartctl source add $source --gather 100ms
done
check "memory has at least 30 fields, in bytes" sh -c 'dartctl -j show memory+100ms |
	is_true ".schema.fields | map(select(.unit == \"bytes\")) | length >= 30"'
check "memory has the values of /proc/meminfo, to 4 MiB" \
	soon agrees meminfo memory 4194304
check "load has the values of /proc/loadavg and /proc/uptime" \
	soon agrees loadavg load 0.1
check "cpustat is gathered" dartctl source add cpustat --gather 100ms
check "gathered, cpustat has the times of /proc/stat to two ticks, idle and iowait, too" \
	soon cpustat_agrees

# In sysfs are all members of struct rtnl_link_stats64 but rx_otherhost_dropped.
link_of() {
	(cd "/sys/class/net/$1" &&
		grep '' statistics/* carrier carrier_changes mtu operstate) |
		gojq -Rn '[inputs | capture("(?<key>[^/]*):(?<value>.*)") | .key |= gsub("_"; "") |
			if .key == "operstate" then .value as $state |
				.value = (["unknown", "notpresent", "down", "lowerlayerdown",
					"testing", "dormant", "up"] | index($state))
			else .value |= tonumber end] | from_entries'
}
link_of_lo() { link_of lo; }
link_of_veth() { link_of veth0; }
link_of_eth() { link_of eth0; }
link_of_dummy() { link_of dummy0; }

check "virtual devices are there" sh -c 'ip link add dummy0 up type dummy &&
	ip link add veth0 mtu 1400 type veth peer name veth1 &&
	ip link set veth0 up && ip link set veth1 up'
echo sent >/dev/udp/127.0.0.1/9
for device in lo eth0 dummy0 veth0; do
	check "the statistics of $device are sampled" \
		dartctl source add netdev:link --netdev $device --gather 100ms
	check "$device has the values of ip -s -s link" \
		soon agrees link_of_${device%0} "netdev:link@$device"
done
check "a link went down" ip link set veth1 down
check "the sample shows the link that went down" soon agrees link_of_veth netdev:link@veth0
check "a sampled device can be removed" ip link del veth0
check "the entry of a removed device leaves the table" \
	soon lacks netdev:link@veth0+100ms
ip link del dummy0

# statfs(2) gives the same values for all mounts of a file system.
statfs_of_run() {
	local format='{"size": %b, "free": %f, "available": %a, "unit": %S, "files": %c, "filesfree": %d}'
	stat -f -c "$format" /run/small |
		gojq '.unit as $unit | del(.unit) | (.size, .free, .available) *= $unit |
			.readonly = 0'
}

mkdir -p /run/small /run/other
check "small file systems are mounted" sh -c '
	mount -t tmpfs -o size=1m,nr_inodes=50 small /run/small &&
	mount --bind /run/small /run/other'
ln -s /run/small /run/link
check "a file system is sampled" dartctl source add filesystem --filesystem /run/link --gather 100ms
check "its entry has the path of the mount point" dartctl show filesystem@/run/small+100ms
refuse "another mount of it is the same" "registered already, as 'filesystem@/run/small+100ms'" \
	dartctl source add filesystem --filesystem /run/other --gather 100ms
refuse "a directory that is not a mount point is refused" "is not a mount point" \
	dartctl source add filesystem --filesystem /etc --gather 100ms
check "a file of 100 kB is written" sh -c 'head -c 100000 /dev/zero >/run/small/file'
check "the file system has the values of statfs(2)" \
	soon agrees statfs_of_run filesystem@/run/small
check "its sample tells the mounted device and its type" is_true \
	'.device == "small" and .fstype == "tmpfs"' <<<"$(sampled filesystem@/run/small)"
check "the agent is restarted" sh -c 'host_down && host_up again'
check "the file system is sampled again" soon agrees statfs_of_run filesystem@/run/small
check "a sampled file system is unmounted" \
	sh -c 'umount /run/other; umount /run/small || umount /run/small'
check "the entry of a file system that was unmounted leaves the table" \
	soon lacks filesystem@/run/small+100ms
# Memory is in pages there, except for fragments.
sockstat() {
	"$@" cat /proc/net/sockstat /proc/net/sockstat6 |
		awk -v page="$(getconf PAGE_SIZE)" 'BEGIN { printf "{" }
	{
		protocol = tolower(substr($1, 1, length($1) - 1))
		for (i = 2; i < NF; i += 2) {
			value = $(i + 1) * ($i == "mem" ? page : 1)
			printf "%s\"%s\": %.0f", separator,
				(protocol == "sockets" ? "" : protocol) $i, value
			separator = ", "
		}
	}
	END { print "}" }'
}
of_all='.key | test("^(tcporphan|tcpalloc|tcpmem|udpmem)$")'
sockstat_of_all() { sockstat env | gojq "with_entries(select($of_all))"; }
sockstat_of() { sockstat "$@" | gojq "with_entries(select($of_all | not))"; }
sockstat_of_host() { sockstat_of env; }
# shellcheck disable=SC2016 # of awk
sockstat_of_inner() {
	{
		sockstat_of ip netns exec inner
		ip netns exec inner awk '{ printf "{\"%s\": %s}\n", FILENAME, $1 }' \
			/proc/sys/net/netfilter/nf_conntrack_{count,max} |
			sed 's/"[a-z/_]*_count/"conntrackentries/; s/"[a-z/_]*_max/"conntracklimit/'
		drops_of_inner
	} | gojq -c -s add
}

# The sums of the rows for each CPU, which are hexadecimal.
# shellcheck disable=SC2016 # for the other shell
drops_of_inner() {
	ip netns exec inner bash -c '
		{
			read -ra names
			while read -ra row; do
				for i in "${!row[@]}"; do ((sum[i] += 16#${row[i]})); done
			done
		} </proc/net/stat/nf_conntrack
		for i in "${!names[@]}"; do
			case ${names[i]} in
			invalid | insert_failed | drop | early_drop)
				echo "{\"conntrack${names[i]//_/}\": ${sum[i]}}"
			esac
		done'
}

# tracking ENTRY CONDITION: of a new sample
tracking() {
	sampled "$1" | is_true "$2"
}

ip netns add inner
ip -n inner link set lo up
check "the sockets of the host are sampled" dartctl source add sockets --gather 100ms
check "sockets of another namespace are sampled" \
	dartctl source add sockets --netns inner --gather 100ms
exec 5<>/dev/udp/127.0.0.1/9
check "sockets agree with sockstat and sockstat6, except sockets of the test" \
	soon agrees sockstat_of_host sockets 8
exec 5>&-
check "the sockets of all namespaces together are sampled" \
	dartctl source add sockets:host --gather 100ms
{
	read -r port
	exec 6<>"/dev/tcp/127.0.0.1/$port"
	check "they agree with sockstat during a connection, except sockets of the test" \
		soon agrees sockstat_of_all sockets:host 4
	check "the size of a page is that of getconf" is_true \
		".page_size == $(getconf PAGE_SIZE)" <<<"$(sampled sockets:host)"
	check "they count the two ends of the connection" sh -c \
		'dartctl -j show sockets:host+100ms | is_true ".values.sum.tcp_alloc >= 2"'
	exec 6>&-
} < <(exec python3 -c '
import socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
connection = listener.accept()[0]
connection.recv(1)')
# Their process has closed them, and their peer does not take what they still have to send.
mkfifo /run/has_orphans /run/needs_none
python3 -c '
import socket
listener = socket.create_server(("127.0.0.1", 0))
peers = []
for _ in range(9):
    client = socket.create_connection(listener.getsockname())
    peers.append(listener.accept()[0])
    client.setblocking(False)
    try:
        while True:
            client.send(bytes(65536))
    except BlockingIOError:
        client.close()
print(flush=True)
open("/run/needs_none").read()' >/run/has_orphans &
read -r _ </run/has_orphans
has_orphans() {
	dartctl -j show sockets:host+100ms | is_true '.values.sum | .tcp_orphan >= 9 and .tcp_mem > 0'
}
check "connections without a process and their memory are counted" soon has_orphans
check "they agree with sockstat, to 4" soon agrees sockstat_of_all sockets:host 4
echo >/run/needs_none
wait $!
rm /run/has_orphans /run/needs_none
# unload_tracking: also modules of NAT, which another test of this machine may have loaded
unload_tracking() {
	for module in nft_nat nft_chain_nat nft_ct nf_conntrack; do
		[ ! -e "/sys/module/$module" ] || modprobe --remove "$module" || return
	done
	[ ! -e /sys/module/nf_conntrack ]
}

check "connections are tracked in the other namespace" sh -c 'modprobe nft_ct && ip netns exec inner nft -f - <<-END
	table inet t { chain c { type filter hook output priority 0; ct state new counter; }; }
	END'
# Without an answer an entry lasts 30 s, which the checks after it take on a busy machine.
check "a connection is tracked there" ip netns exec inner bash -c \
	'echo 600 >/proc/sys/net/netfilter/nf_conntrack_udp_timeout
	echo sent >/dev/udp/127.0.0.1/9'
check "the other namespace has its own sockets and tracked connections" \
	soon agrees sockstat_of_inner sockets@inner
check "at least one connection is counted" sh -c \
	'dartctl -j show sockets@inner+100ms | is_true ".values.sum.conntrack_entries > 0"'
check "the rules that need it go" ip netns exec inner nft flush ruleset
check "the module that tracks connections can be unloaded" soon unload_tracking
check "without the module the number and the limit of connections are 0" \
	tracking sockets@inner '.conntrack_entries == 0 and .conntrack_limit == 0'
check "the module that tracks connections is loaded again" modprobe nf_conntrack
check "with the module the limit of connections is above 0" tracking sockets@inner '.conntrack_limit > 0'
check "a sampled namespace can be deleted" ip netns del inner
check "the entry of a deleted namespace leaves the table" soon lacks sockets@inner+100ms

diskstats_of_n0() {
	awk -v all="readios readmerges readsectors readticks writeios writemerges writesectors writeticks inflight ioticks timeinqueue discardios discardmerges discardsectors discardticks flushios flushticks" '
	$3 == "n0" {
		split(all, names, " ")
		for (i = 4; i <= 20; i++)
			printf "%s\"%s\": %s", i == 4 ? "{" : ", ", names[i - 3], $i
		print "}"
	}' /proc/diskstats
}

# ticks_grow: although no request begins or ends, io_ticks grows as time does
ticks_grow() {
	local first second
	first=$(sampled disk:io@n0) && second=$(sampled disk:io@n0) || return
	gojq -n -e --argjson first "$first" --argjson second "$second" '
		(($second.time - $first.time) / 1e6) as $ms |
		($second.io_ticks - $first.io_ticks) as $ticks | [$first, $second, $ms] |
		debug | $first.in_flight == 1 and $second.in_flight == 1 and
		$second.read_ios == $first.read_ios and $ticks > 50 and
		$ticks - $ms < 20 and $ms - $ticks < 20'
}

check "there is a disk that takes 5 s for a request" wait $disk
check "the disk is sampled" dartctl source add disk:io --disk n0 --gather 100ms
dd if=/dev/n0 of=/dev/null bs=4096 count=30 iflag=direct 2>/dev/null &
reader=$!
check "io_ticks has the time of a request in flight" soon ticks_grow
check "the disk has the values of /proc/diskstats" soon agrees diskstats_of_n0 disk:io@n0
kill $reader
wait $reader
check "a sampled disk can be removed" rmdir /sys/kernel/config/nullb/n0
check "the entry of a removed disk leaves the table" soon lacks disk:io@n0+100ms

refuse "a sample takes no selector" "source memory does not take a" \
	dartctl source add memory --gather 1s --netdev lo
check "the agent stops" host_down
finish
