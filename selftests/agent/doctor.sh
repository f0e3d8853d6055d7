#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl doctor names each thing that is broken, no other, and its advice mends it.
# An examination takes a second: several independent things are broken at a time.
. "$(dirname "$0")/../lib.sh"

declare -A result found command advice	# by check, of the last examination
before=	# the faults before the test breaks something, as in $wrong
mended=()	# since the last all_mended

# read_findings FILE: $wrong are lines "CHECK RESULT" of the findings that are not ok
read_findings() {
	local check outcome text order hint

	result=() found=() command=() advice=() wrong='' count=0
	while IFS=$'\x1f' read -r check outcome text order hint; do
		count=$((count + 1))
		[ "$outcome" = ok ] || wrong+="$check $outcome"$'\n'
		result[$check]=$outcome
		found[$check]=$text
		command[$check]=$order
		advice[$check]=$hint
	done < <(gojq -r '.[] | [.check, .result, .found, .command, .advice] |
		map(. // "") | join("\u001f")' "$1")
	[ $count -gt 0 ]
}

# examine: sets $status, the exit status
examine() {
	dartctl -j doctor >/run/findings
	status=$?
	read_findings /run/findings
}

# as_before: nothing is wrong now that was not before, and the reverse
as_before() {
	examine
	echo "$wrong"
	[ "$wrong" = "$before" ]
}

# are_broken CHECK RESULT...: are these wrong and not so before, and nothing else?
are_broken() {
	local line now=$wrong

	is_exact=no
	while read -r line; do
		[ -z "$line" ] || now=${now/"$line"$'\n'/}
	done <<<"$before"
	while [ $# -gt 0 ]; do
		[[ $now = *"$1 $2"$'\n'* ]] || return
		now=${now/"$1 $2"$'\n'/}
		shift 2
	done
	[ -z "$now" ] && is_exact=yes
}

# broken CHECK RESULT...: examines, for finds
broken() {
	examine
	are_broken "$@"
}

# finds CHECK TEXT: the finding matches TEXT, and the doctor reports only the broken part
finds() {
	echo "$1: ${result[$1]-none}: ${found[$1]-}; wrong are: $wrong"
	[ "$is_exact" = yes ] && [[ ${found[$1]-} =~ $2 ]]
}

# follow CHECK: type the command that it advises
follow() {
	echo "${command[$1]}"
	(eval "${command[$1]:?}")
}

# advises CHECK TEXT
advises() {
	echo "${advice[$1]}"
	[[ ${advice[$1]} =~ $2 ]]
}

# mends CHECK WHAT: the command mends it
mends() {
	check "the advised command mends $2" follow "$1"
	mended+=("$2")
}

# all_mended: is nothing wrong after the commands since the last call?
all_mended() {
	local what in_order=no

	soon as_before && in_order=yes
	for what in "${mended[@]}"; do
		check "afterwards nothing is wrong: $what" [ $in_order = yes ]
	done
	mended=()
}

# mixing_is_said: each place that says that a row can mix updates
mixing_is_said() {
	local text="mixes values of two updates"

	[[ ${found[transport]} != *"$text"* ]] || echo doctor
	grep "$text" /run/dartd.log | sed 's/.*/log/'
	! dartctl -j status | gojq -e .mixes_updates >/dev/null || echo status
}

# Other processors than x86 reorder the loads of soft-RoCE.
expected='' unordered=''
if [ "$(uname -m)" != x86_64 ]; then
	expected=$'transport warn\n' unordered=yes
fi
before=$expected

check "the agent starts" host_up
synchronise_clock yes
broken coverage warn
check "the doctor finds an unregistered host" finds coverage "not registered, such as "
check "the advised command registers it" follow coverage
examine
check "nothing is wrong on a host in order" [ "$wrong" = "$expected" ]
before=$wrong
check "on a host in order the exit status is 0" sh -c 'dartctl doctor >/run/lines'
check "each check prints one line" [ "${#result[@]} $count" = "$count $(wc -l </run/lines)" ]
check "each line for people begins with ok" sh -c \
	'! grep -v -e "^ok  " ${1:+-e "^warn  transport"} /run/lines' - $unordered
check "where soft-RoCE can mix updates, doctor and status say so, and the log, once" \
	[ "$(mixing_is_said | tr '\n' ' ')" = "${unordered:+doctor log status }" ]
check "the versions of dartctl and dartd are named" \
	grep "dartctl and dartd are [0-9]" /run/findings
check "doctor takes no operands" sh -c 'dartctl doctor x; [ $? = 2 ]'

# ---- the network

nft -f - <<'RULES'
table inet filter {
	chain input {
		type filter hook input priority 0; policy drop;
		ct state vmap { established : accept, related : accept, invalid : drop }
		iifname lo accept
		tcp dport { 22, 80 } accept
	}
}
RULES
address=$(ip -j address show dev eth0 |
	gojq -r '.[0].addr_info[] | select(.family == "inet") | "\(.local)/\(.prefixlen)"')
ip address delete "$address" dev eth0
soon broken firewall fail gid fail
check "a chain of nftables whose policy drops RoCE is found" \
	finds firewall "chain inet filter input drops UDP to port 4791"
check "a failure makes the exit status 1" [ $status = 1 ]
check "its line begins with FAIL and ends with the command" sh -c \
	'dartctl doctor | grep -q "^FAIL  firewall: .*; do: nft insert rule inet filter input udp dport 4791 accept$"'
check "a device without a GID for an address is found" \
	finds gid "no RoCE v2 GID with an address"
check "the advice is to give its interface an address" advises gid "eth0"
mends firewall "the policy of nftables"
ip address add "$address" dev eth0
all_mended
check "with the address nothing is wrong" [ "$wrong" = "$before" ]

nft flush ruleset
nft -f - <<'RULES'
table ip guard {
	chain early {
		type filter hook prerouting priority -300;
		udp dport 4000-5000 counter reject
	}
}
RULES
# A reject is not valid in prerouting of old kernels: then it drops.
nft list table ip guard >/dev/null 2>&1 || nft -f - <<'RULES'
table ip guard {
	chain early {
		type filter hook prerouting priority -300;
		udp dport 4000-5000 counter drop
	}
}
RULES
slow=
sources=/sys/devices/system/clocksource/clocksource0
if grep -q acpi_pm $sources/available_clocksource; then
	slow="clocksource warn"
	echo acpi_pm >$sources/current_clocksource
fi
synchronise_clock no
# shellcheck disable=SC2086 # two words or nothing
broken firewall fail clock warn $slow
check "a rule of nftables that drops RoCE is found" \
	finds firewall "rule [0-9]* of the chain ip guard early drops"
check "a clock that is not synchronised is a warning" finds clock "not synchronised"
mends firewall "the rule of nftables"
if [ -n "$slow" ]; then
	check "a slow clocksource is a warning" finds clocksource acpi_pm
	mends clocksource "the slow clocksource"
fi
synchronise_clock yes	# the kernel forgets it with the old source
all_mended

iptables-legacy -A INPUT -p udp -m udp --dport 4791 -j DROP
broken firewall fail
check "a rule of iptables-legacy that drops RoCE is found" \
	finds firewall "iptables-legacy drops UDP to port 4791"
mends firewall "the rule of iptables-legacy"
all_mended
iptables-legacy -F INPUT
iptables-legacy -P INPUT DROP
broken firewall fail
check "a policy of iptables-legacy that drops RoCE is found" \
	finds firewall "'-P INPUT DROP'"
mends firewall "the policy of iptables-legacy"
all_mended
iptables-legacy -F INPUT
iptables-legacy -P INPUT ACCEPT

# ---- limits, memory, and interfaces

host_down
check "dartd without CAP_IPC_LOCK and CAP_SYS_RESOURCE starts" \
	until_ready /run/dartd.log prlimit --memlock=1073741824 \
	setpriv --bounding-set=-ipc_lock,-sys_resource dartd
ip link add other type dummy
ip address add 10.99.0.1/24 dev other
ip link set other up
sysctl -q -w net.ipv4.conf.all.rp_filter=1 vm.nr_hugepages=0
check "a store without huge pages is created" \
	dartctl store create big --slots 2^18 --value 20
pid=$(pidof dartd)
files=$(find "/proc/$pid/fd" -mindepth 1 | wc -l)
prlimit --pid "$pid" --nofile=$((files + 3)):1024
nft=$(command -v nft)
mv "$nft" "$nft.hidden"
broken firewall warn rp_filter warn memlock warn files warn huge_pages warn
mv "$nft.hidden" "$nft"
check "rules that cannot be read without nft are a warning" \
	finds firewall "cannot be read without nft"
check "strict reverse path filtering with a second interface is a warning" \
	finds rp_filter eth0
check "warnings leave the exit status 0" [ $status = 0 ]
check "a limit of locked memory is a warning" finds memlock "1024 MiB"
check "few open files to spare are a warning" finds files "dartd has $files"
check "a store without huge pages is a warning with their number" \
	finds huge_pages "3 of 2048 KiB"
mends rp_filter "strict reverse path filtering"
mends memlock "the limit of locked memory"
mends files "the limit of open files"
mends huge_pages "the lack of huge pages"
all_mended
ip link delete other
sysctl -q -w net.ipv4.conf.all.rp_filter=0
nft flush ruleset
dartctl store delete big
check "the store is created again" dartctl store create big --slots 2^18 --value 20
check "created again, the store has huge pages" sh -c \
	'dartctl -j store list | is_true ".[0].huge_pages"'
dartctl store delete big
sysctl -q -w vm.nr_hugepages=0
prlimit --pid "$pid" --memlock=65536:65536
ip link set eth0 down
soon broken memlock fail rdma fail
check "a limit of locked memory that is too small is found" \
	finds memlock "may pin 64 KiB"
check "a port that is down is found" finds rdma "rxe0 \\(eth0\\) is DOWN"
mends memlock "a limit of locked memory that is too small"
mends rdma "the port that was down"
all_mended

# ---- dartd and its socket

is_denied() {
	echo "socket: ${result[socket]}: ${found[socket]}; do: ${command[socket]}"
	[ "${result[socket]}" = fail ] && [ -n "${command[socket]}" ] &&
		[[ ${found[socket]} =~ "no permission" ]]
}

setpriv --reuid 65534 --clear-groups dartctl -j doctor >/run/findings
read_findings /run/findings
check "a user who may not use the socket is told so" is_denied
check "a user sees which checks need root" \
	[ "${command[firewall]}" = "sudo dartctl doctor" ]

# The examination waits 5 s for dartd: the following checks, which run meanwhile, do not need dartd.
kill -STOP "$pid"
dartctl -j doctor >/run/findings.stopped &
examination=$!
setarch --uname-2.6 dartctl -j --socket=/run/no doctor >/run/findings
read_findings /run/findings
check "a kernel that is too old is found" [ "${result[kernel]}" = fail ]

# another VERSION: examines with a dartd of another release, which answers every
# request with its status
another() {
	until_ready /run/another.log another_dartd /run/another \
		"{\"ok\": true, \"version\": \"$1\", \"status\": {\"version\": \"$1\", \"pid\": $$}}"
	dartctl -j --socket=/run/another doctor >/run/findings
	host_down TERM another_dartd
	read_findings /run/findings
}

# differs FOUND ADVICE: the versions do
differs() {
	echo "version: ${result[version]}: ${found[version]}: ${advice[version]}"
	[ "${result[version]}" = warn ] && [[ ${found[version]} =~ $1 ]] &&
		[[ ${advice[version]} =~ $2 ]]
}

another 0.0
check "an older dartd is a warning that names both versions, and which to upgrade" \
	differs "dartctl is [0-9.]+, dartd is 0.0" "upgrade dartd"
another 99.0
check "a newer dartd is a warning that says to upgrade dartctl" \
	differs "" "upgrade dartctl"
wait $examination
kill -CONT "$pid"
read_findings /run/findings.stopped
are_broken socket fail
check "a dartd that does not answer is found" finds socket "does not answer within 5 s"
check "a dartd that goes on is in order" as_before
rm /run/dart/dartd.sock
broken socket fail
check "a socket that was removed is found" \
	finds socket "dartd runs, but /run/dart/dartd.sock: No such file"
check "the advice is to restart dartd" advises socket "restart dartd"
host_down
check "dartd starts with another socket" host_up --socket=/run/other.sock
broken socket fail
check "a dartd at another socket is found" \
	finds socket "dartd runs, but /run/dart/dartd.sock: No such file"
check "the advised command finds this socket" follow socket
host_down
broken dartd fail
check "a dartd that does not run is found" finds dartd "does not run"
check "the advice is to start it" advises dartd "start dartd"

# ---- without dartd: it would hold the modules and the device

before=$wrong
modprobe -r dart_zero
modprobe -r rdma_ucm
broken module warn rdma_cm fail
check "a module that is not loaded is found" finds module "not loaded: dartd gathers by eBPF"
check "a missing rdma_ucm is found" finds rdma_cm "rdma_ucm is not loaded"
mends module "the missing module"
mends rdma_cm "the missing rdma_ucm"
all_mended
rm /dev/dart_zero /dev/infiniband/rdma_cm
broken module fail rdma_cm fail
check "a module without its device is found" finds module "/dev/dart_zero"
check "a missing device of the RDMA CM is found" finds rdma_cm "does not exist"
mends module "the missing device of the module"
mends rdma_cm "the missing device of the RDMA CM"
all_mended
# With devices of the kernel's, which go with the modules.
rm -f /dev/dart_zero /dev/infiniband/rdma_cm
modprobe -r dart_zero rdma_ucm
modprobe -a dart_zero rdma_ucm
rdma link delete rxe0
mkdir -p /run/empty
mount --bind /run/empty /sys/kernel/btf
broken rdma fail btf fail
check "a host without an RDMA device is told so" finds rdma "no RDMA device"
check "a kernel without BTF is found" finds btf "vmlinux does not exist"
check "the advice is another kernel" advises btf CONFIG_DEBUG_INFO_BTF
umount /sys/kernel/btf
mends rdma "the lack of an RDMA device"
all_mended
check "with BTF nothing is wrong" [ "$wrong" = "$before" ]
finish
