#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl xdp follow replaces only changed collectors, without detaching the reporter.
. "$(dirname "$0")/../lib.sh"

file=/run/collectors.json
log=/run/follow.log

# collector NAME QPN [CHANGES]: a collector as JSON
collector() {
	gojq -n --arg name "$1" --argjson qpn "$2" --argjson more "${3:-null}" '{
		$name, reporter: "10.78.0.1", mac: "02:00:00:00:00:01",
		ip: "10.78.0.2", $qpn, rkey: 4660, base: "0x3a5f00000000",
		slots_log2: 10, value_length: 20, checksum_bits: 32,
		redundancy: 2, first_psn: 0, epoch: 1000} + $more'
}

# file COLLECTOR...: replaces the file of collectors
file() {
	printf '%s\n' "$@" |
		gojq -s '{dart_collectors: 1, collectors: .}' >"$file.new" &&
		mv "$file.new" "$file"
}

follow() {
	dartctl -j xdp follow port1 --collectors "$file"
}

# rows: the map "reports", a line for each collector: queue pair, first PSN, reports
rows() {
	bpftool -j map dump pinned /sys/fs/bpf/dart/reporter/port1/reports |
		gojq -c '.[] | (.formatted // .).value | [.qpn, .first_psn, .reports]'
}

# send COUNT SEED: packets that become reports
send() {
	dart-report --interface port.0 --source 10.78.0.1 --flows uniform \
		--count "$1" --seed "$2" --emit int >/dev/null
}

link_id() {
	bpftool -j net show | gojq '.[0].xdp[] | select(.devname == "port1").id'
}

total() {
	dartctl -j xdp status port1 | gojq '.[0].reports'
}

ip link add port.0 type veth peer name port1
ip address add 10.78.0.1/24 dev port.0
ip link set port.0 up
ip link set port1 up

one=$(collector paths 17)
two=$(collector more 18)
file "$one" "$two"
refuse "a follower of an interface without a reporter is refused" \
	"no XDP reporter is attached to 'port1'" follow
check "the reporter is attached" dartctl xdp attach port1 --through port.0 \
	--collectors "$file"
refuse "a follower without files is refused" "needs INTERFACE and --collectors" \
	dartctl xdp follow port1
refuse "a follower of a name with a slash is refused" "no XDP reporter" \
	dartctl xdp follow ../port1 --collectors "$file"
refuse "only root may follow" "only root may" setpriv --reuid 65534 --clear-groups \
	dartctl xdp follow port1 --collectors "$file"
file "$one"
refuse "a first file with fewer collectors is refused" "1 collectors instead of 2" follow
file "$one" "$(collector more 18 '{"slots_log2": 11}')"
refuse "a first file with another geometry is refused" \
	"store 'more' has another name or geometry" follow
file "$one" "$two"
program=$(link_id)
check "1000 packets are sent" send 1000 1
reports=$(rows | gojq -s 'map(.[2]) | add')
check "they are 1000 reports" [ "$reports" = 1000 ]
first=$(rows | gojq -s '.[0][2]')

check "the follower is ready" until_ready $log dartctl -j xdp follow port1 \
	--collectors "$file"
follower=$(pgrep -nx dartctl)
check "a file without a change changes nothing" logged 0 qpn
file "$(collector paths 33 '{"rkey": 9, "epoch": 1001, "first_psn": 500}')" "$two"
check "the change of one collector is printed, once" soon logged 1 \
	'"qpn": *33,.*"old_qpn": *17,.*"epoch": *1001'
check "the reporter goes on counting reports to it, and begins with the first PSN" \
	is_true -s ".[0] == [33, ((500 - $first) % 16777216 + 16777216) % 16777216, $first]" \
	<<<"$(rows)"
check "the other collector is left alone" \
	[ "$(rows | sed -n 2p | gojq -c '.[:2]')" = "[18,0]" ]
check "the program is still the same" [ "$(link_id)" = "$program" ]
check "1000 more packets are sent" send 1000 2
check "each of them became a report" [ "$(total)" = 2000 ]
check "both collectors get reports" is_true -s \
	'.[0][2] > 900 and .[1][2] > 900' <<<"$(rows)"

# Its queue pair stays: only the memory changes, here at each of 20 rotations.
rotated() {
	collector paths 33 "{\"rkey\": $((100 + $1)), \"epoch\": 1001, \"first_psn\": 500,
		\"base\": \"0x7f0000$(printf %04x "$1")00\", \"redundancy\": $((1 + $1 % 2)),
		\"redundancy_max\": 2}"
}
# memory: key and address of the memory in use of the first collector, and its redundancy
memory() {
	bpftool -j map dump pinned /sys/fs/bpf/dart/reporter/port1/collectors |
		gojq -c '(.[0] | .formatted // .).value |
			.memories[.current] | [.rkey, .base, .redundancy]'
}
before=$(rows)
# Reports cross the rotations.
send 20000 3 &
sender=$!
for ((i = 1; i <= 20; i++)); do
	file "$(rotated $i)" "$two"
	soon logged $i '"qpn": *33,.*"old_qpn": *33' || break
done
check "each of 20 rotations is printed" [ $i = 21 ]
check "20000 packets are sent meanwhile" wait $sender
check "none of them was lost" is_true '.[0].reports == 22000 and .[0].unassigned == 0' \
	<<<"$(dartctl -j xdp status port1)"
check "the first PSN stays" [ "$(gojq -sc '.[0][:2]' <<<"$(rows)")" = \
	"$(gojq -sc '.[0][:2]' <<<"$before")" ]
check "the last memory is in use" [ "$(memory)" = "[$((120 << 24)),$((0x7f0000001400)),1]" ]

# Shares move from one to the other, each in one step, while reports cross the moves.
share() {
	file "$(rotated 20 | gojq --arg shares "$1-1023" '. + {$shares}')" \
		"$(gojq --arg shares "0-$(($1 - 1))" '. + {$shares}' <<<"$two")"
}
send 5000 4 &
sender=$!
for ((i = 1; i <= 10; i++)); do
	share $((i * 50))
	soon logged $i '"moved_shares": *[0-9]' || break
done
check "shares move ten times, and each time is printed" [ $i = 11 ]
check "5000 packets are sent meanwhile" wait $sender
check "all of them are reports" is_true '.[0].reports == 27000 and .[0].unassigned == 0' \
	<<<"$(dartctl -j xdp status port1)"
before=$(rows | gojq -sc 'map(.[2])')
check "1000 packets are sent when one has few shares" send 1000 5
check "about half of them are its reports" is_true -s --argjson before "$before" '
	(.[1][2] - $before[1]) as $more | $more > 400 and $more < 600 and
	.[0][2] - $before[0] == 1000 - $more' <<<"$(rows)"
file "$(rotated 20)" "$two"
check "the shares move back" soon logged 1 '"moved_shares": *1012'
file "$(collector paths 33 '{"rkey": 9, "epoch": 1002, "first_psn": 500}')" "$two"
check "a new epoch alone restarts the PSNs" soon logged 1 '"epoch": *1002'
file "$one" "$two" "$(collector third 40)"
check "another collector in the file is refused with one sentence" \
	soon logged 1 "the files have other stores (detach"
file "$one" "$two"
check "the old numbers are taken back" soon logged 1 '"qpn": *17,.*"old_qpn": *33'

# other_values PIN BYTES COMMAND...: runs it while the values of a pinned map have this size, as if
# another version of dartctl had attached the reporter
other_values() {
	local pins=/sys/fs/bpf/dart/reporter/port1 pin=$1 status

	mv "$pins/$pin" "$pins/kept" &&
		bpftool map create "$pins/$pin" type array key 4 value "$2" entries 2 name other ||
		return 3
	"${@:3}"
	status=$?
	rm "$pins/$pin" && mv "$pins/kept" "$pins/$pin" || return 3
	return "$status"
}
for bytes in 24 4096; do
	for pin in collectors shares reports sequences; do
		refuse "values of $bytes bytes in the map '$pin' are refused by a follower" \
			"another dartctl has attached the reporter (dartctl xdp detach port1" \
			other_values $pin $bytes follow
	done
	for pin in counters reports; do
		refuse "and in the map '$pin' by 'xdp status'" \
			"another dartctl has attached one" \
			other_values $pin $bytes dartctl xdp status port1
	done
done
check "the reporter is as before" is_true '.[0].reports == 28000' \
	<<<"$(dartctl -j xdp status port1)"

check "the reporter is detached" dartctl xdp detach port1
file "$(collector paths 50)" "$two"
check "the follower ends when its reporter no longer exists" \
	soon sh -c "! readlink /proc/$follower/exe"
check "it says why" logged 1 "no XDP reporter is attached to 'port1'"

# Two stores of one host with reliable connections: after a restart of its dartd each has the number
# that the queue pair of the other one had.
reliable() {
	file "$(collector paths "$1" "{\"transport\": \"rc\", \"epoch\": $3}")" \
		"$(collector more "$2" "{\"transport\": \"rc\", \"epoch\": $3}")"
}
# sources: the queue pairs that answers come from, and the collectors that these are of
sources() {
	bpftool -j map dump pinned /sys/fs/bpf/dart/reporter/port1/answers |
		gojq -c 'map(.formatted // . | [.key.queue_pair / 16777216, .value]) | sort'
}
log=/run/reliable.log
reliable 17 18 1000
check "a reporter over reliable connections is attached" dartctl xdp attach port1 \
	--through port.0 --collectors "$file"
check "it knows where answers come from" [ "$(sources)" = "[[17,0],[18,1]]" ]
check "it is followed" until_ready $log dartctl -j xdp follow port1 --collectors "$file"
reliable 18 17 1001
check "both have other queue pairs" soon logged 2 '"epoch": *1001'
check "each answer is of the collector that it comes from" \
	[ "$(sources)" = "[[17,1],[18,0]]" ]
reliable 18 19 1002
check "both have other queue pairs once more" soon logged 2 '"epoch": *1002'
check "no source of before is left" [ "$(sources)" = "[[18,0],[19,1]]" ]
check "this reporter is detached" dartctl xdp detach port1
ip link delete port.0
finish
