#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartd gathers values of Debian's redis-server: by the module, and without it. They lie between two
# readings of INFO; processes are found as they come and go, by what they are and not by their name.
. "$(dirname "$0")/../lib.sh"

command -v redis-server >/dev/null || skip "redis-server is not installed"
command -v redis-cli >/dev/null || skip "redis-cli is not installed"
layouts=$tests/../schemas/applications/layouts
id=$(file -bL "$(command -v redis-server)" | sed -n 's/.*BuildID\[sha1\]=\([0-9a-f]*\).*/\1/p')
[ -e "$layouts/$id.yaml" ] || skip "no layout is for this redis-server ($id)"
log=/run/dartd.log
directory=$(mktemp -d)

# redis PORT [OPTION...]: starts a redis-server, and sets $pid
redis() {
	redis-server --port "$1" --dir "$directory" --dbfilename "$1.rdb" --save '' "${@:2}" \
		>/dev/null &
	pid=$!
}

answers() {
	[ "$(redis-cli -p "$1" ping)" = PONG ]
}

# info PORT FIELD
info() {
	redis-cli -p "$1" info everything | tr -d '\r' | sed -n "s/^$2://p"
}

# value ENTRY FIELD
value() {
	dartctl -j show "$1" | gojq ".values.sum.$2"
}

# moved ENTRY: its row is gathered again from now on
moved() {
	local first
	first=$(value "$1" time)
	until [ "$(value "$1" time)" != "$first" ]; do sleep 0.02; done
	first=$(value "$1" time)
	until [ "$(value "$1" time)" != "$first" ]; do sleep 0.02; done
}

# between PORT FIELD: of the entry redis@PORT
between() {
	local before after value
	before=$(info "$1" "$2")
	moved "redis@$1+100ms"
	value=$(value "redis@$1+100ms" "$2")
	after=$(info "$1" "$2")
	echo "$before <= $value <= $after"
	[ "$before" -le "$value" ] && [ "$value" -le "$after" ]
}

# instances NAME CONDITION
instances() {
	dartctl -j application show "$1" | is_true "$2"
}

# gathered_by WAY: the values of the entry redis@6379
gathered_by() {
	dartctl -j application list | is_true --arg way "$1" 'any(.[].instances[].entries[];
		.name == "redis@6379+100ms" and .gathered_by == $way)'
}

# calls COMMAND: counted for a command of the first server
calls() {
	dartctl -j show redis:commands@6379+100ms |
		gojq --arg command "$1" '[.values.rows[] | select(.cmd == $command).calls] | add'
}

shown() {
	dartctl show "$1"
}

# gather WAY: all checks of a way
gather() {
	redis 6379
	local first=$pid
	soon answers 6379
	check "$1: a process is added by its number" \
		dartctl application add redis --pid "$first" --gather 100ms
	check "$1: the entry is called after the port" shown redis@6379+100ms
	check "$1: $2 gathers it" gathered_by "$2"
	redis-benchmark -q -p 6379 -n 2000 -t set,get,lpush >/dev/null
	for field in total_commands_processed total_connections_received keyspace_hits \
		keyspace_misses net_input_bytes expired_keys; do
		case $field in
		net_input_bytes) continue ;;
		esac
		check "$1: $field lies between two readings of INFO" between 6379 $field
	done
	moved redis@6379+100ms
	check "$1: texts are whole" [ "$(value redis@6379+100ms run_id)" = \
		"\"$(info 6379 run_id)\"" ]
	check "$1: each command has its calls" \
		[ "$(calls get)" = "$(info 6379 cmdstat_get | sed 's/calls=\([0-9]*\).*/\1/')" ]
	dartctl save >/run/saved.yaml
	check "$1: a configuration cannot name a process, and says so" \
		grep -q "it is a process, which a file cannot name" /run/saved.yaml
	kill -STOP "$first"
	moved redis@6379+100ms
	check "$1: a process that is stopped has values" shown redis@6379+100ms
	kill -CONT "$first"
	check "$1: dartd stops" host_down
	check "$1: dartd starts again" host_up again
	check "$1: and gathers the process again" soon shown redis@6379+100ms
	kill -9 "$first"
	wait "$first" 2>/dev/null
	check "$1: its entry ends with the process" soon lacks redis@6379+100ms
	check "$1: and so does the application" is_true '. == []' \
		<<<"$(dartctl -j application list)"

	check "$1: all processes are followed" dartctl application follow redis --gather 100ms
	for port in 6379 6380 6381; do
		redis $port
		eval "pid_$port=\$pid"
	done
	for port in 6379 6380 6381; do
		check "$1: server $port is found when it starts" soon shown redis@$port+100ms
	done
	for port in 6379 6380 6381; do
		redis-benchmark -q -p $port -n $((port - 6000)) -t set >/dev/null
		check "$1: server $port has its own values" between $port total_commands_processed
	done
	kill -9 "$pid_6380"
	check "$1: the one that was killed is gone" soon lacks redis@6380+100ms
	check "$1: the others are not" instances 'redis@*' '.instances | length == 2'
	redis 6380
	pid_6380=$pid
	check "$1: it is found when it starts again" soon shown redis@6380+100ms
	check "$1: the child that writes a snapshot is no instance" sh -c \
		"redis-cli -p 6380 config set rdb-key-save-delay 100000 &&
		redis-cli -p 6380 bgsave && dartctl -j application show 'redis@*' |
			gojq -e '.instances | length == 3'"
	check "$1: the application is removed" dartctl application remove 'redis@*'
	check "$1: with its entries" lacks redis@6379+100ms

	refuse "$1: one of several servers must be chosen" "choose one with --pid" \
		dartctl application add redis
	check "$1: one is added by its executable" dartctl application add redis \
		--exe "$directory/*" --gather 100ms || :
	end_processes "$pid_6379" "$pid_6380" "$pid_6381"
}

check "dartd starts" host_up
gather module module
refuse "a process that is no redis is refused" "there is no layout for the build-id" \
	dartctl application add redis --pid $$
finish
