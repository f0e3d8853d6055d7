#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Packets carry the DSCP of the settings, as switches see them: a rule of nftables counts them by
# their IP header on the host, where soft-RoCE's packets pass.
. "$(dirname "$0")/../lib.sh"

# count_packets: starts to count RoCE packets of this machine, by direction and DSCP
count_packets() {
	nft -f - <<'RULES'
table inet classes
delete table inet classes
table inet classes {
	counter in_af31 {}
	counter in_ef {}
	counter in_other {}
	counter out_af31 {}
	counter out_ef {}
	counter out_other {}
	chain in {
		type filter hook prerouting priority -300;
		udp dport 4791 ip dscp 26 counter name in_af31 return
		udp dport 4791 ip dscp 46 counter name in_ef return
		udp dport 4791 counter name in_other
	}
	chain out {
		type filter hook output priority -300;
		udp dport 4791 ip dscp 26 counter name out_af31 return
		udp dport 4791 ip dscp 46 counter name out_ef return
		udp dport 4791 counter name out_other
	}
}
RULES
}

# counted NAME: packets
counted() {
	on host nft -j list counter inet classes "$1" |
		gojq '.nftables[] | select(.counter).counter.packets'
}

# scrapes [OPTION...]: 20 scrapes, counted from the first packet of the connection on
scrapes() {
	on host "$0" count_packets && timeout 120 dart-controller "$@" --json -n 20 -i 20ms host >/run/scrapes
}

# are NAME LEAST MOST...: prints the counters and compares them with bounds
are() {
	local name least most packets wrong=0

	while [ $# -gt 0 ]; do
		name=$1 least=$2 most=$3
		shift 3
		packets=$(counted "$name")
		echo "$name: $packets packets, $least to $most expected"
		[ "$packets" -ge "$least" ] && [ "$packets" -le "$most" ] || wrong=1
	done
	return "$wrong"
}

starts() {
	on host sh -c "printf '%s\n' 'sources: [cpustat, vmstat]' \
		'allow: {callers: [10.77.0.0/24]}' \"$1\" >/run/dartd.yaml &&
		host_up --config /run/dartd.yaml"
}

if [ $# -gt 0 ]; then
	"$@"
	exit
fi

rdma_up
check "the agent starts" starts ""
# The handshake of the RDMA CM goes to queue pair 1, in the class of the path, too.
check "a controller without the setting scrapes" scrapes
check "all packets have DSCP 0" are in_af31 0 0 in_other 40 100000 out_af31 0 0 out_ef 0 0 \
	out_other 40 100000
check "a controller with --dscp 26 scrapes" scrapes --dscp 26
check "its READs have DSCP 26, and the responses have it, too" are in_af31 40 100000 \
	out_af31 40 100000 in_other 0 20 out_other 0 20
echo 'dscp: 26' >/run/controller.yaml
check "so it is with 'dscp' in its configuration, and calls" scrapes --transport rpc \
	--config /run/controller.yaml
check "its calls and their answers have DSCP 26" are in_af31 20 100000 out_af31 20 100000 \
	in_other 0 20 out_other 0 20
refuse "a DSCP has six bits" "'64' is not a code point (expected 1 to 63" \
	dart-controller --dscp 64 host
check "the agent stops" on host host_down

check "an agent with 'dscp: 46' starts" starts "dscp: 46"
check "a controller without the setting scrapes it" scrapes
check "the responses have DSCP 46, the READs 0" are out_ef 40 100000 in_af31 0 0 \
	in_other 40 100000 out_other 0 20
check "a controller with --dscp 26 scrapes it" scrapes --dscp 26
check "the responses have DSCP 46, the READs 26" are out_ef 40 100000 in_af31 40 100000 \
	out_af31 0 20
check "a store is created with a reporter" on host sh -c \
	'dartctl store create paths --slots 2^12 --value 20 && dartctl reporter add paths 10.77.0.1'
on host dartctl store export paths >/run/paths.json
check "the export for reporters says DSCP 46" is_true '.collectors[0].dscp == 46' /run/paths.json
on host "$0" count_packets
check "a reporter sends reports" timeout 120 dart-report --interface eth0 --collectors /run/paths.json \
	--flows uniform --count 200 --seed 7
check "they have DSCP 46" are in_ef 100 100000
check "the agent stops at last" on host host_down
on host nft delete table inet classes
finish
