#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A file of collectors follows its store, over crashes of the agent as well.
. "$(dirname "$0")/../lib.sh"

file=/run/collectors/paths.json
log=/run/watch.log
mkdir /run/collectors

up() {
	rm -rf /var/lib/dart
	modprobe dart_zero && rdma_up &&
		until_ready /run/dartd.log service_manager dartd
}

# holds FILTER: is that true for the file?
holds() {
	gojq -e "$1" "$file"
}

says() {
	grep -e "$1" "$log"
}

create() {
	dartctl store create paths --slots 2^10 --value 20
}

# read_always: reads the file until there are enough readings
read_always() {
	until [ -e /run/enough ]; do
		gojq -e '.collectors | length > 0' "$file" >/dev/null ||
			echo "not whole" >>/run/torn
	done
}

# ends SIGNAL: does the signal end the watch?
ends() {
	kill "-$1" "$watch"
	wait "$watch"
	[ $? -gt 128 ]
}

refuse "a watch is refused for commands of a P4 switch" "writes no commands" \
	dartctl store export paths --target bmv2 --program x --watch "$file"
dartctl store export paths --watch "$file" 2>$log &
watch=$!
check "a watch waits for an agent that is not running, and says so" \
	soon says "'$file' waits: cannot reach dartd"
check "the agent starts" up
check "a watch waits for the store, and says so" \
	soon says "'$file' waits: there is no store 'paths'"
reach 10.77.0.2
reach 10.77.0.3
check "the store is created" create
check "a watch waits for a reporter, and says so" \
	soon says "'$file' waits: store 'paths' has no such reporters"
check "a file is not made before there are collectors" [ ! -e "$file" ]
check "a reporter is added" dartctl reporter add paths 10.77.0.2
check "the watch writes the collectors" soon holds '.collectors | length == 1'
check "only its owner may read the file" [ "$(stat -c %a "$file")" = 600 ]
check "another reporter is added" dartctl reporter add paths 10.77.0.3
check "the watch adds it to the file" soon holds '.collectors | length == 2'
# shellcheck disable=SC2016 # $file is of jq
is_exported() {
	dartctl store export paths | is_true --slurpfile file "$file" '. == $file[0]'
}
check "the file is that of store export" is_exported
written=$(stat -c %i "$file")
check "a change of another store is made" sh -c "
	dartctl store create other --slots 2 --value 4 &&
	dartctl store delete other"
check "a reporter is removed" dartctl reporter remove paths 10.77.0.3
check "the watch removes it from the file" soon holds '.collectors | length == 1'
check "the file was replaced, not written over" \
	[ "$(stat -c %i "$file")" != "$written" ]

epoch=$(gojq '.collectors[0].epoch' "$file")
rkey=$(gojq '.collectors[0].rkey' "$file")
read_always &
reader=$!
old=$(pidof dartd)
check "the agent is killed" pkill -KILL -x dartd
check "the service manager starts another dartd" \
	soon sh -c "pidof dartd && [ \"\$(pidof dartd)\" != $old ] && dartctl status"
check "the watch writes the new epoch" soon holds ".collectors[0].epoch > $epoch"
check "the key of the store has changed" holds ".collectors[0].rkey != $rkey"
: >/run/enough
wait $reader
check "no reader finds a torn, empty or missing file meanwhile" [ ! -e /run/torn ]

check "the store is deleted" dartctl store delete paths
check "the watch says so" soon says "there is no store 'paths' (see"
check "the file stays as it was" holds '.collectors | length == 1'
check "SIGTERM ends a watch" ends TERM

check "the store is created again" sh -c "
	dartctl store create paths --slots 2^10 --value 20 &&
	dartctl reporter add paths 10.77.0.2"
check "a service manager is notified when the file is up to date" until_ready $log \
	dartctl store export paths --watch "$file"
check "the file is up to date then" is_exported
watch=$(pgrep -x dartctl)
check "SIGINT ends a watch" sh -c "kill -INT $watch; pidwait -x dartctl || :"
refuse "a file in a directory that does not exist is refused" \
	"cannot create '/absent/paths.json.new'" \
	dartctl store export paths --watch /absent/paths.json
chmod 666 /run/dart/dartd.sock
refuse "only root may watch a store" "only root may" setpriv --reuid 65534 \
	--clear-groups dartctl store export paths --watch /tmp/paths.json
check "the agent stops" host_down
finish
