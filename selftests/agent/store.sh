#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Stores and their reporters are made, shown and deleted; invalid requests change nothing.
. "$(dirname "$0")/../lib.sh"

# show NAME: a store as JSON, with its contents in figures
show() {
	dartctl -j store show "$1"
}

# has STORE FILTER
has() {
	show "$1" | is_true "$2"
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
		"$(dartctl -j reporter list | gojq '.[0].qpn')" |
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

check "the agent starts" host_up
ip address show dev eth0 | grep -q 10.77.0.1 ||
	ip address add 10.77.0.1/24 dev eth0
before=$(objects)

check "a store of 2^20 slots can be created" \
	dartctl store create paths --slots 2^20 --value 20
check "a store has two copies and checksums of 32 bits by default" has paths \
	'.redundancy == 2 and .checksum_bits == 32 and .bytes == 24 * 1048576'
check "a new store is shown as empty" has paths '
	.written == 0 and .load == 0 and .oldest == 1 and .average == 1'
check "a store is listed with its bytes" \
	sh -c 'dartctl store list | grep -q "^paths .* 25165824"'
check "a store of one slot can be created" dartctl store create one --slots 1 \
	--value 64 --redundancy 8 --checksum 64
refuse "a store under a name that is taken is refused" "already" \
	dartctl store create paths --slots 2^4 --value 4

while IFS='|' read -r arguments message; do
	# shellcheck disable=SC2086 # words
	refuse "'store create $arguments' is refused: $message" "$message" \
		dartctl store create $arguments
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
bad --slots 2^32 --value 64|are available
bad --slots 2^4 --value 20 --file /proc/version|tmpfs or hugetlbfs
bad --slots 2^4 --value 20 --file /absent/file|No such file
bad --slots 2^4 --value 20 --size 3|no option '--size'
END

# program: the parts of a program compiled by p4c that dartctl looks for
program() {
	gojq -n '
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
			table("dart_reporter"; 1; []; "dart_report_from"),
			table("dart_connection"; 64; ["exact"]; "dart_reliable"),
			table("dart_answer"; 64; ["exact"]; "dart_answer_of")]}],
		register_arrays: ["psn", "state", "expected", "lost", "stops"] |
			map({name: "dart_\(.)", size: 64}),
		actions: [action("dart_assign"; [8, 16]),
			action("dart_send_to"; [48, 32, 24, 32, 64, 32, 8]),
			action("dart_report_from"; [48, 32, 8, 8]),
			action("dart_reliable"; [24]), action("dart_answer_of"; [8, 16]),
			{name: "hashes", primitives: $fields | map(hash(.))}],
		calculations: $fields |
			map({name: "of_\(.)", algo: "crc32_custom"})}'
}

# ---- files

mkdir -p /run/small
mount -t tmpfs -o size=1m tmpfs /run/small
check "a store can be created in a file" dartctl store create kept --slots 2^8 \
	--value 28 --file /run/small/kept
check "the file of a store has the size of the store" \
	[ "$(stat -c %s /run/small/kept)" = 8192 ]
refuse "a store larger than the file system of its file is refused" \
	"of the file system" \
	dartctl store create big --slots 2^20 --value 28 --file /run/small/big
check "the file of a refused store is not made" [ ! -e /run/small/big ]
head -c 100 /dev/zero >/run/small/other
refuse "an existing file of another size than the store is refused" "has 100 bytes" \
	dartctl store create other --slots 2^8 --value 28 --file /run/small/other
check "a refused file keeps its size" [ "$(stat -c %s /run/small/other)" = 100 ]
refuse "a second store in the same file is refused" "in use" \
	dartctl store create twice --slots 2^8 --value 28 --file /run/small/kept
check "a store in a file can be deleted" dartctl store delete kept
head -c 8192 /dev/urandom >/run/small/kept
sum=$(md5sum </run/small/kept)
check "a store can be created in an existing file of its size" dartctl store create \
	kept --slots 2^8 --value 28 --file /run/small/kept
check "a store in an existing file keeps the file's contents" \
	[ "$(md5sum </run/small/kept)" = "$sum" ]
check "a store in an existing file is shown with its slots written" has kept '
	.written == 1 and .load == null and .oldest == 0 and .average == 0'

# ---- huge pages

if [ -e /proc/sys/vm/nr_hugepages ]; then
	echo 16 >/proc/sys/vm/nr_hugepages
	check "a store is in huge pages if enough of them are free" sh -c '
		dartctl -j store create huge --slots 2^20 --value 28 |
			is_true .huge_pages'
	check "a store of 32 MiB takes all 16 huge pages" \
		grep -q "^HugePages_Free: *0$" /proc/meminfo
	mkdir -p /run/huge
	mount -t hugetlbfs hugetlbfs /run/huge
	refuse "a store in a file of huge pages is refused if none is free" "not free" \
		dartctl store create more --slots 2^17 --value 28 \
		--file /run/huge/more
	check "a store in huge pages can be deleted" dartctl store delete huge
	check "a deleted store returns all its huge pages" \
		grep -q "^HugePages_Free: *16$" /proc/meminfo
	echo 0 >/proc/sys/vm/nr_hugepages
fi

# ---- reporters

reach 10.77.0.2
check "a reporter can be added to a store" dartctl reporter add paths 10.77.0.2
refuse "a reporter is refused if the store already has it" "already" \
	dartctl reporter add paths 10.77.0.2
while IFS='|' read -r address message; do
	refuse "'reporter add paths $address' is refused: $message" "$message" \
		dartctl reporter add paths "$address"
done <<END
fe80::1|IPv6
10.77.0|not an IPv4 address
224.0.0.1|not the address of a host
255.255.255.255|not the address of a host
127.0.0.1|not an address of RDMA device
192.0.2.1|no route to
10.77.0.99|does not answer ARP
END
refuse "a reporter of a store that does not exist is refused" "no store" \
	dartctl reporter add absent 10.77.0.2
check "a reporter is listed with its store" \
	sh -c 'dartctl reporter list paths | grep -q 10.77.0.2'
check "the export of a store says where its reporter sends to" entry_holds
check "a reporter has a UC queue pair that is ready to receive" \
	queue_pair_is "type UC state RTR"
refuse "an export for BMv2 is refused without a program" "needs --program" \
	dartctl store export paths --target bmv2
refuse "an export for BMv2 is refused without the switch port of a collector" \
	"collector 10.77.0.1 has no port" \
	dartctl store export paths --target bmv2 --program /dev/null
refuse "an export for BMv2 is refused if its program cannot be read" \
	"cannot read '/dev/null'" \
	dartctl store export paths --target bmv2 --program /dev/null --port 3
refuse "switch ports are refused for an export as JSON" "takes no --program, --port" \
	dartctl store export paths --port 3
program >/run/program.json
check "an export for BMv2 has the commands that a push of the JSON export prints" sh -c '
	dartctl store export paths --target bmv2 --program /run/program.json \
		--port 3 >/run/exported &&
	dartctl store export paths | dartctl switch push --target bmv2 \
		--program /run/program.json --port 3 - >/run/pushed &&
	grep -q "^table_add dart_collector dart_send_to 0 =>" /run/pushed &&
	cmp /run/exported /run/pushed'
refuse "an export for an unknown target is refused" "no target" \
	dartctl store export paths --target p5
refuse "the export of a store without reporters is refused" "no reporters" \
	dartctl store export one
check "a reporter can be removed from a store" dartctl reporter remove paths 10.77.0.2
refuse "a reporter that was removed cannot be removed again" "no reporter" \
	dartctl reporter remove paths 10.77.0.2

# ---- unprivileged users

# They may be unable to enter this tree.
install -m 755 "$(command -v store_descriptor)" /run/store_descriptor
chmod 666 /run/dart/dartd.sock
refuse "only root may create a store" "only root" \
	unprivileged dartctl store create own --slots 2^4 --value 4
refuse "only root may export a store" "only root" \
	unprivileged dartctl store export paths
check "an unprivileged user may see a store" unprivileged dartctl store show paths
for store in paths kept; do
	check "an unprivileged user cannot change the memory of the store $store" \
		unprivileged /run/store_descriptor $store
done

# ---- leftovers

for store in paths one kept; do
	check "the store $store can be deleted" dartctl store delete $store
done
refuse "a deleted store cannot be shown" "no store" dartctl store show paths
check "deleted stores leave no RDMA objects" [ "$(objects)" = "$before" ]
at_first=$(available)
check "ten stores of 32 MiB can be created and deleted in turn" come_and_go
check "deleted stores return their memory" soon has_available $((at_first - 32768))
check "a store is created that is in use when the agent stops" \
	dartctl store create last --slots 2^10 --value 20
check "the agent stops" host_down
finish
