#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A node of a member has data without the version of its list: the members agree on no list,
# which is said once, and no longer so when the node is gone.
# shellcheck disable=SC1091,SC2034,SC2046,SC2086,SC2154 # of zookeeper.sh, and lists of numbers
. "$(dirname "$0")/../../lib.sh"
. "$tests/zookeeper.sh"
need_zookeeper
[ -e /usr/share/java/commons-cli.jar ] || skip "the client of zookeeper is not installed"
dir=$(mktemp -d)
trap 'kill -KILL $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT

# client COMMAND...: of ZooKeeper
client() {
	java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
		-cp $jar:/usr/share/java/commons-cli.jar org.apache.zookeeper.ZooKeeperMain \
		-server 127.0.0.1:$((zookeeper_port + 1)) "$@"
}

# said COUNT: it was said so often
said() {
	[ "$(grep -c "lacks the version of the list of member 7" "$dir/writer-log-1")" = "$1" ]
}

prepare_servers 1
start_server 1
start_hosts 4 200
prepare_member 1 10s 600s 200ms
start_controller 1
start_writer 1
check "a member scrapes all hosts" soon all_have 1
check "a client makes the node of a member" client create /dart/members/7 garbage
check "it is said that its data does not tell the list" soon said 1
check "no list is agreed on" gojq -e '.agreed == false' "$dir/members-1.json"
check "its data changes" client set /dart/members/7 '{"version": "x"'
check "a client deletes the node" client delete /dart/members/7
check "lists are agreed on again" soon gojq -e '.agreed and .members == [1]' "$dir/members-1.json"
check "it was said once" said 1
check "it is made again" client create /dart/members/7 '[]'
check "that is said, too" soon said 2
finish
