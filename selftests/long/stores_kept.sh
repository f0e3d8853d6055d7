#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Stores keep their bytes over a crash and a restart of the agent, which hands their
# memory to the service manager.
. "$(dirname "$0")/../lib.sh"

log=/run/dartd.log

# up [OPTION...]: starts dartd under a service manager with these options
up() {
	rm -rf /var/lib/dart
	modprobe dart_zero && rdma_up &&
		until_ready "$log" service_manager "$@" dartd
}

# again SIGNAL PROGRAM [COMMAND...]: runs COMMAND, and waits until dartd answers after
# this signal
again() {
	local old

	old=$(pidof dartd)
	"${@:3}"
	pkill "-$1" -x "$2"
	for _ in $(seq 1200); do
		[ "$(pidof dartd)" != "$old" ] && dartctl status >/dev/null 2>&1 &&
			return
		sleep 0.1
	done
	return 1
}

# fill: writes random bytes to the memory of the only store of the agent
fill() {
	store_fill "$(find "/proc/$(pidof dartd)/fd" -lname '/memfd:dart-store*')"
}

# number FIELD: of the first store
number() {
	dartctl -j store list | gojq ".[0].$1"
}

collector() {
	dartctl store export paths | gojq ".collectors[0].$1"
}

# places: members that a restart need not change
places() {
	dartctl store export paths | gojq -c '.collectors[0] | [.base, .first_psn]'
}

create() {
	dartctl store create "$@" --value 20
}

check "the agent starts under a service manager" up
ip neighbour replace 10.77.0.2 lladdr 02:00:00:00:00:01 dev eth0
check "a store is created" create paths --slots 2^16
check "a reporter is added" dartctl reporter add paths 10.77.0.2
check "its memory is in the hands of the service manager" \
	logged 1 "^stored store-paths,16,20,32,2$"
check "random bytes are written to the store" fill
before=$(store_checksum paths)
epoch=$(number epoch)
places=$(places)
check "the epoch of a store is its time of creation" \
	[ "$(($(date +%s) - epoch))" -lt 60 ]
check "the collectors of a store have its epoch" [ "$(collector epoch)" = "$epoch" ]
check "store list and store show print the epoch" sh -c "
	dartctl store list | grep -q 'EPOCH' &&
	dartctl store show paths | grep -q 'epoch *$epoch'"

check "the agent is killed and starts again" again KILL dartd
check "after a crash the store and its reporter have the same base and first PSN" \
	[ "$(places)" = "$places" ]
check "after a crash the store has the same bytes" \
	[ "$(store_checksum paths)" = "$before" ]
check "the store's memory is not stored twice" logged 1 "^stored store-paths"
check "the log says that the reports are in the store" \
	logged 1 "created store paths: .* with the reports in it"
check "the epoch is higher than before the crash" [ "$(number epoch)" -gt "$epoch" ]
check "the service manager restarts the agent" again HUP service_manager
check "after a restart the store has the same bytes" \
	[ "$(store_checksum paths)" = "$before" ]

# ---- names, and deletion

check "a store with a colon and a per cent sign in its name is created" \
	create 'a:b%3Ac' --slots 2^4
check "the name of its memory is encoded" logged 1 '^stored store-a%3Ab%253Ac,4,20,32,2$'
check "the store is deleted" dartctl store delete 'a:b%3Ac'
check "the service manager forgets the memory of a deleted store" \
	logged 1 '^removed store-a%3Ab%253Ac,4,20,32,2: 1$'
check "a store is deleted and created again" sh -c 'dartctl store delete paths &&
	dartctl store create paths --slots 2^16 --value 20'
check "a store that was deleted comes back empty" sh -c \
	'dartctl -j store show paths | is_true ".written == 0"'

# ---- no crash loses a store whose creation dartd acknowledged

for number in $(seq 5); do
	create "late$number" --slots 2^4 >/dev/null 2>&1 && again KILL dartd ||
		echo "# not created: late$number"
done
check "five stores are kept though the agent is killed right after each reply" \
	logged 5 "^stored store-late"

# ---- a store that is not created as it was

check "the agent is killed, and starts again without its state" \
	again KILL dartd rm -r /var/lib/dart
check "the memory of a store that does not exist can be deleted" \
	dartctl store delete late1
check "the service manager forgets it" logged 1 "^removed store-late1,4,20,32,2: 1$"
check "a store of the same name with another geometry can be created" \
	create late2 --slots 2^5
check "it drops the memory with the old geometry" \
	logged 1 "^removed store-late2,4,20,32,2: 1$"
check "the agent stops" host_down

# ---- a state that is lost

rm -f $log
check "the agent starts" up
check "a store is created" create lost --slots 2^10
check "random bytes are written to the store" fill
before=$(store_checksum lost)
check "the agent is killed, and starts again without its state" \
	again KILL dartd rm -r /var/lib/dart
check "the log names the store whose memory is kept" \
	logged 1 "the memory of store lost is kept, but the store is not registered"
check "the store is created again" create lost --slots 2^10
check "it has the bytes that were kept" [ "$(store_checksum lost)" = "$before" ]
pkill -STOP -x service_manager
check "a store is created although the service manager does not answer" \
	timeout 120 dartctl store create unheard --slots 2^4 --value 20
check "the log says that such a store is not kept" logged 1 \
	"empty after a restart of dartd: .* the service manager: "
pkill -CONT -x service_manager
check "the agent stops" host_down

# ---- hostile descriptors

truncate -s 384 /run/short
truncate -s 4096 /dev/shm/file
check "the agent starts with unknown and damaged descriptors" up \
	-d socket=/run/short -d store-short,4,20,32,2=/run/short \
	-d store-file,4,20,32,2=/dev/shm/file -d store-zero,4,20,32,2=/dev/zero \
	-d store-%61,4,20,32,2=/run/short
check "unknown descriptors are closed, and the service manager forgets them" \
	logged 2 "closed the unknown descriptor"
for store in short file zero; do
	check "a store does not use a descriptor of other memory: $store" \
		create $store --slots 2^4
	check "the service manager forgets the descriptor: $store" \
		logged 1 "^removed store-$store,4,20,32,2: 1$"
	check "the new memory of the store is kept instead: $store" \
		logged 1 "^stored store-$store,4,20,32,2$"
done
check "the agent stops" host_down

# ---- huge pages

if [ -e /proc/sys/vm/nr_hugepages ]; then
	echo 16 >/proc/sys/vm/nr_hugepages
	rm -f $log
	check "the agent starts with huge pages" up
	check "a store in huge pages is created" create huge --slots 2^20
	check "random bytes are written to the store" fill
	before=$(store_checksum huge)
	check "the agent is killed and starts again" again KILL dartd
	check "a store in huge pages has the same bytes after a crash" \
		[ "$(store_checksum huge)" = "$before" ]
	check "it is still in huge pages" [ "$(number huge_pages)" = true ]
	check "the store is deleted" dartctl store delete huge
	check "its huge pages are free again" \
		grep -q "^HugePages_Free: *16$" /proc/meminfo
	check "the agent stops" host_down
	echo 0 >/proc/sys/vm/nr_hugepages
fi

# ---- without a service manager

rm -f $log
check "the agent starts without a service manager" host_up
for store in one two; do
	check "the store $store is created" dartctl store create $store --slots 1 \
		--value 20
done
check "the log says once that their reports are lost with the agent" \
	logged 1 "stores without a file are empty after a restart of dartd"
check "the agent stops" host_down
finish
