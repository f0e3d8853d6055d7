#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Who counts in the kernel: what a module, or eBPF programs, add to counters of the
# region is shown, and ends with whom they belong to.
. "$(dirname "$0")/../lib.sh"

# holds ENTRY JQ: of the sums over all CPUs
holds() {
	dartctl -j show "$1" | tee /dev/stderr | is_true ".entry.values.sum | $2"
}

# is_gone ENTRY: soon
is_gone() {
	for _ in $(seq 100); do
		dartctl show "$1" || return 0
	done
	return 1
}

# received packets|bytes: what the kernel has counted at end1
received() {
	cat "/sys/class/net/end1/statistics/rx_$1"
}

# report COUNT: sends so many packets to end1
report() {
	dart-report --interface end0 --source 10.78.0.1 --flows uniform --emit int \
		--count "$1" --rate 1000
}

# ---- a module

check "the agent starts" host_up
refuse "nobody has registered such counters" "dart_sample" \
	dartctl register counters dart_sample
modprobe dart_sample
check "counters of a module are registered" dartctl register counters dart_sample
refuse "not twice" "already" dartctl register counters dart_sample
echo 5 >/sys/module/dart_sample/parameters/add
echo 7 >/sys/module/dart_sample/parameters/add
check "it adds to them" holds dart_sample '.writes == 2 and .total == 12'
check "it ends, though they are shown" rmmod dart_sample
check "and they are gone" is_gone dart_sample
modprobe dart_sample
check "it comes again, and so do they" dartctl register counters dart_sample
check "from 0 on" holds dart_sample '.writes == 0 and .total == 0'
rmmod dart_sample

# ---- eBPF programs

# Nobody but the test sends anything.
alone=/proc/sys/net/ipv6/conf/default/disable_ipv6
[ ! -e $alone ] || echo 1 >$alone
ip link add end0 type veth peer name end1
ip link set end0 up
ip link set end1 up
id=$(dartctl -j register counters sample packets bytes cgroups |
	jq .entry.counters_id)
check "counters are made" holds sample '.packets == 0 and .bytes == 0'
check "programs are loaded that call the kfunc" until_ready /run/programs.log \
	sample_programs "$tests/../.output/selftests/sample/dart_sample.bpf.o" \
	"$id" end1
check "packets come" report 200
check "XDP counts them" holds sample \
	".packets == 200 and .packets == $(received packets)"
check "tc counts their bytes, with those of Ethernet" holds sample \
	".bytes == $(received bytes) + 200 * 14"
check "a tracing program counts nothing yet" holds sample '.cgroups == 0'
mkdir /sys/fs/cgroup/counted /sys/fs/cgroup/counted/as-well
check "and then cgroups" holds sample '.cgroups == 2'
check "the counters are unregistered" dartctl unregister sample
refuse "nothing shows them any more" "no entry 'sample'" dartctl show sample
# As long as they are on lease the name brings them back; nobody is told of its end.
until [ "$(dartctl -j status | jq .status.leases)" -eq 0 ]; do
	sleep 0.2
done
dartctl register counters sample packets bytes cgroups >"$output"
check "others get their name" report 10
check "to which the programs, that know the id, do not add" holds sample \
	'.packets == 0 and .bytes == 0'
check "the programs end" pkill -KILL sample_programs
check "the agent ends" host_down
ip link delete end0
finish
