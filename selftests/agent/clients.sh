#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Counters of a module and of eBPF programs: shown while their owner lives, then removed.
. "$(dirname "$0")/../lib.sh"

# holds ENTRY JQ: of the sums over all CPUs
holds() {
	dartctl -j show "$1" | tee /dev/stderr | is_true ".values.sum | $2"
}

# disappears ENTRY: waits until the table lacks it
disappears() {
	for _ in $(seq 1000); do
		dartctl show "$1" || return 0
		sleep 0.1
	done
	return 1
}

# received packets|bytes: the kernel's count at end1
received() {
	cat "/sys/class/net/end1/statistics/rx_$1"
}

# report COUNT: sends COUNT packets to end1
report() {
	dart-report --interface end0 --source 10.78.0.1 --flows uniform --emit int \
		--count "$1" --rate 1000
}

# ---- a module

check "the agent starts" host_up
refuse "counters that no module has registered are refused" "dart_sample" \
	dartctl register counters dart_sample
modprobe dart_sample
check "counters that a module has registered become an entry" \
	dartctl register counters dart_sample
refuse "counters of a module are refused a second time" "already" \
	dartctl register counters dart_sample
echo 5 >/sys/module/dart_sample/parameters/add
echo 7 >/sys/module/dart_sample/parameters/add
check "the entry shows the additions of the module" \
	holds dart_sample '.writes == 2 and .total == 12'
check "a module can be unloaded while its counters are shown" rmmod dart_sample
check "counters of an unloaded module leave the table" disappears dart_sample
modprobe dart_sample
check "counters of a module that was loaded again are registered again" \
	dartctl register counters dart_sample
check "counters of a module that was loaded again start from 0" \
	holds dart_sample '.writes == 0 and .total == 0'
rmmod dart_sample

# ---- eBPF programs

# Without IPv6 only the test sends packets.
ip link add end0 type veth peer name end1
for end in end0 end1; do
	alone=/proc/sys/net/ipv6/conf/$end/disable_ipv6
	[ ! -e $alone ] || echo 1 >$alone
done
ip link set end0 up
ip link set end1 up
id=$(dartctl -j register counters sample packets bytes cgroups |
	gojq .counters_id)
check "counters for eBPF programs start from 0" \
	holds sample '.packets == 0 and .bytes == 0'
check "programs that call the kfunc can be attached" until_ready /run/programs.log \
	sample_programs "$tests/../.output/selftests/sample/dart_sample.bpf.o" \
	"$id" end1
check "200 packets reach the interface of the XDP program" report 200
check "the XDP program has counted each packet of the interface" holds sample \
	".packets == 200 and .packets == $(received packets)"
check "the tc program has counted all bytes, Ethernet headers included" holds sample \
	".bytes == $(received bytes) + 200 * 14"
check "the tracing program counts nothing before a cgroup is made" \
	holds sample '.cgroups == 0'
mkdir /sys/fs/cgroup/counted /sys/fs/cgroup/counted/as-well
check "the tracing program has counted each new cgroup" holds sample '.cgroups == 2'
check "counters that programs still add to can be unregistered" dartctl unregister sample
refuse "dartctl show refuses counters that were unregistered" "no entry 'sample'" \
	dartctl show sample
# While a lease on them lasts, the name brings them back. Its end is not announced.
until [ "$(dartctl -j status | gojq .leases)" -eq 0 ]; do
	sleep 0.2
done
dartctl register counters sample packets bytes cgroups >"$output"
check "10 packets arrive after the name was given to other counters" report 10
check "programs, which hold a counter id, add nothing to later counters of the same name" \
	holds sample '.packets == 0 and .bytes == 0'
check "the process that holds the programs is killed" pkill -KILL sample_programs
check "the agent stops" host_down
ip link delete end0
finish
