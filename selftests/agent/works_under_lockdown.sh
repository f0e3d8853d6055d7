#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl doctor reports a lockdown of the kernel and the calls that the module refuses under it.
# Runs last of its directory: lockdown cannot be undone.
. "$(dirname "$0")/../lib.sh"

lockdown=/sys/kernel/security/lockdown
[ -w $lockdown ] || skip "this kernel has no lockdown"

# says RESULT TEXT: about lockdown
says() {
	# shellcheck disable=SC2016 # variables of jq
	dartctl -j doctor | tee /dev/stderr |
		is_true --arg result "$1" --arg text "$2" 'any(.check == "lockdown" and
			.result == $result and (.found | contains($text)))'
}

check "the agent starts" host_up
check "without lockdown doctor says so" says ok "not locked down"
check "without lockdown a source is registered" dartctl source add cpustat
echo integrity >$lockdown
check "lockdown (integrity) is told, and is not a warning" says ok integrity
check "a source is registered under integrity" dartctl source add softirqs
check "maps and stores work, as doctor says" sh -c '
	bpftool map create /sys/fs/bpf/locked type array key 4 value 8 entries 4 \
		name locked flags 0x400 &&
	dartctl map add /sys/fs/bpf/locked &&
	dartctl store create locked --slots 2^4 --value 4'
check "counters work, as doctor says" dartctl counters add locked_counters one
check "probes work under integrity, as doctor says" dartctl probe load runqlat
echo confidentiality >$lockdown
check "lockdown (confidentiality) is a warning that names the refused calls" \
	says warn "confidentiality): the module refuses sources"
check "a warning leaves the exit status 0" sh -c \
	'synchronise_clock yes; dartctl doctor'
refuse "a source is refused, as doctor says" "not permitted\|locked down" \
	dartctl source add vmstat
check "the agent stops" host_down

# As with Secure Boot.  The module of the tests is not signed.
modprobe -r dart_zero
refuse "a locked down kernel refuses a module without a signature" "not permitted\|rejected" \
	modprobe dart_zero
enforce=/sys/module/module/parameters/sig_enforce
[ ! -w $enforce ] || {
	echo 1 >$enforce
	refuse "so does a kernel that wants signatures" "Key was rejected by service" \
		modprobe dart_zero
}
# shellcheck disable=SC2016 # variables of jq
check "doctor says why, and names the page" is_true 'any(.check == "module" and
	.result == "warn" and (.found | contains("not signed")) and
	(tostring | contains("secure_boot.md")))' \
	<<<"$(dartctl -j doctor)"
finish
