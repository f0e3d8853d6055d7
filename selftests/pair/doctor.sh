#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart-controller doctor names the fault that keeps a controller from reading a host.
. "$(dirname "$0")/../lib.sh"

ours=$(awk '$2 == "DART_CONTROL_ABI_VERSION" { print $3 }' \
	"$tests/../uapi/dart/control.h")

# The clocks of two virtual machines may differ, and most of the host is not registered:
# "clock" and "coverage" count only where they are asked for.

# finds CHECK RESULT TEXT [HOST]: the only finding that is not ok
finds() {
	dart-controller -j doctor "${4-host}" >/run/findings
	cat /run/findings
	# shellcheck disable=SC2016 # variables of jq
	is_true --arg check "$1" --arg result "$2" --arg text "$3" \
		'map(select(.result != "ok" and (.check == $check or
			(.check != "clock" and .check != "coverage")))) |
		length == 1 and
		(.[0] | .check == $check and .result == $result and
			(.found | test($text)))' /run/findings
}

# in_order: nothing is wrong
in_order() {
	dart-controller -j doctor host >/run/findings
	cat /run/findings
	is_true 'all(.result == "ok" or .check == "clock" or .check == "coverage")' \
		/run/findings
}

# advised: the command against the only finding
advised() {
	gojq -r '.[] | select(.result != "ok" and .check != "clock" and
		.check != "coverage").command' /run/findings
}

rdma_up
synchronise_clock yes
# While its module is loaded, soft-RoCE takes UDP to its port.
on host sh -c 'rdma link delete rxe0 2>/dev/null; modprobe -r rdma_rxe'
refuse "a host without an RDMA device is told apart: ICMP says that nothing takes RoCE" \
	"no RDMA device for this address, or a firewall that rejects" \
	dart-controller doctor host
check "the exit status is then 1" sh -c 'dart-controller doctor host; [ $? = 1 ]'
on host rdma_up
check "a host where dartd does not listen is told apart" \
	finds connect fail "10.77.0.2 answers, but dartd does not listen on its port 4792"
check "the advice is to ask the doctor there" [ "$(advised)" = "ssh host dartctl doctor" ]

check "the agent starts" on host host_up
check "an agent without entries but tcp is examined" sh -c \
	'dart-controller doctor host >/run/lines; cat /run/lines; grep "^ok    connect" /run/lines'
on host dartctl register source cpustat
check "nothing is wrong with an agent in order" in_order
check "each step has a line" is_true 'map(.check) == ["rdma_cm", "name", "route", "rdma",
	"gid", "transport", "firewall", "connect", "mtu", "clock", "read", "table", "generation",
	"scrape", "fresh", "coverage"]' /run/findings
check "the scrape tells READs, bytes and latency" is_true \
	'any(.check == "scrape" and (.found | test("[0-9]+ READs, [0-9]+ bytes, [0-9.]+ us")))' \
	/run/findings
check "objects of the host that its agent does not serve are a warning" \
	finds coverage warn "netdevs \\(unregistered\\), .*sources \\(unregistered\\)"
check "the exit status is then 0" dart-controller doctor host
check "the host is registered" on host dartctl register host
check "then its agent serves all that it has" sh -c \
	'dart-controller doctor host | grep "^ok    coverage: "'
on host dartctl unregister host
on host dartctl register source cpustat
check "chosen entries are scraped" sh -c \
	'dart-controller doctor -e cpustat host | grep "scrape: 1 entries"'
refuse "an entry that the host does not have is named" "no entry 'absent'" \
	dart-controller doctor -e absent host
refuse "a name that does not resolve is named" "cannot resolve 'absent'" \
	dart-controller doctor absent
refuse "a port at which dartd does not listen is named" "does not listen on its port 4999" \
	dart-controller doctor host:4999
refuse "doctor takes one host" "takes one HOST" dart-controller doctor

# ---- faults that stop packets

on host sh -c 'nft add table inet filter &&
	nft "add chain inet filter input { type filter hook input priority 0; policy drop; }" &&
	nft add rule inet filter input meta l4proto { tcp, icmp } accept'
check "a firewall on the host that drops RoCE is told from other causes" \
	finds connect fail "does not answer within 10 s: a firewall drops UDP"
check "the doctor of the host names the chain" sh -c \
	'on host dartctl doctor | grep "FAIL  firewall: the chain inet filter input drops"'
on host nft flush ruleset
check "without the firewall nothing is wrong" in_order
nft add table inet filter
nft "add chain inet filter output { type filter hook output priority 0; policy drop; }"
dart-controller -j doctor host >/run/findings
check "a firewall on this machine is named" \
	grep "the chain inet filter output drops UDP to port 4791" /run/findings
check "soft-RoCE that sends nothing since then is named" \
	grep "sends nothing since this host dropped packets" /run/findings
sh -c "$(gojq -r '.[] | select(.check == "rdma" or .check == "firewall").command' \
	/run/findings)"
nft add rule inet filter output accept
check "the advised commands let RoCE out" in_order
nft flush ruleset
modprobe -r rdma_ucm
refuse "a missing rdma_ucm on this machine is named" "rdma_cm: .*do: modprobe rdma_ucm" \
	dart-controller doctor host
modprobe rdma_ucm
rdma link delete rxe0
refuse "the lack of an RDMA device on this machine is named" \
	"rdma: this host has no RDMA device; do: rdma link add rxe0 type rxe netdev eth0" \
	dart-controller doctor host
rdma link add rxe0 type rxe netdev eth0
check "with its device nothing is wrong" in_order

# ---- the host answers, but not as it should

on host date -s '+1 hour' >/dev/null
check "a host whose clock is ahead is a warning" finds clock warn "is 3[56][0-9][0-9].* s ahead of"
on host date -s '-1 hour' >/dev/null
on host dartctl unregister cpustat
on host host_down

on host until_ready /run/hostile.log hostile_agent reject version damaged rkey \
	outdated unwilling || exit 1
check "an agent that rejects the connection is told apart" \
	finds connect fail "refused the connection"
check "an agent of another version is told apart, and which to upgrade" \
	finds connect fail "version $((ours + 1)) of the protocol and this program version $ours: upgrade this program"
check "a damaged table is told apart" finds table fail "table refused"
check "a wrong rkey is told apart" finds read fail "remote access error"
check "an older agent that rejects this version is told apart, and which to upgrade" \
	finds connect fail "version $((ours - 1)) of the protocol and this program version $ours: upgrade dartd there"
check "an agent that rejects for a reason is told apart, and cannot steer the terminal" \
	finds connect fail "refused the connection: it does not feel like it\\\\x1b\\[2J"
on host host_down TERM hostile_agent

check "an agent with another port starts" on host host_up --port=4999
refuse "an agent at another port does not listen at the usual port" \
	"does not listen on its port 4792" dart-controller doctor host
check "it is found at its port" sh -c \
	'dart-controller doctor host:4999 | grep "^ok    connect"'
check "the agent stops" on host host_down
finish
