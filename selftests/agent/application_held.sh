#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A process holds the thread that reads its ELF header, because a userfaultfd never provides the
# page.  Meanwhile dartd answers requests, names the process in its log and list, and can stop.
. "$(dirname "$0")/../lib.sh"
log=/run/dartd.log

# within SECONDS COMMAND...
within() {
	timeout "$@"
}

# holds NAME: the application lists a process that holds a thread, and why it was refused
holds() {
	dartctl -j application show "$1" |
		is_true '.held >= 1 and (.refused | contains("has not answered within 2 s"))'
}

held=$(mktemp)
export GATHERER=programs
check "dartd starts" host_up
check "an application waits for programs" dartctl application follow jvm --exe '*/held_header'
check "another one does" dartctl application follow redis --exe '*/held_header'
held_header >"$held" &
pid=$!
check "a process takes its header away" soon grep -q held "$held"
# The answer to the first one is late on purpose.
dartctl application add redis --pid "$pid" >/run/answer 2>&1 &
adding=$!
for _ in 1 2 3; do
	check "dartd answers meanwhile" within 10 dartctl entry list
done
check "it tells of the process in its list" soon holds 'redis@exe:*/held_header*'
check "of the other application as well" soon holds 'jvm@exe:*/held_header*'
check "and in its log" grep -q "redis@exe:.*: process $pid of user 0 has not answered" $log
wait "$adding"
check "it cannot be added" [ $? -ne 0 ]
check "and that has a reason" grep -q "process $pid of user 0 has not answered within 2 s" \
	/run/answer
refuse "another process is examined" "has mapped no file of jvm" \
	dartctl application add jvm --pid $$
check "dartd stops though a thread is held" within 10 host_down
kill -9 "$pid"
check "dartd starts" host_up
rm -f /etc/dart/dartd.d/gatherer.yaml "$held"
check "dartd stops" host_down
finish
