#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The probe tcpconn: its rows are what ss says of the same sockets, for
# connections from before and after it was loaded, of IPv4 and IPv6, with and
# without losses; closed ones leave theirs to others.
. "$(dirname "$0")/../lib.sh"

ours=$(mktemp)
theirs=$(mktemp)
row_count=16384

# What both know: cookie, ends, cgroup or not, state, and the figures. What a side
# has sent and the other has not confirmed yet is no part of it.
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

ours() {
	dartctl -j show tcpconn | jq -r '.entry.values.rows[] | [.cookie,
		"\(.local_address):\(.local_port)",
		"\(.remote_address):\(.remote_port)",
		["", "ESTAB", "SYN-SENT", "", "FIN-WAIT-1", "FIN-WAIT-2", "", "",
			"CLOSE-WAIT", "LAST-ACK", "", "CLOSING"][.state],
		.acked_bytes, .sent_bytes, .received_bytes, .received_segments,
		.retransmissions, .srtt, .min_rtt, .cwnd] | join(" ")' | sort -n
}

# same COUNT: as many rows, and all as ss has them
same() {
	theirs >"$theirs"
	ours >"$ours"
	diff "$theirs" "$ours" && [ "$(wc -l <"$ours")" -eq "$1" ]
}

usage() {
	dartctl -j show tcpconn.rows |
		jq -c '.entry.values.rows[0] | [.in_use, .without_row]'
}

hold() {
	until_ready "/run/load.$1" load "$@"
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
check "connections are there before" hold connections 5 10000
check "and of IPv6" hold connections6 2 3000
check "the probe is loaded" dartctl probe load tcpconn
check "rows of connections from before are as ss has them" same 14
check "connections are opened" hold connections 4 70000
check "and of IPv6" hold connections6 2 5000
check "rows of connections from after, too" same 26
check "as many rows are in use" [ "$(usage)" = "[26,0]" ]
release
check "closed connections have no row" same 0
check "no row is in use" [ "$(usage)" = "[0,0]" ]
check "hundreds come and go" load opens 300
check "the same rows were used again and again: none is in use" \
	[ "$(usage)" = "[0,0]" ]

modprobe sch_netem
tc qdisc add dev lo root netem loss 10%
check "connections are opened, with losses" hold connections 6 150000
tc qdisc del dev lo root
check "rows are as ss has them" same 12
check "segments were retransmitted" retransmitted
release

# Of a network that nobody is in. They must not give up before they are counted.
retries=$(cat /proc/sys/net/ipv4/tcp_syn_retries)
echo 100 >/proc/sys/net/ipv4/tcp_syn_retries
ip link add nobody type dummy
ip link set nobody up
ip address add 198.18.0.1/15 dev nobody
check "more connections than rows" hold attempts $((row_count + 20)) 198.19.0.0
check "all rows are in use, and the others are counted" \
	[ "$(usage)" = "[$row_count,20]" ]
refuse "16384 rows are too many to show" "too many" dartctl show tcpconn
release
ip link delete nobody
echo "$retries" >/proc/sys/net/ipv4/tcp_syn_retries
check "all rows are free again" [ "$(usage)" = "[0,0]" ]
check "the agent ends" host_down
finish
