#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Lookup tables: entries are imported on a host, and another host finds each of them by READ,
# also while they change, and while the agent sleeps.  ENTRIES in the environment says how many there
# are.
. "$(dirname "$0")/../lib.sh"

entries=${ENTRIES-10000}	# of random keys
few=$((entries / 5))	# number of consecutive entries
changing=$((entries / 2))
work=$(mktemp -d)

# ran: CPU time, time waited for a CPU and time slices of the agent since it started, and its
# context switches
# shellcheck disable=SC2016 # for the shell of the host
ran() {
	on host sh -c 'cat "/proc/$(pidof dartd)/schedstat"
		awk "/ctxt_switches/" "/proc/$(pidof dartd)/status"'
}

# import TABLE KIND COUNT SEED VERSION
import() {
	on host sh -c "nat_csv $2 $3 $4 $5 | dartctl -j table import $1 - --schema nat"
}

# reads KIND COUNT SEED: begins a reader of these entries of the table nat
reads() {
	coproc reader { nat_reader host nat "$@" 2>"$work/reader"; }
}

# ask: looks all up by the reader that is connected
ask() {
	echo >&"${reader[1]}"
	answers=
	read -r answers <&"${reader[0]}"
}

# ended: the reader is gone
ended() {
	local pid=${reader_PID-}

	[ ! "${reader[1]-}" ] || eval "exec ${reader[1]}>&-"
	[ ! "$pid" ] || wait "$pid" 2>/dev/null
}

# says FILTER COMMAND...: on the host
says() {
	on host dartctl -j "${@:2}" | is_true "$1 or (debug | false)"
}

# again: kills the agent, and waits for the next one
# shellcheck disable=SC2016 # for the shell of the host
again() {
	on host sh -c 'old=$(pidof dartd); kill -KILL $old
		for _ in $(seq 1200); do
			[ "$(pidof dartd)" != "$old" ] && dartctl status && exit
			sleep 0.1
		done
		exit 1' >/dev/null 2>&1
}

rdma_up
on host rdma_up
refuse "a lookup on a host without an agent is refused" "no agent listens" \
	dartctl table lookup nat --key 00 --host host
until_ready /run/hostile.log hostile_agent table-version table-rows table-rkey table-zeros \
	silence || exit 1
key=(src=10.0.0.1 dst=1.1.1.1 sport=257 dport=257 proto=1)
while IFS='|' read -r answer message; do
	refuse "a lookup is refused if the peer offers $answer" "$message" \
		on host dartctl table lookup nat "${key[@]}" --host main
done <<END
another version|version 2 of the protocol
2^64 rows|a table that cannot be
a wrong rkey|remote access error
rows of another epoch|was being changed each time
an empty handshake|without the magic
END
check "the hostile agent ends" host_down KILL hostile_agent

# ---- a table

check "the agent starts under a service manager" on host sh -c "rm -rf /var/lib/dart
	modprobe dart_zero && rdma_up &&
	until_ready /run/dartd.log service_manager dartd --config $tests/readers.yaml"
check "a table for 200,000 entries is created, by the schema with its name" \
	[ "$(on host dartctl table create nat --entries 200000)" = \
	"2^16 rows of 8 cells: at 75 % load they have 393216 entries" ]
check "the table is listed" says '.[0].name == "nat" and .[0].rows_log2 == 16 and
	.[0].key_length == 13 and .[0].value_length == 7' table list
check "$entries random entries are imported" is_true \
	".inserted == $entries and .changed == 0 and .foreign == 0 and .full == 0" \
	<<<"$(import nat random "$entries" 1 0)"
check "$few consecutive entries are imported" is_true \
	".inserted == $few and .changed == 0 and .foreign == 0 and .full == 0" \
	<<<"$(import nat consecutive "$few" 2 0)"
check "the same entries once more are counted as changed" is_true \
	'.inserted == 0 and .changed == 1000' <<<"$(import nat random 1000 1 0)"
check "show has entries and load" says ".entries == $entries + $few and
	(.load - .entries / 524288 | fabs) < 0.0001 and .requesters == []" table show nat

while read -r kind count seed; do
	reads "$kind" "$count" "$seed"
	ask
	check "a reader finds each of $count $kind entries with its value: $answers" \
		is_true ".old == $count" <<<"$answers"
	ended
	reads "$kind" $few "$seed"
	ask
	before=$(ran)
	ask
	check "$few more cost the agent 0 ns and 0 context switches: $answers" sh -c \
		"[ '$(ran)' = '$before' ] && echo '$answers' | is_true '.old == $few'"
	ended
	reads "$kind" "$count" $((seed + 10))
	ask
	check "a reader finds none of $count $kind keys without an entry: $answers" \
		is_true ".absent == $count" <<<"$answers"
	ended
done <<END
random $entries 1
consecutive $few 2
END

# ---- one entry

value=$'address: 1.2.3.4\nport: 5\nrewrite: source'
key=(src=192.0.2.1 dst=10.0.0.1 sport=1 dport=0x2 proto=udp)
digits=c00002010a0000010001000211
check "an entry is inserted by its fields" on host dartctl table insert nat \
	"${key[@]}" address=1.2.3.4 port=5 rewrite=source
check "a local lookup prints its value" \
	[ "$(on host dartctl table lookup nat "${key[@]}")" = "$value" ]
check "a lookup from another machine prints its value" \
	[ "$(dartctl table lookup nat "${key[@]}" --host host --port 4792)" = "$value" ]
check "a lookup of the same key in digits prints digits" \
	[ "$(dartctl table lookup nat --key $digits --host host)" = "value: 01020304000501" ]
check "local and remote lookup as JSON agree" [ \
	"$(on host dartctl -j table lookup nat "${key[@]}" | gojq -c '.host = "host"')" = \
	"$(dartctl -j table lookup nat "${key[@]}" --host host | gojq -c .)" ]
check "its value is changed in digits" on host dartctl table insert nat \
	--key $digits --value 01020304000600
check "a lookup from another machine prints the new value" [ \
	"$(dartctl -j table lookup nat "${key[@]}" --host host | gojq -c .value)" = \
	'{"address":"1.2.3.4","port":6,"rewrite":"destination"}' ]
check "it is removed" on host dartctl table remove nat "${key[@]}"
check "a key without an entry exits with status 3" sh -c \
	'dartctl table lookup nat --key '$digits' --host host; [ $? = 3 ]'
refuse "a key without an entry is not removed" "has no entry with this key" \
	on host dartctl table remove nat "${key[@]}"

# ---- import and dump

for format in csv json; do
	check "a dump as $format is imported into another table" on host sh -c "
		dartctl table create copy --rows 2^16 --schema nat &&
		dartctl table dump nat --format $format |
			dartctl table import copy - --schema nat --format $format"
	check "both tables then have the same entries" on host sh -c '
		dartctl table dump nat | sort >/run/nat.csv
		dartctl table dump copy --schema nat | sort >/run/copy.csv
		[ $(wc -l </run/nat.csv) = '$((entries + few + 1))' ] &&
			cmp /run/nat.csv /run/copy.csv'
	on host dartctl table delete copy
done
right=$((entries * 7 / 10))
batches=$((right / 2048 * 2048))	# before the batch of the mistake
on host sh -c "{ nat_csv random $right 3 0; echo 10.0.0.1,70000; } >/run/wrong.csv"
refuse "a mistake is refused with its line and the count of entries before it" \
	"/run/wrong.csv:$((right + 2)): .*($batches entries in front of it were imported, no other one)" \
	on host dartctl table import nat /run/wrong.csv
check "nothing of the batch of the mistake was inserted" \
	says ".entries == $entries + $few + $batches" table show nat

# ---- a switch

refuse "a switch is refused where its READs would take two packets" \
	"ip link set eth0 mtu 4200" on host dartctl requester add nat 10.77.0.1
check "the MTU is large enough for a row and its packet" \
	on host ip link set eth0 mtu 4200
check "a switch is added" on host dartctl requester add nat 10.77.0.1
check "it is listed with a queue pair that is ready" says 'length == 1 and
	.[0].table == "nat" and .[0].requester == "10.77.0.1" and .[0].state == "ready"' \
	requester list nat
check "show has it and the bytes of its copy" on host sh -c 'dartctl table show nat |
	tee /dev/stderr | grep -A 1 "requesters *1, with 134217728 bytes each" |
	grep "10.77.0.1 *ready, queue pair"'
exported=$(on host dartctl table export nat)
check "the export has the table and the data for its switch" is_true '
	.tables[0].name == "nat" and (.tables[0].servers[0].requesters[0] |
		.address == "10.77.0.1" and .qpn > 0 and .rkey > 0)' <<<"$exported"
check "the export as JSON is the same" [ "$(on host dartctl -j table export nat)" = "$exported" ]
check "its queue pair is renewed" on host dartctl requester renew nat 10.77.0.1
check "the export has another queue pair for the same copy then" gojq -se '
	map(.tables[0].servers[0].requesters[0]) |
	.[0].qpn != .[1].qpn and .[0].base == .[1].base and .[0].rkey == .[1].rkey' \
	<<<"$exported $(on host dartctl table export nat)"
check "it is removed" on host dartctl requester remove nat 10.77.0.1
refuse "a removed requester is not renewed" "has no requester" \
	on host dartctl requester renew nat 10.77.0.1

# ---- wrong usage

while IFS='|' read -r message arguments; do
	# shellcheck disable=SC2086 # words
	refuse "'table $arguments' is refused: $message" "$message" \
		on host dartctl table $arguments
done <<END
there is no table 'absent'|show absent
there is no table 'absent'|dump absent
there is no table 'absent'|delete absent
there is no table 'absent'|import absent /run/nat.csv
cannot open '/run/none': No such|import nat /run/none
/run/dartd.log:1: column|import nat /run/dartd.log
'xml' is not a format|import nat /run/nat.csv --format xml
no schema 'none'|dump nat --schema none
schema 'failure': its entries have 8 + 20 bytes|dump nat --schema failure
'x' is not FIELD=VALUE|insert nat x
'x' is not a field of the entries: these are src, dst|insert nat x=1
'dst' is missing: a key of table 'nat' is src=ipv4|lookup nat src=1.1.1.1
sport '65536': expected a number up to 65535|lookup nat sport=65536
'port' is a field of the value|remove nat port=1
--port needs --host|lookup nat --port 1
needs --entries or --rows|create other --schema nat
because no schema is called 'other'|create other --rows 2^4
--rows is a power of two up to 2^28|create other --rows 3 --schema nat
--shares is a range within 0-1023|create other --rows 8 --schema nat --shares 5-4
cannot open '/none/file': No such|create other --rows 8 --schema nat --file /none/file
END
refuse "a table of another host that does not exist is refused" \
	"there is no table 'absent'" dartctl table lookup absent --key 00 --host host
check "a table is made larger than its share: foreign keys are not inserted" is_true \
	'.inserted + .foreign == 1000 and .foreign > 400 and .foreign < 600' <<<"$(
	on host dartctl table create half --entries 1000 --schema nat --shares 0-511 >&2
	import half random 1000 1 0)"
on host dartctl table create tiny --rows 1 --cells 1 --schema nat
refuse "an import into a full table says how many entries found no place" \
	"entries found no place in table 'tiny' (create a larger one)" \
	on host sh -c 'nat_csv random 1000 1 0 | dartctl table import tiny - --schema nat'
for command in "insert nat --key $digits --value 01020304000600" "delete nat" \
	"create other --rows 8 --schema nat"; do
	# shellcheck disable=SC2086 # words
	refuse "'table $command' is refused without root" "root" \
		on host setpriv --reuid 1 --regid "$(on host stat -c %g /run/dart/dartd.sock)" \
		--clear-groups dartctl table $command
done

# ---- changes while a reader reads

on host sh -c "rm -f /run/end; nat_changes nat random $changing 1 1000 /run/end \
	>/run/changes 2>&1" &
changes=$!
reads random $changing 1
sum=
for _ in $(seq 8); do
	ask
	sum+=$answers
done
ended
on host touch /run/end
wait $changes
check "entries change, at most 1,000 in a second: $(on host cat /run/changes)" is_true \
	'.changed + .inserted + .removed > 1000 and .inserted > 0 and .removed > 0' \
	<<<"$(on host cat /run/changes)"
check "each lookup meanwhile finds the old or the new value" gojq -se "
	all(.[]; .old + .new == $changing) and .[-1].new > 0" <<<"$sum"
check "the entries are there after them" says ".entries >= $entries + $few + $batches" table show nat

# ---- ends

number=$(on host dartctl -j table show nat | gojq .entries)
reads consecutive $few 2
ask
check "the agent is killed, and the next agent comes" again
ask
check "a reader reports that the agent was killed" grep "disconnected" "$work/reader"
ended
check "after a restart each entry is there" says ".entries == $number" table show nat
reads consecutive $few 2
ask
check "after a restart a reader finds each entry: $answers" \
	is_true ".old == $few" <<<"$answers"
check "the table is deleted while a reader is connected" on host dartctl table delete nat
ask
check "a reader of a deleted table reports it" grep "disconnected" "$work/reader"
ended
check "the agent stops" on host host_down
rm -rf "$work"
finish
