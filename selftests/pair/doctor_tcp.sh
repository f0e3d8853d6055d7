#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dart-controller doctor tries TCP as well as RDMA, and reports if the host does not allow
# the address of the caller.
. "$(dirname "$0")/../lib.sh"

tls=/run/tls
certificates=(--tls-certificate "$tls/caller.example.pem" --tls-key "$tls/caller.example.key"
	--tls-authorities "$tls/authority.pem")

# finds CHECK RESULT TEXT [OPTION...]: the doctor prints this finding
finds() {
	check=$1 result=$2 text=$3
	shift 3
	dart-controller -j doctor "$@" host >/run/findings
	cat /run/findings
	# shellcheck disable=SC2016 # variables of jq
	is_true --arg check "$check" --arg result "$result" --arg text "$text" \
		'any(.[]; .check == $check and .result == $result and (.found | test($text)))' \
		/run/findings
}

# The clocks of two virtual machines may differ.
compares_clocks() {
	dart-controller -j doctor "${certificates[@]}" host | tee /dev/stderr |
		is_true 'any(.[]; .check == "clock" and (.found | test("this machine")))'
}

looks_at_tcp_alone() {
	dart-controller -j doctor --transport tcp "${certificates[@]}" host | tee /dev/stderr |
		is_true 'map(.check) == ["certificate", "name", "tcp", "clock"]'
}

# none RESULT: no finding has this result
none() {
	is_true "all(.[]; .result != \"$1\")" /run/findings
}

configure() {
	on host sh -c "printf '%s\n' \"\$@\" >/run/dartd.yaml" sh \
		"tcp: {certificate: $tls/host.pem, key: $tls/host.key," \
		"  authorities: $tls/authority.pem, subjects: [caller.example]}" "$@"
}

"$tests/certificates" $tls host caller.example
configure "device: none" "allow: {callers: [10.77.0.1]}"
check "the agent starts without RDMA" on host host_up --config=/run/dartd.yaml
rdma_up
check "a host that is only reached over TCP is found to serve this machine" \
	finds tcp ok "dartd answers on TCP port 4793" "${certificates[@]}"
check "that RDMA does not reach it is a warning" finds connect warn . "${certificates[@]}"
check "nothing fails then" none fail
check "the exit status is 0" dart-controller doctor "${certificates[@]}" host
check "the clocks are compared over TCP" compares_clocks
check "without certificates it says that dartd listens" finds tcp warn "listens on TCP port 4793"
check "then nothing fails either" none fail
check "over TCP alone RDMA is not looked at" looks_at_tcp_alone
cat >/run/controller.yaml <<END
agents: [{host: host, transport: tcp}]
tls: {certificate: $tls/caller.example.pem, key: $tls/caller.example.key,
  authorities: $tls/authority.pem}
END
check "the certificates of a configuration are taken" \
	finds tcp ok "dartd answers" --config /run/controller.yaml

rdma link delete rxe0
ip link add other0 type dummy
ip address add 192.0.0.8/32 dev other0
ip link set other0 up
rdma link add rxe1 type rxe netdev other0
check "a device that leads nowhere does not reach the host, and is named" \
	finds route warn "no RDMA device of this machine reaches 10.77.0.2; there is rxe1" \
	"${certificates[@]}"
check "TCP does" finds tcp ok "dartd answers" "${certificates[@]}"
rdma link delete rxe1
ip link delete other0
check "without any device TCP does as well" finds tcp ok "dartd answers" "${certificates[@]}"
rdma link add rxe0 type rxe netdev eth0

configure "device: none" "allow: {callers: [10.77.0.9]}"
on host pkill -HUP -x dartd
check "a machine that callers does not list is told so by the doctor" soon \
	finds tcp fail "does not allow the address of this machine" "${certificates[@]}"
refuse "a controller is told so" "does not allow the address of this side" \
	timeout 120 dart-controller --transport tcp "${certificates[@]}" --once host
check "the agent stops" on host host_down

configure "allow: {callers: [10.77.0.9]}"
check "the agent starts with RDMA" on host host_up --config=/run/dartd.yaml
refuse "a controller that asks over RDMA is told so" "its address is not in allow: callers" \
	timeout 120 dart-controller --transport rpc --once host
check "the agent stops again" on host host_down
on host rm -r $tls
rm -r $tls
finish
