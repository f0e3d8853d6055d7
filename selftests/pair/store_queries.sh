#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A store of "host" is asked there and from here, with the same answers; the
# agent does not run for those from here.
. "$(dirname "$0")/../lib.sh"

# key FLOW...: of a flow, as words; $expected is what is to be printed.
key() {
	{
		read -ra key
		read -r expected
	} < <(flow "$@")
}

# says STATUS OUTCOME STORE [ARGUMENT...]: what both say about $key.
says() {
	local status=$1 outcome=$2 store=$3 here there

	shift 3
	there=$(on host dartctl -j query "$store" int-path "${key[@]}" "$@")
	[ $? = "$status" ] || return
	here=$(dartctl -j query "$store" int-path "${key[@]}" "$@" --from host)
	[ $? = "$status" ] || return
	jq -se --arg outcome "$outcome" '.[0].outcome == $outcome and
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

# ask: all flows once more, by the reader that is connected.
ask() {
	echo >&"${reader[1]}"
	read -r answers <&"${reader[0]}"
}

# switches: context switches of the agent.
# shellcheck disable=SC2016 # for the shell there
switches() {
	on host sh -c 'awk "/ctxt_switches/ { sum += \$2 } END { print sum }" \
		"/proc/$(pidof dartd)/status"'
}

flows=(fat-tree 600 1)		# more than are asked for at once
few=(fat-tree 400 1)
rdma_up
address=$(ip -json address show dev eth0 |
	jq -r '.[0].addr_info[] | select(.family == "inet").local')
# Lies are told here, to host. The last one takes a while: see below.
until_ready /run/hostile.log hostile_agent store-version store-slots \
	store-value store-redundancy store-base store-rkey noise silence \
	reject mute || exit 1
on host rdma_up
refuse "nobody listens there" "nobody listens" \
	dartctl query paths mirror --query 1 --from host
while IFS='|' read -r lie message; do
	refuse "$lie is refused" "$message" \
		on host dartctl query paths mirror --query 1 --from main
done <<END
another version|version 2 of the protocol
2^64 slots|a store that cannot be
values of 65 bytes|a store that cannot be
a great redundancy|a store that cannot be
a store beyond all memory|a store that cannot be
another rkey|remote access error
noise|without the magic
silence|without the magic
no connection|no such store
END
on host dartctl query paths mirror --query 1 --from main \
	2>/run/mute >&2 &
mute=$!

check "the agent starts" on host host_up
check "a store" on host dartctl store create paths --slots 2^20 --value 20
check "one whose keys meet" on host dartctl store create small --slots 2^8 \
	--value 24 --redundancy 4 --checksum 8
for store in paths small; do
	on host dartctl reporter add $store "$address" >/dev/null
done
check "flows are reported to it" report small "${few[@]}"
check "and to the other" report paths "${flows[@]}"

# ---- one key

key "${flows[@]}" 599
# Reports are on their way for a moment.
timeout 30 sh -c 'until dartctl query paths int-path "$@"; do :; done' sh \
	"${key[@]}" --from host --policy consensus=2 >/dev/null 2>&1
check "a path is found" [ "$(dartctl query paths int-path "${key[@]}" \
	--from host:4792)" = "$expected" ]
check "and there" [ "$(on host dartctl query paths int-path "${key[@]}")" = \
	"$expected" ]
check "both say the same" says 0 found paths --policy consensus=2
key=(--src 10.0.0.1 --dst 10.0.0.2 --sport 1 --dport 2 --proto tcp)
check "nobody has reported this key" says 3 empty paths
refuse "which is said" "none of the 2 slots" \
	dartctl query paths int-path "${key[@]}" --from host

# ---- all keys, and what the agent does meanwhile

coproc reader { flow_reader host paths "${flows[@]}" 2>/run/reader; }
ask
check "each flow is found: $answers" \
	is_true '.found == 600 and .wrong == 0' <<<"$answers"
before=$(switches)
for _ in 1 2 3; do
	ask
done
check "the agent has not run: $answers" [ "$(switches)" = "$before" ]

answers=$(echo | flow_reader host small "${few[@]}")
check "in the small store, not each: $answers" \
	is_true '.empty > 0 and .ambiguous > 0' <<<"$answers"
key "${few[@]}" "$(jq .first_ambiguous <<<"$answers")"
check "some have several values" says 4 ambiguous small
refuse "which is said" "have different values" \
	dartctl query small int-path "${key[@]}" --from host
check "that no consensus is about" says 3 empty small --policy consensus=4

# ---- what cannot be asked

mkdir -p /etc/dart/schemas
printf 'key: [{name: a, type: u9}]\n' >/etc/dart/schemas/mine.yaml
while IFS='|' read -r message arguments; do
	# shellcheck disable=SC2086 # words
	refuse "query $arguments" "$message" dartctl query $arguments
done <<END
needs the name of a store|
one of: mine anomaly failure int-path mirror postcard trace|paths
no schema 'absent' (there are: mine anomaly|paths absent
mine.yaml:1: 'u9' is no type|paths mine
/proc/absent: No such file|paths /proc/absent
/proc:1: not YAML|paths /proc
is missing: a key of 'failure' is --failure u32 --location u32|paths failure
'mirror' has no option '--id'|paths mirror --id 1
'--query' needs an argument|paths mirror --query
--query 'x': expected a number|paths mirror --query x
not 'more' as well|paths mirror --query 1 more
'best' is no policy|paths mirror --query 1 --policy best
'consensus=9' is no policy|paths mirror --query 1 --policy consensus=9
a consensus of 3 there cannot be|paths mirror --query 1 --policy consensus=3 --from host
'host:0' is no host|paths mirror --query 1 --from host:0
cannot look up absent|paths mirror --query 1 --from absent
no such store|absent mirror --query 1 --from host
is no name of a store|$(printf 'n%.0s' $(seq 40)) mirror --query 1 --from host
is dartd running|paths mirror --query 1
END
check "misuse is told from failure" sh -c 'dartctl query paths mirror
	[ $? = 2 ] && { dartctl query paths mirror --query 1; [ $? = 1 ]; }'
printf '%s\n' 'key: [{name: class, type: u8}]' \
	'value: [{name: all, type: bytes, count: 24}]' \
	>/etc/dart/schemas/mine.yaml
refuse "a store whose values are too short" "have 24 bytes.* 20" \
	dartctl query paths mine --class 1 --from host
refuse "is told from one where they fit" "none of the 4" \
	dartctl query small mine --class 1 --from host

# ---- ends

check "the store is deleted" on host dartctl store delete paths
ask
check "which its reader is told" grep "hung up" /run/reader
refuse "nobody has it any more" "no such store" \
	dartctl query paths mirror --query 1 --from host
coproc reader { flow_reader host small "${few[@]}" 2>/run/reader; }
ask
on host tc qdisc add dev eth0 clsact
on host tc filter add dev eth0 ingress protocol ip flower ip_proto udp \
	dst_port 4791 action drop
ask
check "a host that has vanished is noticed" \
	grep "no longer answers" /run/reader
on host tc qdisc del dev eth0 clsact
coproc reader { flow_reader host small "${few[@]}" 2>/run/reader; }
ask
on host host_down KILL
ask
check "the death of the agent is noticed" grep "hung up" /run/reader
check "who says nothing is waited for, but not for ever" \
	sh -c "tail --pid $mute -f /dev/null; grep 'does not answer' /run/mute"
finish
