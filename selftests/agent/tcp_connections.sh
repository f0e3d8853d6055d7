#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The rows of the probe tcpconn agree with ss(8), and closed connections free their rows.
. "$(dirname "$0")/../lib.sh"

ours=$(mktemp)
theirs=$(mktemp)
row_count=16384

# Lines of ss with the fields that the probe shows, too: cookie, addresses, state and
# figures, without bytes that are sent and not yet acknowledged.
theirs() {
	ss --no-header --oneline --tcp --numeric --extended --info state \
		connected exclude time-wait | awk '
		function figure(name) {
			return match($0, " " name ":[0-9.]+") ? substr($0,
				RSTART + length(name) + 2,
				RLENGTH - length(name) - 2) : 0
		}
		function hexadecimal(text, value, i) {
			for (i = 1; i <= length(text); i++)
				value = value * 16 + index("0123456789abcdef",
					substr(text, i, 1)) - 1
			return value
		}
		{
			match($0, / sk:[0-9a-f]+/)
			cookie = hexadecimal(substr($0, RSTART + 4, RLENGTH - 4))
			gsub(/[][]/, "")
			retransmissions = 0
			if (match($0, " retrans:[0-9]+/[0-9]+")) {
				retransmissions = substr($0, RSTART, RLENGTH)
				sub(".*/", "", retransmissions)
			}
			print cookie, $4, $5, $1, figure("bytes_acked"),
				figure("bytes_sent"), figure("bytes_received"),
				figure("segs_in"), retransmissions,
				int(figure("rtt") * 1000 + 0.5),
				int(figure("minrtt") * 1000 + 0.5),
				figure("cwnd")
		}' | sort -n
}

# The same lines from the probe.
ours() {
	dartctl -j show tcpconn | gojq -r '.values.rows[] | [.cookie,
		"\(.local_address):\(.local_port)",
		"\(.remote_address):\(.remote_port)",
		["", "ESTAB", "SYN-SENT", "", "FIN-WAIT-1", "FIN-WAIT-2", "", "",
			"CLOSE-WAIT", "LAST-ACK", "", "CLOSING"][.state],
		.acked_bytes, .sent_bytes, .received_bytes, .received_segments,
		.retransmissions, .srtt, .min_rtt, .cwnd] | join(" ")' | sort -n
}

# same COUNT: there are as many rows, and they agree with ss
same() {
	theirs >"$theirs"
	ours >"$ours"
	diff "$theirs" "$ours" && [ "$(wc -l <"$ours")" -eq "$1" ]
}

usage() {
	dartctl -j show tcpconn.rows |
		gojq -c '.values.rows[0] | [.in_use, .without_row]'
}

hold() {
	until_ready "/run/load.$1" load "$@"
}

# A lost acknowledgement leads to a retransmission, whose time only the kernel knows.
all_acknowledged() {
	while ss --no-header --tcp --info state connected | grep 'unacked:'; do
		sleep 0.1
	done
}

release() {
	pkill -x load
	pidwait -x load || true
}

retransmitted() {
	awk '{ sum += $9 } END { print sum; exit !sum }' "$ours"
}

ip link set lo up
check "the agent starts" host_up
check "5 IPv4 connections are opened before tcpconn is loaded" \
	hold connections 5 10000
check "2 IPv6 connections are opened before tcpconn is loaded" \
	hold connections6 2 3000
check "the probe tcpconn can be loaded" dartctl probe load tcpconn
check "rows of connections that are older than the probe agree with ss" same 14
check "4 IPv4 connections are opened after tcpconn was loaded" \
	hold connections 4 70000
check "2 IPv6 connections are opened after tcpconn was loaded" \
	hold connections6 2 5000
check "rows of connections that are younger than the probe agree with ss" same 26
check "26 rows are in use, one for each end of 13 connections" \
	[ "$(usage)" = "[26,0]" ]
release
check "closed connections have no row" same 0
check "no row is in use after all connections were closed" [ "$(usage)" = "[0,0]" ]
check "300 connections are opened and closed in turn" load opens 300
check "no row is in use after 300 connections came and went" \
	[ "$(usage)" = "[0,0]" ]

modprobe sch_netem
tc qdisc add dev lo root netem loss 10%
check "6 connections transfer data while segments are lost" hold connections 6 150000
tc qdisc del dev lo root
check "the peers acknowledge all data after the losses" all_acknowledged
check "rows of connections with losses agree with ss" same 12
check "rows of connections with losses count retransmissions" retransmitted
release

# To unused addresses. The attempts must last until the test counts them.
retries=$(cat /proc/sys/net/ipv4/tcp_syn_retries)
echo 100 >/proc/sys/net/ipv4/tcp_syn_retries
ip link add unreached type dummy
ip link set unreached up
ip address add 198.18.0.1/15 dev unreached
check "20 connections more than tcpconn has rows are begun" \
	hold attempts $((row_count + 20)) 198.19.0.0
check "all rows are in use, and 20 connections are counted as without a row" \
	[ "$(usage)" = "[$row_count,20]" ]
refuse "dartctl show refuses the 16384 rows of tcpconn as too many" "too many" \
	dartctl show tcpconn
release
ip link delete unreached
echo "$retries" >/proc/sys/net/ipv4/tcp_syn_retries
check "no row is in use after all attempts ended" [ "$(usage)" = "[0,0]" ]
check "the agent stops" host_down
finish
