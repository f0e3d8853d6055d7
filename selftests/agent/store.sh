#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Stores come and go as they are told to, and what cannot be is refused whole.
. "$(dirname "$0")/../lib.sh"

# show NAME: a store as JSON, with what was found in it
show() {
	dartctl -j store show "$1" | jq .store
}

# has STORE FILTER
has() {
	show "$1" | is_true "$2"
}

available() {
	awk '/^MemAvailable/ { print $2 }' /proc/meminfo
}

objects() {
	rdma resource show | sed 's/ctx.*//'
}

# shellcheck disable=SC2016 # $mac is of jq
entry_holds() {
	dartctl store export paths |
		is_true --arg mac "$(cat /sys/class/net/eth0/address)" '
			.collectors | length == 1 and (.[0] |
			.reporter == "10.77.0.2" and .ip == "10.77.0.1" and
			.mac == $mac and .slots_log2 == 20)'
}

queue_pair_is() {
	rdma resource show qp lqpn \
		"$(dartctl -j reporter list | jq '.reporters[0].qpn')" |
		grep "$1"
}

come_and_go() {
	for _ in $(seq 10); do
		dartctl store create large --slots 2^20 --value 28 &&
			dartctl store delete large || return
	done
}

unprivileged() {
	setpriv --reuid 65534 --clear-groups "$@"
}

# A static neighbour: nobody else is here.
reach() {
	ip neighbour replace "$1" lladdr 02:00:00:00:00:01 dev eth0
}

check "the agent starts" host_up
ip address show dev eth0 | grep -q 10.77.0.1 ||
	ip address add 10.77.0.1/24 dev eth0
before=$(objects)

check "a store is created" \
	dartctl store create paths --slots 2^20 --value 20
check "it has the defaults" has paths \
	'.redundancy == 2 and .checksum_bits == 32 and .bytes == 24 * 1048576'
check "and is empty" has paths '
	.written == 0 and .load == 0 and .oldest == 1 and .average == 1'
check "it is listed" sh -c 'dartctl store list | grep -q "^paths .* 25165824"'
check "another one, of one slot" dartctl store create one --slots 1 \
	--value 64 --redundancy 8 --checksum 64
refuse "a name that is taken" "already" \
	dartctl store create paths --slots 2^4 --value 4

while IFS='|' read -r arguments message; do
	# shellcheck disable=SC2086 # words
	refuse "create $arguments" "$message" dartctl store create $arguments
done <<END
bad name --slots 2^4 --value 20|one name
bad\$ --slots 2^4 --value 20|letters, digits
$(printf 'n%.0s' $(seq 40)) --slots 2^4 --value 20|at most 39
bad --slots 2^4|needs --slots and --value
bad --slots 1000 --value 20|power of two
bad --slots 2^33 --value 20|2^0 to 2^32
bad --slots 2^4 --value 3|4 to 64
bad --slots 2^4 --value 65|4 to 64
bad --slots 2^4 --value 20 --redundancy 9|1 to 8
bad --slots 2^4 --value 20 --checksum 24|8, 16, 32 or 64
bad --slots 2^32 --value 64|are to be had
bad --slots 2^4 --value 20 --file /proc/version|tmpfs or hugetlbfs
bad --slots 2^4 --value 20 --file /absent/file|No such file
bad --slots 2^4 --value 20 --size 3|no option '--size'
END

# program: what is looked for in one that p4c has compiled
program() {
	jq -n '
	def table($name; $size; $key; $action): {$name, max_size: $size,
		key: $key | map({match_type: .}), actions: [$action]};
	def action($name; $bits): {$name, runtime_data: $bits |
		map({bitwidth: .}), primitives: []};
	def hash($field): {op: "modify_field_with_hash_based_offset",
		parameters: [{type: "field", value: ["scalars", $field]},
			{}, {type: "calculation", value: "of_\($field)"}]};
	["slot0", "slot1", "checksum0", "share"] as $fields | {
		pipelines: [{tables: [
			table("dart_share"; 1024; ["exact"]; "dart_assign"),
			table("dart_collector"; 64; ["exact"]; "dart_send_to"),
			table("dart_reporter"; 1; []; "dart_report_from")]}],
		register_arrays: [{name: "dart_psn", size: 64}],
		actions: [action("dart_assign"; [8, 16]),
			action("dart_send_to"; [48, 32, 24, 32, 64, 32, 8]),
			action("dart_report_from"; [48, 32, 8, 8]),
			{name: "hashes", primitives: $fields | map(hash(.))}],
		calculations: $fields |
			map({name: "of_\(.)", algo: "crc32_custom"})}'
}

# ---- files

mkdir -p /run/small
mount -t tmpfs -o size=1m tmpfs /run/small
check "a store in a file" dartctl store create kept --slots 2^8 --value 28 \
	--file /run/small/kept
check "that has its size" [ "$(stat -c %s /run/small/kept)" = 8192 ]
refuse "a file for which the file system is too small" "of the file system" \
	dartctl store create big --slots 2^20 --value 28 --file /run/small/big
check "is not made" [ ! -e /run/small/big ]
head -c 100 /dev/zero >/run/small/other
refuse "a file of another size" "has 100 bytes" dartctl store create other \
	--slots 2^8 --value 28 --file /run/small/other
check "stays" [ "$(stat -c %s /run/small/other)" = 100 ]
refuse "one file is one store" "in use" dartctl store create twice \
	--slots 2^8 --value 28 --file /run/small/kept
check "the store in the file is deleted" dartctl store delete kept
head -c 8192 /dev/urandom >/run/small/kept
sum=$(md5sum </run/small/kept)
check "it is created again" dartctl store create kept --slots 2^8 --value 28 \
	--file /run/small/kept
check "with what was in it" [ "$(md5sum </run/small/kept)" = "$sum" ]
check "which is seen" has kept '
	.written == 1 and .load == null and .oldest == 0 and .average == 0'

# ---- huge pages

if [ -e /proc/sys/vm/nr_hugepages ]; then
	echo 16 >/proc/sys/vm/nr_hugepages
	check "huge pages are taken where they are" sh -c '
		dartctl -j store create huge --slots 2^20 --value 28 |
			is_true .store.huge_pages'
	check "all of them" grep -q "^HugePages_Free: *0$" /proc/meminfo
	mkdir -p /run/huge
	mount -t hugetlbfs hugetlbfs /run/huge
	refuse "and not of those that are taken" "not free" \
		dartctl store create more --slots 2^17 --value 28 \
		--file /run/huge/more
	check "and given back" dartctl store delete huge
	check "all of them" grep -q "^HugePages_Free: *16$" /proc/meminfo
	echo 0 >/proc/sys/vm/nr_hugepages
fi

# ---- reporters

reach 10.77.0.2
check "a reporter is added" dartctl reporter add paths 10.77.0.2
refuse "once" "already" dartctl reporter add paths 10.77.0.2
while IFS='|' read -r address message; do
	refuse "reporter $address" "$message" \
		dartctl reporter add paths "$address"
done <<END
fe80::1|IPv6
10.77.0|not an IPv4 address
224.0.0.1|not the address of a host
255.255.255.255|not the address of a host
127.0.0.1|no address of RDMA device
192.0.2.1|no way to
10.77.0.99|does not answer ARP
END
refuse "a store that is not there" "no store" \
	dartctl reporter add absent 10.77.0.2
check "it is listed" sh -c 'dartctl reporter list paths | grep -q 10.77.0.2'
check "its entry says where to send" entry_holds
check "it is a UC queue pair" queue_pair_is "type UC state RTR"
refuse "commands for BMv2 without a program" "needs --program" \
	dartctl store export paths --target bmv2
refuse "a program without ports of a switch" "no port is known of collector" \
	dartctl store export paths --target bmv2 --program /dev/null
refuse "what is no program" "cannot read /dev/null" \
	dartctl store export paths --target bmv2 --program /dev/null --port 3
refuse "ports of what is no switch" "has no program, ports" \
	dartctl store export paths --port 3
program >/run/program.json
check "they are those that a push of the export prints" sh -c '
	dartctl store export paths --target bmv2 --program /run/program.json \
		--port 3 >/run/exported &&
	dartctl store export paths | dartctl switch push --target bmv2 \
		--program /run/program.json --port 3 - >/run/pushed &&
	grep -q "^table_add dart_collector dart_send_to 0 =>" /run/pushed &&
	cmp /run/exported /run/pushed'
refuse "no such target" "no target" dartctl store export paths --target p5
refuse "nobody reports to this store" "no reporters" dartctl store export one
check "it is removed" dartctl reporter remove paths 10.77.0.2
refuse "once" "no reporter" dartctl reporter remove paths 10.77.0.2

# ---- others than root

# They cannot look for it where this tree is.
install -m 755 "$(command -v store_descriptor)" /run/store_descriptor
chmod 666 /run/dart/dartd.sock
refuse "only root creates" "only root" \
	unprivileged dartctl store create own --slots 2^4 --value 4
refuse "and exports" "only root" unprivileged dartctl store export paths
check "others may look" unprivileged dartctl store show paths
for store in paths kept; do
	check "$store: and nothing else" \
		unprivileged /run/store_descriptor $store
done
check "not even root, but for a file" store_descriptor paths

# ---- what is left

for store in paths one kept; do
	check "$store is deleted" dartctl store delete $store
done
refuse "it is gone" "no store" dartctl store show paths
check "nothing of RDMA is left" [ "$(objects)" = "$before" ]
at_first=$(available)
check "ten large stores come and go" come_and_go
check "with their memory" [ "$(available)" -gt $((at_first - 32768)) ]
check "a store at the end of the agent" \
	dartctl store create last --slots 2^10 --value 20
check "the agent ends" host_down
finish
