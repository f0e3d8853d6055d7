#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Where the kernel, the unit or a container keeps dartd from gathering by eBPF programs, dartd starts,
# says in one sentence what is wrong, why, and what to do, and serves the sources that need no
# program. No other source has an entry, and after the remedy all have.
# Lockdown comes last: it cannot be undone.
. "$(dirname "$0")/../lib.sh"

dropin=/run/systemd/system/dartd.service.d
log=/run/dartd.log
point=/srv/disk
lockdown=/sys/kernel/security/lockdown

# starts LINE...: the service starts with these lines in its unit, and without registrations
starts() {
	mkdir -p "$dropin"
	printf '%s\n' '[Service]' "$@" >"$dropin/refusal.conf"
	systemctl stop dartd.service 2>/dev/null
	rm -rf /var/lib/dart
	: >"$log"
	"$tests/unit_up"
}

# capabilities NAME...: lines for the unit, which then has these and no others
capabilities() {
	printf '%s\n' AmbientCapabilities= "AmbientCapabilities=$*" CapabilityBoundingSet= \
		"CapabilityBoundingSet=$*"
}

registers() {
	dartctl -j register host --gather 100ms >/run/host.json
}

# reasons: why the programs of sources cannot run, each once, without what it keeps from working
reasons() {
	gojq -r '.left_out[].reason | select(contains("module dart_zero only") | not) |
		sub("^(source [^ ]+ cannot be sampled here|cannot list the network namespaces): "; "")' \
		/run/host.json | sort -u
}

# entries: the sources that have entries, but for the probe that is always loaded
entries() {
	dartctl -j list | gojq -r '.[] | select(.kind == "source").name | sub("[@+].*"; "")' |
		sort -u | paste -sd ' '
}

# values ENTRY FILTER
values() {
	dartctl -j show "$1" | tee /dev/stderr | is_true ".values$2"
}

has_size_of_disk() {
	values "filesystem@$point+10s" ".sum.size == $(stat -f -c '%b * %S' "$point")"
}

# serves_others: the values of the sources without a program are right
serves_others() {
	soon has_size_of_disk && values netdev:link@lo+100ms ".sum.mtu == $(</sys/class/net/lo/mtu)" &&
		values gathering+100ms '.sum.passes > 0'
}

# faults: page faults lie between two readings of the kernel's
faults() {
	local before during after
	before=$(awk '/^pgfault/ { print $2 }' /proc/vmstat)
	passed
	during=$(dartctl -j show vmstat+100ms | gojq .values.sum.pgfault)
	after=$(awk '/^pgfault/ { print $2 }' /proc/vmstat)
	echo "$before <= $during <= $after"
	[ "$before" -le "$during" ] && [ "$during" -le "$after" ]
}

# misses REASON TEXT: coverage has the text for sources and cgroups
misses() {
	# shellcheck disable=SC2016 # variables of jq
	dartctl -j status | is_true --arg reason "$1" --arg text "$2" '[.coverage[] |
		select(.kind == "sources" or .kind == "cgroups").missing[] |
		select(.reason == $reason and ((.why + " (" + .remedy + ")") | contains($text))) |
		.count > 0] | length == 2'
}

# says RESULT CHECK TEXT: doctor
says() {
	dartctl doctor | tee /dev/stderr | grep "^$1 *$2: .*$3"
}

# is_refused NAME REASON TEXT: with a running dartd: TEXT is the sentence, and REASON its kind in
# coverage
is_refused() {
	check "$1: the host is registered" registers
	check "$1: one sentence says why, and what to do" [ "$(reasons)" = "$3" ]
	check "$1: the log has it, once for a source" logged 1 "host: cpustat is left out: .*$3"
	check "$1: coverage has it" misses "$2" "$3"
	check "$1: the sources without a program are right" serves_others
}

# nothing_else NAME
nothing_else() {
	check "$1: no other source has an entry" \
		[ "$(entries | sed 's/ rdma:ports//')" = "filesystem gathering netdev:link" ]
}

modprobe -a loop ext4
mkdir -p $point /run/images /etc/dart/dartd.d /etc/modprobe.d /sys/fs/cgroup/one
sleep infinity &
sleeper=$!
echo $sleeper >/sys/fs/cgroup/one/cgroup.procs
truncate -s 16M /run/images/disk
mkfs.ext4 -qF /run/images/disk
mount -o loop /run/images/disk $point
modprobe -qr dart_zero
echo 'install dart_zero /bin/false' >/etc/modprobe.d/refusals.conf
printf 'device: none\n' >/etc/dart/dartd.d/device.yaml
printf 'gatherer: programs\n' >/etc/dart/dartd.d/gatherer.yaml

check "without CAP_SYSLOG dartd starts" starts "$(capabilities CAP_SYS_ADMIN CAP_DAC_OVERRIDE)"
is_refused "without CAP_SYSLOG" permission \
	"the kernel hides the addresses of its variables from dartd (start dartd with CAP_SYSLOG)"
check "a source that needs no address is there, and is right" values cgroup:pids@/one+100ms \
	'.sum.current == 1'
check "doctor says it" says warn coverage "start dartd with CAP_SYSLOG"

sysctl -qw kernel.kptr_restrict=2
check "with kptr_restrict=2 dartd starts" starts
is_refused "with kptr_restrict=2" permission \
	"the kernel hides the addresses of its variables from all processes (sysctl kernel.kptr_restrict=1)"
check "doctor says it, with the command" says warn addresses "do: sysctl kernel.kptr_restrict=1"
sysctl -qw kernel.kptr_restrict=1
check "after the command page faults are gathered" soon faults

sysctl -qw kernel.kptr_restrict=2
check "kptr_restrict=2 does not disturb programs that run" faults
check "the host is unregistered" dartctl unregister host
check "its leases end" soon sh -c 'dartctl -j status | is_true ".leases == 0"'
check "with kptr_restrict=2 since dartd started, the host is registered" registers
check "the sentence is the same" [ "$(reasons)" = \
	"the kernel hides the addresses of its variables from all processes (sysctl kernel.kptr_restrict=1)" ]
check "no such source has an entry" sh -c '! dartctl list | grep -E "^(cpustat|memory|vmstat)"'
sysctl -qw kernel.kptr_restrict=0

check "without CAP_SYS_ADMIN, CAP_BPF and CAP_PERFMON dartd starts" \
	starts "$(capabilities CAP_DAC_OVERRIDE CAP_SYSLOG)"
is_refused "without CAP_BPF and CAP_PERFMON" permission \
	"dartd lacks CAP_BPF and CAP_PERFMON, which eBPF programs need (start dartd with CAP_BPF and CAP_PERFMON, or with CAP_SYS_ADMIN as dartd.service does)"
nothing_else "without CAP_BPF and CAP_PERFMON"
check "doctor says it, too" says warn coverage "CAP_BPF and CAP_PERFMON"

check "without CAP_PERFMON dartd starts" starts "$(capabilities CAP_BPF CAP_DAC_OVERRIDE CAP_SYSLOG)"
is_refused "without CAP_PERFMON" permission \
	"dartd lacks CAP_PERFMON, which eBPF programs need (start dartd with CAP_BPF and CAP_PERFMON, or with CAP_SYS_ADMIN as dartd.service does)"

check "with a filter of system calls that lacks bpf dartd starts" starts "SystemCallFilter=~bpf"
is_refused "with such a filter" permission \
	"a seccomp filter or a security module forbids dartd the system call bpf (allow it in SystemCallFilter= of dartd.service, or in the seccomp profile of its container)"
nothing_else "with such a filter"

rm /etc/dart/dartd.d/gatherer.yaml
mount -t tmpfs none /sys/kernel/btf
check "without BTF, and without the module, dartd starts" starts
is_refused "without BTF" unsupported \
	"the kernel has no BTF (run a kernel with CONFIG_DEBUG_INFO_BTF=y)"
nothing_else "without BTF"
check "doctor fails" says FAIL btf "CONFIG_DEBUG_INFO_BTF=y"
umount /sys/kernel/btf

# Harmless: kernels since 5.11 count eBPF as memory of the cgroup.
check "users without privileges cannot use eBPF" \
	[ "$(sysctl -n kernel.unprivileged_bpf_disabled)" -ge 1 ]
check "with few capabilities and 64 KiB of locked memory dartd starts" starts LimitMEMLOCK=64K \
	"$(capabilities CAP_BPF CAP_PERFMON CAP_DAC_OVERRIDE CAP_SYSLOG)"
check "the host is registered" registers
check "no program is refused" [ -z "$(reasons)" ]
check "page faults are right" faults
sysctl -qw kernel.unprivileged_bpf_disabled=1
check "with unprivileged_bpf_disabled=1, which lasts until a reboot, dartd starts" starts
check "the host is registered then" registers
check "no program is refused then" [ -z "$(reasons)" ]
check "page faults are right then" faults

[ ! -w $lockdown ] || {
	echo confidentiality >$lockdown
	check "under lockdown for confidentiality dartd starts" starts
	is_refused "under lockdown" unsupported \
		"the kernel is locked down for confidentiality, which forbids eBPF programs to read its memory (boot without lockdown=confidentiality)"
	nothing_else "under lockdown"
	check "doctor warns" says warn lockdown "eBPF programs that gather"
}

check "dartd stops" host_down
end_processes $sleeper
umount $point || umount $point
rm -rf /run/images /etc/modprobe.d/refusals.conf /etc/dart/dartd.d $dropin/refusal.conf
rmdir /sys/fs/cgroup/one $point
finish
