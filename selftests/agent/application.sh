#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartd gathers values of Debian's redis-server: by the module, and without it. They lie between two
# readings of INFO; processes are found as they come and go, by what they are and not by their name.
. "$(dirname "$0")/../lib.sh"

command -v redis-server >/dev/null || skip "redis-server is not installed"
command -v redis-cli >/dev/null || skip "redis-cli is not installed"
id=$(file -bL "$(command -v redis-server)" | sed -n 's/.*BuildID\[sha1\]=\([0-9a-f]*\).*/\1/p')
[ -e "$tests/../schemas/applications/layouts/$id.yaml" ] ||
	skip "no layout is for this redis-server ($id)"
log=/run/dartd.log
directory=$(mktemp -d)
# A program without a layout, which changes later.
cp -L "$(command -v sleep)" "$directory/changing"

# redis PORT [OPTION...]: starts a redis-server, and sets $pid
redis() {
	"${program-redis-server}" --port "$1" --dir "$directory" --dbfilename "$1.rdb" --save '' \
		"${@:2}" >/dev/null &
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

# is_newer ENTRY TIME
is_newer() {
	[ "$(value "$1" time)" -gt "$2" ]
}

# gathered ENTRY: a pass began after this call
gathered() {
	local time
	for _ in 1 2; do
		time=$(value "$1" time)
		[ -n "$time" ] && soon is_newer "$1" "$time" || return 1
	done
}

# between PORT FIELD: of the entry redis@PORT
between() {
	local before after value
	before=$(info "$1" "$2")
	gathered "redis@$1+100ms"
	value=$(value "redis@$1+100ms" "$2")
	after=$(info "$1" "$2")
	echo "$before <= $value <= $after"
	[ "$before" -le "$value" ] && [ "$value" -le "$after" ]
}

# application NAME CONDITION
application() {
	dartctl -j application show "$1" | is_true "$2"
}

# gathers ENTRY BY: the module, or dartd
gathers() {
	dartctl -j application list | is_true --arg entry "$1" --arg by "$2" \
		'any(.[].instances[].entries[]; .name == $entry and .gathered_by == $by)'
}

# calls COMMAND: of the first server
calls() {
	dartctl -j show redis:commands@6379+100ms |
		gojq --arg command "$1" '.values.rows[] | select(.cmd == $command).calls'
}

# counted COMMAND: as INFO counts it
counted() {
	local count
	count=$(info 6379 "cmdstat_$1" | sed 's/calls=\([0-9]*\).*/\1/')
	[ "$(calls "$1")" = "$count" ]
}

run_id() {
	gathered redis@6379+100ms
	[ "$(value redis@6379+100ms run_id)" = "\"$(info 6379 run_id)\"" ]
}

# check_values WAY BY
check_values() {
	redis 6379
	first=$pid
	soon answers 6379
	check "$1: a process is added by its number" \
		dartctl application add redis --pid "$first" --gather 100ms
	check "$1: its entry is called after its port" soon dartctl show redis@6379+100ms
	check "$1: $2 gathers it" gathers redis@6379+100ms "$2"
	check "$1: dartd gathers texts behind pointers" gathers redis:commands@6379+100ms dartd
	redis-benchmark -q -p 6379 -n 2000 -t set,get,lpush >/dev/null
	for field in total_commands_processed total_connections_received keyspace_hits \
		keyspace_misses; do
		check "$1: $field lies between two readings of INFO" between 6379 $field
	done
	check "$1: a text is whole" run_id
	check "$1: a command has its calls" soon counted get
	dartctl save >/run/saved.yaml 2>/dev/null
	check "$1: a configuration cannot name a process, and says so" \
		grep -q "it is a process, which a file cannot name" /run/saved.yaml
	refuse "$1: a process is added once" "belongs to 'redis@pid:$first' already" \
		dartctl application add redis
	kill -STOP "$first"
	check "$1: a process that is stopped has values" gathered redis@6379+100ms
	kill -CONT "$first"
	check "$1: dartd stops" host_down
	check "$1: dartd starts again" host_up again
	check "$1: and gathers the process again" soon dartctl show redis@6379+100ms
	kill -9 "$first"
	wait "$first" 2>/dev/null
	check "$1: its entry ends with the process" soon lacks redis@6379+100ms
	check "$1: and so does the application" is_true '. == []' \
		<<<"$(dartctl -j application list)"
}

# check_following WAY
check_following() {
	check "$1: all processes are followed" dartctl application follow redis --gather 100ms
	for port in 6379 6380 6381; do
		redis $port
		pids[port]=$pid
	done
	for port in 6379 6380 6381; do
		check "$1: server $port is found when it starts" \
			soon dartctl show redis@$port+100ms
		redis-benchmark -q -p $port -n $((port - 6000)) -t set >/dev/null
		check "$1: it has its own values" between $port total_commands_processed
	done
	kill -9 "${pids[6380]}"
	check "$1: the entry of a server that was killed ends" soon lacks redis@6380+100ms
	check "$1: the entries of others do not" application 'redis@*' '.instances | length == 2'
	redis 6380
	pids[6380]=$pid
	check "$1: the server is found when it starts again" soon dartctl show redis@6380+100ms
	redis-cli -p 6380 set key value >/dev/null
	redis-cli -p 6380 config set rdb-key-save-delay 3000000 >/dev/null
	redis-cli -p 6380 bgsave >/dev/null
	check "$1: dartd stops" host_down
	check "$1: dartd starts again" host_up again
	check "$1: all servers are found, and the child that writes a snapshot is none" \
		soon application 'redis@*' '.instances | length == 3'
	check "$1: the application is removed" dartctl application remove 'redis@*'
	check "$1: with its entries" lacks redis@6379+100ms
	refuse "$1: one of several servers must be chosen" "choose one with --pid" \
		dartctl application add redis
	end_processes "${pids[@]}"
}

# runs_changing TIMES: it is examined the first time
runs_changing() {
	local count
	for count in $(seq "$1"); do
		"$directory/changing" 0.2 || return
	done
}

# check_strangers: of redis@*, which follows
check_strangers() {
	local sleep
	sleep=$(file -bL "$(command -v sleep)" | sed -n 's/.*BuildID\[sha1\]=\([0-9a-f]*\).*/\1/p')
	check "a program without a layout is no server, however often it starts" runs_changing 3
	mkdir -p /etc/dart/layouts
	cp "$tests/../schemas/applications/layouts/$id.yaml" "/etc/dart/layouts/$sleep.yaml"
	"$directory/changing" 1000 &
	pid=$!
	check "a new layout for this program is used when it starts again" \
		soon application 'redis@*' '.refused | contains("but the layout is for")'
	end_processes "$pid"
	rm "/etc/dart/layouts/$sleep.yaml"
	check "a program whose layout was removed is no server" runs_changing 3
	cat "$(command -v redis-server)" >"$directory/changing"
	program=$directory/changing redis 6382
	check "a server that was written over the same file is found" \
		soon dartctl show redis@6382+100ms
	end_processes "$pid"
}

# check_restarts WAY: also of other programs
check_restarts() {
	local program=$directory/server added=redis@exe:$directory/server
	cp -L "$(command -v redis-server)" "$program"
	refuse "$1: a program that does not run cannot be added" "no process is '$added' now" \
		dartctl application add redis --exe "$program"
	redis 6379
	check "$1: it is added by its path" \
		soon dartctl application add redis --exe "$program" --gather 100ms
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	check "$1: the application waits for it" soon application "$added" '.instances == []'
	cp -L "$(command -v sleep)" "$directory/new"
	mv "$directory/new" "$program"
	"$program" 1000 &
	pid=$!
	check "$1: an upgrade to another build is refused, and said" soon application "$added" \
		'.refused | contains("there is no layout for the build-id")'
	end_processes "$pid"
	cp -L "$(command -v redis-server)" "$directory/new"
	mv "$directory/new" "$program"
	# dartd hears of the program that was executed when it has ended, as on a busy host.
	kill -STOP "$(pidof dartd)"
	"$program" --port 6379 --dir "$directory" --save '' --daemonize yes >/dev/null
	kill -CONT "$(pidof dartd)"
	check "$1: a server in the background is found" soon dartctl show redis@6379+100ms
	pid=$(dartctl -j application show "$added" | gojq '.instances[0].pid')
	check "$1: the application is removed" dartctl application remove "$added"
	kill "$pid"
}

pids=()
for way in module programs; do
	export GATHERER=$way
	check "$way: dartd starts" host_up
	# Both ways find processes alike.
	case $way in
	module)
		check_values $way module
		check_following $way
		check "$way: all processes are followed again" \
			dartctl application follow redis --gather 100ms
		check_strangers
		check "$way: the application is removed again" dartctl application remove 'redis@*'
		;;
	programs)
		check_values $way dartd
		check_restarts $way
		;;
	esac
	check "$way: dartd stops" host_down
done
GATHERER=programs
check "dartd starts" host_up
refuse "a process that is no redis is refused" "there is no layout for the build-id" \
	dartctl application add redis --pid $$
refuse "a process that does not exist is refused" "has ended" \
	dartctl application add redis --pid 4194303
chmod 666 /run/dart/dartd.sock
refuse "only root adds an application" "only root may add an application" \
	setpriv --reuid 1000 --clear-groups dartctl application add redis
rm -f /etc/dart/dartd.d/gatherer.yaml
finish
