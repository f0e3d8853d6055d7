#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl doctor names each thing that is broken, no other, and its advice mends it.
. "$(dirname "$0")/../lib.sh"

# examine: writes /run/findings
examine() {
	dartctl -j doctor >/run/findings
	[ -s /run/findings ]
}

# judge FILTER [ARGUMENT...]: of the findings; $wrong are those that are not ok, $new
# those that were not in /run/before
judge() {
	filter=$1
	shift
	# shellcheck disable=SC2016 # variables of jq
	jq -e --slurpfile before /run/before "$@" '
		def wrong: map(select(.result != "ok") | [.check, .result]);
		wrong as $wrong | ($wrong - ($before[0] | wrong)) as $new |
		(if $wrong == [] then . else debug end) | '"$filter" /run/findings
}

# as_before: nothing is wrong now that was not before, and the reverse
as_before() {
	# shellcheck disable=SC2016 # variables of jq
	examine && judge '($before[0] | wrong) == $wrong'
}

# soon COMMAND...: within 10 s, for what the kernel does later
soon() {
	end=$((SECONDS + 10))
	while ! "$@"; do
		[ "$SECONDS" -lt "$end" ] || return
		sleep 0.1
	done
}

# finds CHECK RESULT TEXT: this finding is the only new one, and contains TEXT
finds() {
	# shellcheck disable=SC2016 # variables of jq
	examine && judge '$new == [[$check, $result]] and
			any(.[]; .check == $check and (.found | test($text)))' \
		--arg check "$1" --arg result "$2" --arg text "$3"
}

# follow CHECK: type the command that it advises
follow() {
	command=$(jq -r --arg check "$1" '.[] | select(.check == $check).command' \
		/run/findings)
	echo "$command" && sh -c "$command"
}

# advises CHECK TEXT
advises() {
	jq -r --arg check "$1" '.[] | select(.check == $check).advice' \
		/run/findings | grep -e "$2"
}

# mends CHECK WHAT: the command mends it
mends() {
	check "the advised command mends $2" follow "$1"
	check "afterwards nothing is wrong: $2" soon as_before
}

check "the agent starts" host_up
synchronise_clock yes
examine
cp /run/findings /run/before
# shellcheck disable=SC2016 # a variable of jq
check "nothing is wrong on a host in order" judge '$wrong == []'
check "on a host in order the exit status is 0" dartctl doctor
# shellcheck disable=SC2016 # the inner shell expands these
check "each check has one line" sh -c \
	'dartctl doctor >/run/lines; jq -r ".[] | .check" /run/findings |
	sort | uniq -d | is_true -Rs ". == \"\"" &&
	[ "$(wc -l </run/lines)" = "$(jq length /run/findings)" ]'
check "each line for people begins with ok" sh -c '! grep -v "^ok  " /run/lines'
check "the versions of dartctl and dartd are named" is_true \
	'any(.check == "version" and (.found | test("dartctl and dartd are [0-9]")))' \
	/run/findings
check "doctor takes no operands" sh -c 'dartctl doctor x; [ $? = 2 ]'

# ---- the network

ip link add other type dummy
ip address add 10.99.0.1/24 dev other
ip link set other up
sysctl -q -w net.ipv4.conf.all.rp_filter=1
check "strict reverse path filtering beside a second interface is a warning" \
	finds rp_filter warn eth0
check "a warning leaves the exit status 0" dartctl doctor
mends rp_filter "strict reverse path filtering"
ip link delete other
sysctl -q -w net.ipv4.conf.all.rp_filter=0

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
check "a chain of nftables whose policy drops RoCE is found" \
	finds firewall fail "chain inet filter input drops UDP to port 4791"
check "a failure makes the exit status 1" sh -c 'dartctl doctor; [ $? = 1 ]'
check "its line begins with FAIL and ends with the command" sh -c \
	'dartctl doctor | grep -q "^FAIL  firewall: .*; do: nft insert rule inet filter input udp dport 4791 accept$"'
mends firewall "the policy of nftables"
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
check "a rule of nftables that drops RoCE is found" \
	finds firewall fail "rule [0-9]* of the chain ip guard early drops"
mends firewall "the rule of nftables"
nft=$(command -v nft)
mv "$nft" "$nft.hidden"
check "rules that cannot be read without nft are a warning" \
	finds firewall warn "cannot be read without nft"
mv "$nft.hidden" "$nft"
nft flush ruleset
iptables-legacy -A INPUT -p udp -m udp --dport 4791 -j DROP
check "a rule of iptables-legacy that drops RoCE is found" \
	finds firewall fail "iptables-legacy drops UDP to port 4791"
mends firewall "the rule of iptables-legacy"
iptables-legacy -F INPUT
iptables-legacy -P INPUT DROP
check "a policy of iptables-legacy that drops RoCE is found" \
	finds firewall fail "'-P INPUT DROP'"
mends firewall "the policy of iptables-legacy"
iptables-legacy -F INPUT
iptables-legacy -P INPUT ACCEPT

address=$(ip -j address show dev eth0 |
	jq -r '.[0].addr_info[] | select(.family == "inet") | "\(.local)/\(.prefixlen)"')
ip address delete "$address" dev eth0
check "a device without a GID for an address is found" soon \
	finds gid fail "no RoCE v2 GID with an address"
check "the advice is to give its interface an address" advises gid "eth0"
ip address add "$address" dev eth0
check "with the address nothing is wrong" soon as_before
ip link set eth0 down
check "a port that is down is found" soon finds rdma fail "rxe0 \\(eth0\\) is DOWN"
mends rdma "the port that was down"

# ---- clocks, limits, memory

synchronise_clock no
check "a clock that is not synchronised is a warning" finds clock warn "not synchronised"
synchronise_clock yes
sources=/sys/devices/system/clocksource/clocksource0
if grep -q acpi_pm $sources/available_clocksource; then
	echo acpi_pm >$sources/current_clocksource
	synchronise_clock yes	# the kernel forgets it with the old source
	check "a slow clocksource is a warning" finds clocksource warn acpi_pm
	check "the advised command mends the slow clocksource" follow clocksource
	synchronise_clock yes
	check "with the fast clocksource nothing is wrong" as_before
fi

pid=$(pidof dartd)
files=$(find "/proc/$pid/fd" -mindepth 1 | wc -l)
prlimit --pid "$pid" --nofile=$((files + 3)):1024
check "few open files to spare are a warning" finds files warn "dartd has $files"
mends files "the limit of open files"

sysctl -q -w vm.nr_hugepages=0
check "a store without huge pages is created" \
	dartctl store create big --slots 2^18 --value 20
check "a store without huge pages is a warning with their number" \
	finds huge_pages warn "3 of 2048 KiB"
mends huge_pages "the lack of huge pages"
dartctl store delete big
check "the store is created again" dartctl store create big --slots 2^18 --value 20
check "created again, the store has huge pages" sh -c \
	'dartctl -j store list | is_true ".[0].huge_pages"'
dartctl store delete big
sysctl -q -w vm.nr_hugepages=0

host_down
check "dartd without CAP_IPC_LOCK and CAP_SYS_RESOURCE starts" \
	until_ready /run/dartd.log prlimit --memlock=1073741824 \
	setpriv --bounding-set=-ipc_lock,-sys_resource dartd
check "a limit of locked memory is a warning" finds memlock warn "1024 MiB"
mends memlock "the limit of locked memory"
prlimit --pid "$(pidof dartd)" --memlock=65536:65536
check "a limit of locked memory that is too small is found" \
	finds memlock fail "may pin 64 KiB"
mends memlock "a limit of locked memory that is too small"

# ---- dartd and its socket

check "a user who may not use the socket is told so" sh -c '
	setpriv --reuid 65534 --clear-groups dartctl -j doctor |
	is_true "any(.check == \"socket\" and .result == \"fail\" and
		(.found | test(\"no permission\")) and .command)"'
check "a user sees which checks need root" sh -c '
	setpriv --reuid 65534 --clear-groups dartctl -j doctor |
	is_true "any(.check == \"firewall\" and .command == \"sudo dartctl doctor\")"'
kill -STOP "$(pidof dartd)"
check "a dartd that does not answer is found" finds socket fail "does not answer within 5 s"
kill -CONT "$(pidof dartd)"
check "a dartd that goes on is in order" as_before
rm /run/dart/dartd.sock
check "a socket that was removed is found" finds socket fail "dartd runs, but /run/dart/dartd.sock: No such file"
check "the advice is to restart dartd" advises socket "restart dartd"
host_down
check "dartd starts with another socket" host_up --socket=/run/other.sock
check "a dartd at another socket is found" finds socket fail "dartd runs, but /run/dart/dartd.sock: No such file"
check "the advised command finds this socket" follow socket
host_down

check "a dartd that does not run is found" finds dartd fail "does not run"
check "the advice is to start it" advises dartd "start dartd"

# ---- without dartd: it would hold the module and the device

cp /run/findings /run/before
modprobe -r dart_zero
check "a module that is not loaded is found" finds module fail "not loaded"
mends module "the missing module"
rm /dev/dart_zero
check "a module without its device is found" finds module fail "/dev/dart_zero"
mends module "the missing device of the module"
# With devices of the kernel's, which go with the modules.
rm -f /dev/dart_zero
modprobe -r dart_zero
modprobe dart_zero
modprobe -r rdma_ucm
check "a missing rdma_ucm is found" finds rdma_cm fail "rdma_ucm is not loaded"
mends rdma_cm "the missing rdma_ucm"
rm /dev/infiniband/rdma_cm
check "a missing device of the RDMA CM is found" finds rdma_cm fail "does not exist"
mends rdma_cm "the missing device of the RDMA CM"
rm -f /dev/infiniband/rdma_cm
modprobe -r rdma_ucm
modprobe rdma_ucm
rdma link delete rxe0
check "a host without an RDMA device is told so" finds rdma fail "no RDMA device"
mends rdma "the lack of an RDMA device"
mkdir -p /run/empty
mount --bind /run/empty /sys/kernel/btf
check "a kernel without BTF is found" finds btf fail "vmlinux does not exist"
check "the advice is another kernel" advises btf CONFIG_DEBUG_INFO_BTF
umount /sys/kernel/btf
check "with BTF nothing is wrong" as_before
check "a kernel that is too old is found" sh -c '
	setarch --uname-2.6 dartctl -j doctor |
	is_true "any(.check == \"kernel\" and .result == \"fail\")"'

# ---- other releases

# another VERSION: a dartd of another release answers every request with its status
another() {
	until_ready /run/another.log another_dartd /run/another \
		"{\"ok\": true, \"version\": \"$1\", \"status\": {\"version\": \"$1\", \"pid\": $$}}"
}

another 0.0
check "an older dartd is a warning that names both versions, and which to upgrade" sh -c '
	dartctl -j --socket=/run/another doctor | is_true "any(.check == \"version\" and
		.result == \"warn\" and (.found | test(\"dartctl is [0-9.]+, dartd is 0.0\"))
		and (.advice | test(\"upgrade dartd\")))"'
pkill another_dartd
another 99.0
check "a newer dartd is a warning that says to upgrade dartctl" sh -c '
	dartctl -j --socket=/run/another doctor | is_true "any(.check == \"version\" and
		.result == \"warn\" and (.advice | test(\"upgrade dartctl\")))"'
pkill another_dartd
finish
