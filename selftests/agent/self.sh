#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The entry dartd counts the agent's work and refusals; peers cannot fill its log.
. "$(dirname "$0")/../lib.sh"

few=50		# peers of each kind that take from the reserve of their address
count=400	# peers of each other kind
log=/run/dartd.log

# holds FILTER: for the values of the entry
holds() {
	dartctl -j show dartd | gojq -c '.values.rows[0]' >/run/values
	cat /run/values
	is_true "$1" /run/values
}

# becomes FILTER: the agent learns of the end of a connection later than the peer
becomes() {
	for _ in $(seq 1000); do
		holds "$1" && return
		sleep 0.1
	done
	return 1
}

# changes_by FIELD NUMBER COMMAND...
changes_by() {
	local field=$1 number=$2 before
	shift 2
	before=$(dartctl -j show dartd | gojq ".values.rows[0].$field")
	"$@" || return
	holds ".$field == $before + $number"
}

# accounts_for COUNT PATTERN: COUNT messages, in the log or only counted there
accounts_for() {
	awk -v pattern="$2\$" -v expected="$1" '
		$0 !~ pattern { next }
		/similar messages suppressed/ { suppressed += $2; next }
		{ shown++ }
		END {
			print shown " shown, " suppressed " suppressed"
			exit shown + suppressed != expected
		}' "$log"
}

all_refused() {
	for _ in $(seq 5); do
		! dartctl show absent || return
	done
}

regions() {
	rdma resource show mr | wc -l
}

# The memory regions agree with the RDMA core, and their bytes are pinned.
agrees_on_memory() {
	holds ".memory_regions == $(regions) and .registered_bytes == $(
		rdma -j resource show mr | gojq 'map(.mrlen) | add')"
}

check "the agent starts" host_up --config "$tests/readers.yaml"
chmod 666 /run/dart/dartd.sock
ip address show dev eth0 | grep -q 10.77.0.1 ||
	ip address add 10.77.0.1/24 dev eth0
ip neighbour replace 10.77.0.2 lladdr 02:00:00:00:00:01 dev eth0
check "the agent has an entry about itself from the start, the first of the list" sh -c \
	'dartctl -j list | is_true ".[0] | .name == \"dartd\" and .copies == 1"'
check "dartctl show prints the entry" dartctl show dartd
check "its values have names, kinds and units" sh -c 'dartctl -j show dartd |
	is_true ".schema.fields | map(select(.kind != \"text\")) | length == 169 and
		all(.kind == \"counter\" or .kind == \"gauge\") and all(.unit | length > 0)"'
refuse "it cannot be unregistered" "dartctl: 'dartd' is the entry about dartd itself" \
	dartctl unregister dartd
refuse "its name cannot be taken" "'dartd' already (choose another name)" \
	dartctl counters add dartd one
check "it says when the agent was started" holds "
	(.start_realtime / 1e9 - $(stat -c %Y /proc/"$(pidof dartd)") | fabs) < 60 and
	(.start_boottime / 1e9 - $(cut -d" " -f1 /proc/uptime) | fabs) < 60"

check "it has the release, the version and the machine of uname(1)" holds "
	.kernel_release == \"$(uname -r)\" and .kernel_version == \"$(uname -v)\" and
	.machine == \"$(uname -m)\" and .domain_name == \"$(cat /proc/sys/kernel/domainname)\""
check "it counts entries" changes_by entries 1 dartctl source add softnet
check "it counts the generations of the table" \
	changes_by publications 1 dartctl source add vmstat
check "it counts followers" changes_by followers 1 dartctl source follow snmp:udp
check "it counts stores" changes_by stores 1 \
	dartctl store create paths --slots 2^10 --value 20
check "it counts reporters" changes_by reporters 1 \
	dartctl reporter add paths 10.77.0.2
check "it counts the same memory regions and bytes as the kernel" agrees_on_memory
check "it counts slices" changes_by slices 3 \
	until_ready /run/owner.log slice_owner 3 "$(pidof dartd)"
check "the memory region of slices is counted" agrees_on_memory
pkill -KILL slice_owner
check "slices that end are not counted any longer" becomes '.slices == 0'
check "a removed reporter is not counted" changes_by reporters -1 \
	dartctl reporter remove paths 10.77.0.2
check "a deleted store is not counted" changes_by stores -1 dartctl store delete paths
check "it counts journals" changes_by journals 1 \
	dartctl journal create events --batches 2^4 --entry 8
check "it counts appenders" changes_by appenders 1 dartctl appender add events 10.77.0.2
check "a deleted journal is not counted" changes_by journals -1 \
	dartctl journal delete events
check "it counts ledgers" changes_by ledgers 1 dartctl ledger create flows --words 2^4
check "it counts adders" changes_by adders 1 dartctl adder add flows 10.77.0.2
check "it counts queue pairs that were replaced" changes_by adder_renewals 1 \
	dartctl adder renew flows 10.77.0.2
check "a deleted ledger is not counted" changes_by ledgers -1 dartctl ledger delete flows
check "it counts sketches" changes_by sketches 1 dartctl sketch create heavy --columns 2^4
check "it counts sketchers" changes_by sketchers 1 dartctl sketcher add heavy 10.77.0.2
check "a deleted sketch is not counted" changes_by sketches -1 dartctl sketch delete heavy
check "a removed follower is not counted" changes_by followers -1 \
	dartctl unregister snmp:udp@*
check "a removed entry is not counted" changes_by entries -1 \
	dartctl unregister softnet
check "it counts requests" changes_by requests 3 sh -c 'dartctl list; dartctl status'
check "it counts refused requests" changes_by refused_requests 5 all_refused

check "it counts memory that another process left pinned" \
	changes_by quarantined_extents 1 until_ready /run/pinned.log pinned_window
check "it counts the bytes of this memory" holds '.quarantined_bytes >= 4096'
pkill pinned_window
check "memory that is no longer pinned is not counted" \
	becomes '.quarantined_extents == 0 and .quarantined_bytes == 0'

read -r began _ </proc/uptime
check "$few peers each are accepted, or rejected because their store is absent" \
	peers 10.77.0.1 $few controller reader
check "$count peers each are rejected for one of two reasons" \
	peers 10.77.0.1 $count newer stranger
check "it counts exactly the connected peers, and rejected ones by reason" \
	becomes ".controllers == 0 and .controllers_total + .unfinished == $few and
		.rejected_malformed == $count and .rejected_version == $count and
		.rejected_no_store == $few and .rejected_device == 0 and
		.rejected_limit == 0 and .rejected_not_allowed == 0 and
		.rejected_resources == 0 and .readers_total == 0"
controllers=$(gojq .controllers_total /run/values)
unfinished=$(gojq .unfinished /run/values)
check "it counts the messages that the log does not show" sh -c \
	"dartctl -j show dartd | is_true '.values.rows[0].suppressed_messages > $count'"
check "the agent stops" host_down
read -r ended _ </proc/uptime
# Each of six kinds shows a message in 5 s, and the number of suppressed ones with it.
seconds=$((${ended%.*} - ${began%.*}))
check "the log of $((2 * count + 2 * few)) peers has less than 300 lines, and 3 more for each of $seconds s" \
	[ "$(wc -l <$log)" -lt $((300 + 3 * seconds)) ]
check "the log shows or counts each controller that has connected" \
	accounts_for "$controllers" "controller .* connected"
# A peer can disconnect before the agent sees its connection established.
check "the log shows or counts the end of each connection, $unfinished of them unfinished" \
	accounts_for $((controllers + unfinished)) \
	"controller .* (disconnected|RDMA_CM_EVENT_[A-Z_]*)"
check "the log shows or counts each peer that was rejected" \
	accounts_for $((2 * count + few)) "rejected: .*"

check "the agent starts with page exposure" host_up --exposure page
check "page exposure shows the entry as well" holds '.entries == 2'
# The memory region of the removed entry tcp is on lease, which ends without an event.
until dartctl -j status | is_true '.leases == 0'; do
	sleep 0.5
done >"$output"
check "page exposure: it counts the same memory regions and bytes as the kernel" \
	agrees_on_memory
check "the agent stops" host_down
finish
