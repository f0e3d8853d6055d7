#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The source netdev:core shows the same dropped packets of a device as ip(8).
. "$(dirname "$0")/../lib.sh"

# drop COUNT: sends packets with the tag of a VLAN that end1 is not part of
drop() {
	dart-report --interface end0.7 --source 10.78.0.1 --flows uniform \
		--emit int --count "$1" --rate 1000
}

# as_ip LEAST: the entry shows the counters of ip, with at least LEAST drops
# shellcheck disable=SC2016 # variables of jq
as_ip() {
	ip -s -s -j link show end1 >"$shown" &&
		dartctl -j show netdev:core@end1 | tee /dev/stderr |
		is_true --argjson least "$1" --slurpfile ip "$shown" \
			'.values.sum as $sum | $ip[0][0].stats64 |
			$sum.rx_otherhost_dropped >= $least and
			$sum.rx_otherhost_dropped == (.rx.otherhost // 0) and
			$sum.rx_dropped == .rx.dropped and
			$sum.tx_dropped == .tx.dropped and
			$sum.rx_nohandler == (.rx.nohandler // 0)'
}

shown=$(mktemp)
check "the agent starts" host_up
ip link add end0 type veth peer name end1
ip link add link end0 name end0.7 type vlan id 7
# Without IPv6 only the test sends packets.
for interface in end0 end1 end0.7; do
	alone=/proc/sys/net/ipv6/conf/$interface/disable_ipv6
	[ ! -e $alone ] || echo 1 >$alone
	ip link set $interface up
done
check "netdev:core is registered for one device" \
	dartctl register source netdev:core --netdev end1
check "drop counters of an idle device agree with ip" as_ip 0
check "500 packets of another VLAN are sent to the device" drop 500
check "500 dropped packets are counted as ip shows them" as_ip 500
check "the agent stops" host_down
ip link delete end0
rm -f "$shown"
finish
