#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A collector's agent is killed while an XDP reporter sends: the store keeps its bytes,
# no old report changes any store, and reports flow again by themselves.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../restarts.sh"

reporter=10.77.0.1

reports() {
	dartctl -j xdp status eth0 | gojq '.[0].reports'
}

# have_sent NUMBER: did the reporters send NUMBER reports since $sent?
have_sent() {
	[ $(($(reports) - sent)) -ge "$1" ]
}

rdma_up
check "the agent of the collector starts under a service manager" up
check "the collector creates a store in memory" create
check "the collector creates another store, in a file" \
	on host sh -c "dartctl store create other --slots 2^10 --value 20 \
		--file /dev/shm/other && dartctl reporter add other $reporter"
other=$(on host md5sum /dev/shm/other)
follow_collectors 100000 100
empty=$(checksum)
check "reports arrive" until_true differs "$empty"

# ---- the bytes, while reports of the old epoch arrive

: >$stop
check "the agent is killed while reports arrive" kill_agent
check "the agent is back, and the store" restored
check "the store has the same bytes as at the moment of the kill" \
	[ "$(checksum)" = "$sum" ]
sent=$(reports)
check "200 more reports are sent to the old queue pair" until_true have_sent 200
check "reports of the old epoch change nothing in the store" [ "$(checksum)" = "$sum" ]
check "reports of the old epoch change nothing in another store" \
	[ "$(on host md5sum /dev/shm/other)" = "$other" ]
sent=$(reports)
rm $stop
check "reports flow again when the file has come" until_true differs "$sum"
check "the reporter has gone on counting" have_sent 1
check "the reporter printed the new queue pair" grep -q "eth0 reports to store paths" \
	/run/follow.log

flow_again 3
check "the other store has never changed" \
	[ "$(on host md5sum /dev/shm/other)" = "$other" ]

# ---- files that cannot be followed

: >$stop
good=$(cat $collectors)
echo '{' >$collectors
check "an invalid file is refused with one sentence" until_true \
	grep "'eth0' keeps its collectors: $collectors:[0-9]*: not JSON" /run/follow.log
gojq '.collectors[0].slots_log2 = 10' <<<"$good" >$collectors
check "a store with another geometry is refused with one sentence" until_true \
	grep "store 'paths' has another name or geometry" \
	/run/follow.log
sum=$(checksum)
check "the reporter still sends to its last collectors" until_true differs "$sum"
: >/run/end
kill "$(pgrep -x dartctl)"
check "the reporter stays attached after its follower has ended" \
	[ "$(dartctl -j xdp status eth0 | gojq -r '.[0].mode')" = native ]
check "the reporter is detached" dartctl xdp detach eth0
check "the agent stops" on host host_down
finish
