#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# INT-MD after tags of VLANs is reported, from a capture and by XDP; packets with more than two
# tags are counted.
# shellcheck disable=SC2016 # variables of jq
. "$(dirname "$0")/../lib.sh"

frames=$(dirname "$0")/../lib/tagged_frames.py
file=$(mktemp)
tagless=7	# the kinds of frames with at most two tags, and INT-MD

# exchange INTERFACE REPORTS [KIND...]: sends frames; all reports come to port1 without tags
exchange() {
	interface=$1 reports=$2
	shift 2
	"$frames" send "$interface" port1 "$reports" "$@" >/run/reports || return
	cat /run/reports
	is_true --argjson count "$reports" 'length == $count and all(. == [])' /run/reports
}

# counts FILTER: of the reporter
counts() {
	dartctl -j xdp status port0 | tee /dev/stderr | is_true ".[0] | $1"
}

/usr/bin/python3 -c 'import scapy.layers.l2' 2>/dev/null ||
	skip "scapy is not installed (Debian package python3-scapy)"
ip link add port0 type veth peer name port1
ip address add 10.78.0.1/24 dev port0
# Only the test sends packets.
for port in port0 port1; do
	echo 1 >/proc/sys/net/ipv6/conf/$port/disable_ipv6
	ip link set $port up
done
gojq -n '{dart_collectors: 1, collectors: [{name: "paths", reporter: "10.78.0.1",
	mac: "02:00:00:00:00:01", ip: "10.78.0.2", qpn: 17, rkey: 4660,
	base: "0x3a5f00000000", slots_log2: 10, value_length: 20, checksum_bits: 32,
	redundancy: 2, first_psn: 0}]}' >"$file"

check "a capture of frames with tags is written" "$frames" save /run/tagged.pcap
dart-report --interface port0 --pcap /run/tagged.pcap --collectors "$file" --json \
	>/run/reported 2>"$output"
check "dart-report reports INT-MD after no, one and two tags" \
	is_true --argjson count $tagless '.packets == $count and .collectors[0].reports == $count' \
	/run/reported
check "dart-report counts a packet after three tags by name, and ARP after one as before" \
	is_true '.tagged == 1 and .others == 1 and .malformed == 0' /run/reported
check "dart-report says so in words" sh -c "
	dart-report --interface port0 --pcap /run/tagged.pcap --collectors '$file' |
		grep '^1 packet with more than two VLAN tags'"

check "the XDP reporter is attached" dartctl xdp attach port0 --collectors "$file"
check "the XDP reporter reports INT-MD after no, one and two tags, in frames without tags" \
	exchange port1 $tagless
check "it counts a packet after three tags by name, and ARP after one as before" \
	counts ".reports == $tagless and .tagged == 1 and .others == 1"

# A VLAN device does not write the tag into the frame, but into its description.
ip link add link port1 name outer5 type vlan id 5
ip link add link port1 name outer8 type vlan proto 802.1ad id 8
for port in outer5 outer8; do
	echo 1 >/proc/sys/net/ipv6/conf/$port/disable_ipv6
	ip link set $port up
done
check "a packet whose tag is not in its bytes is reported, in a frame without tags" \
	exchange outer5 1 none
check "packets with another tag in their bytes are reported, in frames without tags" \
	exchange outer8 3 none single priority
check "all of them were counted" counts ".reports == $tagless + 4 and .tagged == 1"
check "the XDP reporter is detached" dartctl xdp detach port0
ip link delete port0
rm -f "$file"
finish
