#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Shares of a store move between two collectors while a reporter goes on: each key that was reported
# is found, at present and in the past, also after a collector has retired.  DART_MOVES: how often.
. "$(dirname "$0")/../lib.sh"

moves=${DART_MOVES:-8}
flows=$((moves * 75 / 2))	# enough to go on until the last move
rate=60
slots=$((1 << (moves > 8 ? 20 : 16)))	# enough for all flows to be found
a=10.78.0.2
b=10.78.0.3
shares=/run/shares.json
log=/run/second.log

# second COMMAND...: dartctl of the second dartd
second() {
	dartctl --socket /run/second.sock "$@"
}

# configure NAME DEVICE ADDRESS
configure() {
	printf '%s\n' "device: $2" "listen: [$3]" \
		"allow: {readers: [10.78.0.0/24], callers: [10.78.0.0/24]}" >"/run/$1.yaml"
}

start_second() {
	until_ready "$log" dartd --config /run/second.yaml --socket /run/second.sock \
		--state /run/second && other=$(pgrep -nx dartd)
}

# found ADDRESS: flows that the store of the collector has, by READ
found() {
	echo | flow_reader "$1" paths uniform "$flows" 0 | gojq .found
}

# ask INDEX [OPTION...]: for this flow, by the file of shares
ask() {
	local key

	read -r key < <(flow uniform $flows 0 "$1")
	# shellcheck disable=SC2086 # words
	dartctl -j query paths int-path $key --shares $shares "${@:2}"
}

# each_is_found [OPTION...]: some of the flows, in at least one epoch, by one collector of both
each_is_found() {
	local i

	for i in 0 99 198 $((flows - 1)); do
		ask "$i" "$@" | is_true 'if type == "array" then
			map(select(.outcome == "found")) | length == 1
			else .outcome == "found" end' || return
	done
}

# owner INDEX: the collector that has the flow's share now
owner() {
	ask "$1" | gojq -r .collector
}

# lose_first_question: the reporter does not see the next ARP request
lose_first_question() {
	ip netns exec reporter nft -f - <<-END
		flush ruleset
		table arp lost {
			counter lost {
			}
			chain input {
				type filter hook input priority 0;
				quota until 28 bytes counter name lost drop
			}
		}
	END
}

# question_was_lost
question_was_lost() {
	ip netns exec reporter nft -j list counter arp lost lost |
		is_true '.nftables | any(.counter.packets == 1)'
}

command -v nft >/dev/null || skip "nft is not installed (Debian package nftables)"
rdma_up
ip netns add reporter
ip -n reporter link add bridge0 type bridge
ip -n reporter address add 10.78.0.1/24 dev bridge0
ip -n reporter link set bridge0 up
for number in 1 2; do
	ip link add port$number type veth peer name way$number netns reporter
	ip -n reporter link set way$number master bridge0 up
	ip address add 10.78.0.$((number + 1))/24 dev port$number
	ip link set port$number up
done
rdma link add rxe1 type rxe netdev port1
rdma link add rxe2 type rxe netdev port2
configure first rxe1 $a
configure second rxe2 $b

check "a collector starts" host_up --config /run/first.yaml
check "another collector starts" start_second
for command in dartctl second; do
	check "$command: a store with epochs is created" $command store create paths \
		--slots $slots --value 20 --epoch 1440min --schema int-path
	# The reporter is reached from both, and the way of the second one is needed here only.
	[ $command = dartctl ] || ip route add 10.78.0.1/32 dev port2 src $b
	lose_first_question
	check "$command: it takes reports" $command reporter add paths 10.78.0.1
	check "$command: it asked for the reporter more than once" question_was_lost
	$command store export paths >/run/$command.json
done
ip route delete 10.78.0.1/32 dev port2

check "the shares are divided among both" dartctl share create $shares \
	--collectors /run/dartctl.json --collectors /run/second.json
check "each has half of them" is_true '
	.store == "paths" and (.collectors | map([.collector, .count, .shares]) ==
	[["10.78.0.2", 512, "0-511"], ["10.78.0.3", 512, "512-1023"]])' \
	<<<"$(dartctl -j share show $shares)"
refuse "a file that exists is not created" "is there already" dartctl share create $shares \
	--collectors /run/dartctl.json
for case in "1024 --to $b|not a list of shares" "5 --to 10.78.0|needs the address" \
	"5|needs FILE, SHARES"; do
	# shellcheck disable=SC2086 # words
	refuse "'share move ${case%|*}' is refused" "${case#*|}" \
		dartctl share move $shares ${case%|*}
done
refuse "a file of collectors is no file of shares" "not a file of shares" \
	dartctl share move /run/dartctl.json 5 --to $b
refuse "a collector without shares cannot retire" "has none" dartctl share retire $shares 10.78.0.9

since=@$(date +%s)
ip netns exec reporter dart-report --json --interface bridge0 \
	--collectors /run/dartctl.json --collectors /run/second.json --collectors $shares \
	--follow --flows uniform --count $flows --copies all --rate $rate >/run/report.json &
reporter=$!
move_all() {
	local i

	for ((i = 0; i < moves; i++)); do
		dartctl share move "$shares" "$((i % 2 * 500))-$((i % 2 * 500 + 101))" \
			--to "$([ $((i / 2 % 2)) = 0 ] && echo "$b" || echo "$a")" >/dev/null || return
	done
}
check "a tenth of the shares moves $moves times meanwhile" move_all
check "the reporter goes on" kill -0 $reporter
check "it reports all flows" wait $reporter
check "none of them is without a collector" is_true \
	".packets == $flows and (.unassigned // 0) == 0" </run/report.json
all_found() {
	[ $(($(found "$a") + $(found "$b"))) = "$flows" ]
}
check "each flow is in the store of one of them" soon all_found
check "a query finds it by the file of shares" each_is_found
check "a share knows its collectors" is_true '.owners | length > 1 and (.[0] | has("until") | not)' \
	<<<"$(dartctl -j share show $shares 50)"
check "a query of a time finds it, too" each_is_found --since "$since"
refuse "--from and --shares are not given together" "--shares names all" ask 0 --from $a

for index in $(seq 0 20); do
	[ "$(owner "$index")" != $b ] || break
done
check "a collector retires" dartctl share retire $shares $b
check "the other one has all shares" is_true '.collectors | map(.count) == [1024]' \
	<<<"$(dartctl -j share show $shares)"
check "the flows that it has are found there" each_is_found
refuse "the last collector cannot retire" "no other collector" dartctl share retire $shares $a

dartctl store rotate paths >/dev/null
second store rotate paths >/dev/null
in_files() {
	dartctl -j store list | is_true '.[0].epochs.written == 1' &&
		second -j store list | is_true '.[0].epochs.written == 1'
}
check "both end their epochs" soon in_files
check "the flows are found in the past" each_is_found --since "$since"

# Its epochs are of no use to anybody then.
kill -9 "$other"
wait "$other" 2>/dev/null
ask "$index" --since "$since" >/run/answer 2>/run/why
check "what only a dead collector had is missing, not empty" is_true \
	'any(.[]; .outcome == "missing" and .collector == "10.78.0.3") and
	all(.[]; .outcome != "found")' </run/answer
check "with the reason" grep -q "cannot read the epochs of store 'paths' of 10.78.0.3" /run/why
check "the collector stops" host_down
finish
