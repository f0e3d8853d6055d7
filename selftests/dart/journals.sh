#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# DART_ENTRIES entries reach a journal while 1 % of the frames get lost, and as many come twice and
# late: the memory is what the contract says, and a reader that follows on another host finds each
# entry once, or names its batch.
. "$(dirname "$0")/../lib.sh"

model=$tests/lib/journal.py
entries=${DART_ENTRIES:-1000000}

rdma_up
check "the agent starts" on host host_up --config "$tests/readers.yaml"
check "the host creates a journal with this machine as an appender" on host sh -c '
	dartctl journal create followed --batches 2^14 --batch 1024 --entry 16 --parts 1 &&
	dartctl appender add followed 10.77.0.1'
on host dartctl journal export followed >/run/followed.json
dartctl -j journal tail followed --all --interval 1ms --from host >/run/followed.tail &
reader=$!
check "a reader follows, while $entries entries are appended" "$model" append /run/followed.json /run/followed.model \
	entries="$entries" lost=10 twice=10 swapped=10 flushed=5 rate=1500 flush=1
check "the bytes in memory are what the contract says" soon sh -c "
	on host '$model' memory followed >/run/memory &&
	'$model' same /run/followed.model /run/memory 0"
# The reader prints more slowly than the appender sends: its last line has the last sequence.
sequence=$(((entries + 62) / 63))
for _ in $(seq 1800); do
	tail -n 1 /run/followed.tail | grep -q "\"sequence\":$sequence," && break
	sleep 1
done
check "the reader found each entry once, or knows that its batch was lost or overwritten" \
	"$model" followed /run/followed.model /run/followed.tail
check "a new reader finds what is in memory" sh -c "
	dartctl -j journal dump followed --from host >/run/dump &&
	'$model' dumped /run/followed.model /run/dump"
end_processes $reader
finish
