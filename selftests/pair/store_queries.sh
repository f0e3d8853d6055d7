#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Local and remote queries of a store agree, and remote queries do not make the agent run.
. "$(dirname "$0")/../lib.sh"

# key FLOW...: sets $key, the words of a flow's key, and $expected, the output for it
key() {
	{
		read -ra key
		read -r expected
	} < <(flow "$@")
}

# says STATUS OUTCOME STORE [ARGUMENT...]: both kinds of query for $key agree on it
says() {
	local status=$1 outcome=$2 store=$3 here there

	shift 3
	there=$(on host dartctl -j query "$store" int-path "${key[@]}" "$@")
	[ $? = "$status" ] || return
	here=$(dartctl -j query "$store" int-path "${key[@]}" "$@" --from host)
	[ $? = "$status" ] || return
	gojq -se --arg outcome "$outcome" '.[0].outcome == $outcome and
		(.[0].value != null) == ($outcome == "found") and
		.[0].collector == null and .[1].collector == "host" and
		(.[0] | del(.collector)) == (.[1] | del(.collector))' \
		<<<"$there $here"
}

# report STORE FLOW...
report() {
	on host dartctl store export "$1" >/run/collectors.json
	dart-report --interface eth0 --collectors /run/collectors.json \
		--flows "$2" --count "$3" --seed "$4" --copies all
}

# ask: queries all flows by the reader that is connected
ask() {
	echo >&"${reader[1]}"
	read -r answers <&"${reader[0]}"
}

# switches: context switches of the agent
# shellcheck disable=SC2016 # for the shell of the host
switches() {
	on host sh -c 'awk "/ctxt_switches/ { sum += \$2 } END { print sum }" \
		"/proc/$(pidof dartd)/status"'
}

flows=(fat-tree 600 1)		# more than one batch of READs
few=(fat-tree 400 1)
rdma_up
address=$(ip -json address show dev eth0 |
	gojq -r '.[0].addr_info[] | select(.family == "inet").local')
# The hostile agent runs here and host connects to it. The last answer takes long: see
# the end.
until_ready /run/hostile.log hostile_agent store-version store-slots \
	store-value store-redundancy store-base store-rkey noise silence \
	reject mute || exit 1
on host rdma_up
refuse "a query from a host without an agent is refused" "no agent listens" \
	dartctl query paths mirror --query 1 --from host
while IFS='|' read -r answer message; do
	refuse "a query is refused if the peer answers with $answer" "$message" \
		on host dartctl query paths mirror --query 1 --from main
done <<END
another version|version 2 of the protocol
2^64 slots|a store that cannot be
values of 65 bytes|a store that cannot be
2^32 - 1 copies|a store that cannot be
a store beyond all memory|a store that cannot be
a wrong rkey|remote access error
noise|without the magic
an empty handshake|without the magic
a rejected connection|no such store
END
on host dartctl query paths mirror --query 1 --from main \
	2>/run/mute >&2 &
mute=$!

check "the agent starts" on host host_up --config "$tests/readers.yaml"
check "a store is created that is large enough for its keys" \
	on host dartctl store create paths --slots 2^20 --value 20
check "a store is created that is so small that keys collide" on host dartctl store \
	create small --slots 2^8 --value 24 --redundancy 4 --checksum 8
for store in paths small; do
	on host dartctl reporter add $store "$address" >/dev/null
done
check "400 flows are reported to the small store" report small "${few[@]}"
check "600 flows are reported to the large store" report paths "${flows[@]}"

# ---- one key

key "${flows[@]}" 599
# Reports may still be under way.
timeout 120 sh -c 'until dartctl query paths int-path "$@"; do :; done' sh \
	"${key[@]}" --from host --policy consensus=2 >/dev/null 2>&1
check "a query from another machine prints the path of a flow" \
	[ "$(dartctl query paths int-path "${key[@]}" --from host:4792)" = "$expected" ]
check "a local query prints the path of a flow" \
	[ "$(on host dartctl query paths int-path "${key[@]}")" = "$expected" ]
check "local and remote query agree on a path that both copies have" \
	says 0 found paths --policy consensus=2
key=(--src 10.0.0.1 --dst 10.0.0.2 --sport 1 --dport 2 --proto tcp)
check "local and remote query agree that a key was not reported" says 3 empty paths
refuse "a query for a key that was not reported says that no slot has it" \
	"none of the 2 slots" dartctl query paths int-path "${key[@]}" --from host

# ---- all keys, while the agent sleeps

coproc reader { flow_reader host paths "${flows[@]}" 2>/run/reader; }
ask
check "a remote reader finds every flow: $answers" \
	is_true '.found == 600 and .wrong == 0' <<<"$answers"
before=$(switches)
for _ in 1 2 3; do
	ask
done
check "1800 remote queries cause no context switch of the agent: $answers" \
	[ "$(switches)" = "$before" ]

answers=$(echo | flow_reader host small "${few[@]}")
check "a store that is too small answers some queries with nothing or several values: $answers" \
	is_true '.empty > 0 and .ambiguous > 0' <<<"$answers"
key "${few[@]}" "$(gojq .first_ambiguous <<<"$answers")"
check "local and remote query agree that a key has several values" \
	says 4 ambiguous small
refuse "a query for a key with several values says so" "have different values" \
	dartctl query small int-path "${key[@]}" --from host
check "local and remote query find no value that four copies agree on" \
	says 3 empty small --policy consensus=4

# ---- paths that are gathered from postcards

# gathered CONDITION: it is true of the paths of 1000 flows; $answers becomes these counts
gathered() {
	answers=$(path_postcards check host gathered 1000) && is_true "$1" <<<"$answers"
}

on host dartctl store create gathered --slots 2^16 --value 20
on host dartctl reporter add gathered "$address" >/dev/null
on host dartctl store export gathered >/run/gathered.json
path_postcards write /run/postcards.pcap 5001 1000
check "postcards of 1000 flows, some of them lost and all in another order, are gathered in 512 rows" \
	sh -c "dart-report --json --interface eth0 --collectors /run/gathered.json \
		--pcap /run/postcards.pcap --postcards 5001 --rows 2^9 --age 50ms >/run/gathered.counts &&
		gojq -e '.malformed == 0 and .others == 0 and .paths.evicted > 0 and .paths.aged > 0 and
			.paths.complete > 0 and .paths.changed + .paths.refused == 0' /run/gathered.counts"
# Reports of others overwrite the only slot of a few flows.
check "most flows have a complete path, nearly all others a part, and none a hop of another flow" \
	soon gathered '.complete > 800 and .complete + .partial > 990 and .wrong + .ambiguous == 0'
echo "# $answers"
complete=$(gojq .first_complete <<<"$answers")
key uniform 1000 0 "$complete"
check "local and remote query agree on a merged path" says 0 found gathered --policy merge
first=$((1 + 5 * complete))
check "it is printed in the order of the hops" [ "$(dartctl query gathered hops "${key[@]}" \
	--from host --policy merge)" = "values: $(seq -s ' ' $first $((first + 4)))" ]
check "other paths of 100 flows are reported" dart-report --interface eth0 \
	--collectors /run/gathered.json --flows uniform --count 100
check "their slots contradict each other" soon gathered '.ambiguous > 0'
key uniform 1000 0 "$(gojq .first_ambiguous <<<"$answers")"
check "local and remote query agree that there is no path" \
	says 4 ambiguous gathered --policy merge
refuse "a query says why there is no path" "contradict each other at a hop" \
	dartctl query gathered int-path "${key[@]}" --from host --policy merge

# by_kernel CONDITION: it is true of the paths of the translator in the kernel
by_kernel() {
	answers=$(path_postcards check host kernel 1000) && is_true "$1" <<<"$answers"
}

on host dartctl store create kernel --slots 2^16 --value 20
on host dartctl reporter add kernel "$address" >/dev/null
on host dartctl store export kernel >/run/kernel.json
check "the kernel gathers postcards in 512 rows" sh -c "
	dartctl xdp attach eth0 --collectors /run/kernel.json --postcards 5001 --rows 2^9 --age 50ms |
		grep -q '^eth0 reports paths of postcards as $address to 1 collector, '"
check "postcards of 1000 flows arrive here" on host path_postcards send eth0 5001 1000 2500
# A virtual network drops some frames on a busy machine.
taken() {
	dartctl -j xdp status eth0 | is_true '.[0] | .gathered > .reports and
		.gathered + .reports > 8000 and .cramped + .unassigned + .malformed == 0'
}
check "they wait in rows or become reports" soon taken
check "the translator is detached, and reports the paths that wait" dartctl xdp detach eth0
check "most flows have a complete path, nearly all others a part, and none a hop of another flow" \
	soon by_kernel '.complete > 600 and .complete + .partial > 950 and .wrong + .ambiguous == 0'
echo "# $answers"

# ---- invalid queries

mkdir -p /etc/dart/schemas
printf 'key: [{name: a, type: u9}]\n' >/etc/dart/schemas/mine.yaml
while IFS='|' read -r message arguments; do
	# shellcheck disable=SC2086 # words
	refuse "'query $arguments' is refused: $message" "$message" \
		dartctl query $arguments
done <<END
needs the name of a store|
one of: mine anomaly balancer failure firewall firewall6 flow-count gateway gateway6 hops int-path mirror nat nat6 path-event postcard trace|paths
no schema 'absent' (there are: mine anomaly|paths absent
mine.yaml:1: 'u9' is not a type|paths mine
'/proc/absent': No such file|paths /proc/absent
/proc: cannot read it: Is a directory|paths /proc
is missing: a key of 'failure' is --failure u32 --location u32|paths failure
'mirror' has no option '--id'|paths mirror --id 1
'--query' needs an argument|paths mirror --query
--query 'x': expected a number|paths mirror --query x
not 'more' as well|paths mirror --query 1 more
'best' is not a policy|paths mirror --query 1 --policy best
'consensus=9' is not a policy|paths mirror --query 1 --policy consensus=9
a consensus of 3 is impossible|paths mirror --query 1 --policy consensus=3 --from host
'host:0' is not HOST|paths mirror --query 1 --from host:0
cannot resolve 'absent'|paths mirror --query 1 --from absent
there is no store 'absent'|absent mirror --query 1 --from host
is not a name of a store|$(printf 'n%.0s' $(seq 40)) mirror --query 1 --from host
is dartd running|paths mirror --query 1
END
check "a query exits with 2 for wrong usage and with 1 for a failure" sh -c '
	dartctl query paths mirror
	[ $? = 2 ] && { dartctl query paths mirror --query 1; [ $? = 1 ]; }'
printf '%s\n' 'key: [{name: class, type: u8}]' \
	'value: [{name: all, type: bytes, count: 24}]' \
	>/etc/dart/schemas/mine.yaml
refuse "a query is refused if the values of the schema do not fit the store" \
	"have 24 bytes.* 20" dartctl query paths mine --class 1 --from host
refuse "a query is answered if the values of the schema fit the store" \
	"none of the 4" dartctl query small mine --class 1 --from host

# ---- ends

check "a store can be deleted while a remote reader is connected" \
	on host dartctl store delete paths
ask
check "a reader of a deleted store is disconnected" grep "disconnected" /run/reader
refuse "a query of a deleted store is refused" "there is no store" \
	dartctl query paths mirror --query 1 --from host
coproc reader { flow_reader host small "${few[@]}" 2>/run/reader; }
ask
on host tc qdisc add dev eth0 clsact
on host tc filter add dev eth0 ingress protocol ip flower ip_proto udp \
	dst_port 4791 action drop
ask
check "a reader reports a host that no longer answers" \
	grep "no longer answers" /run/reader
on host tc qdisc del dev eth0 clsact
coproc reader { flow_reader host small "${few[@]}" 2>/run/reader; }
ask
on host host_down KILL
ask
check "a reader reports that the agent was killed" grep "disconnected" /run/reader
check "a query gives up on a peer that never answers" \
	sh -c "tail --pid $mute -f /dev/null; grep 'does not answer' /run/mute"
finish
