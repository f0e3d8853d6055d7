#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Debian's redis-server shows its variables where they lie: equal to INFO, by READ and over TCP,
# while dartd is killed, and only of the server itself when it forks.
. "$(dirname "$0")/../lib.sh"

command -v redis-server >/dev/null || skip "redis-server is not installed"
command -v redis-cli >/dev/null || skip "redis-cli is not installed"
id=$(file -bL "$(command -v redis-server)" | sed -n 's/.*BuildID\[sha1\]=\([0-9a-f]*\).*/\1/p')
[ -e "$tests/../schemas/applications/layouts/$id.yaml" ] ||
	skip "no layout is for this redis-server ($id)"
log=/run/dartd.log
directory=$(mktemp -d)
tls=/run/tls
entry=redis@first
# Words that INFO prints and neither changes itself nor by the clock.
fields="total_connections_received keyspace_hits keyspace_misses expired_keys evicted_keys \
rejected_connections rdb_changes_since_last_save rdb_saves total_forks sync_full tcp_port \
maxclients maxmemory total_commands_processed used_memory_startup"

# up: starts dartd under a service manager, for callers as well
up() {
	rm -rf /var/lib/dart
	modprobe dart_zero
	rm -f /etc/dart/dartd.d/gatherer.yaml # of an earlier test
	mkdir -p "$tls" && tls_files "$tls" 127.0.0.1 caller.example
	cat >/run/dart.yaml <<-end
		allow: {callers: [127.0.0.1]}
		tcp: {certificate: $tls/127.0.0.1.pem, key: $tls/127.0.0.1.key,
		  authorities: $tls/authority.pem, subjects: [caller.example],
		  listen: [127.0.0.1]}
	end
	rdma_up && until_ready "$log" service_manager dartd --config=/run/dart.yaml
}

# redis LABEL PORT [OPTION...]: starts a server with the library, and sets $pid
redis() {
	DART_ZERO_LABEL=$1 LD_PRELOAD=$tests/../.output/lib/libdartzero-preload.so \
		redis-server --port "$2" --dir "$directory" --dbfilename "$1.rdb" --save '' \
		"${@:3}" >"$directory/$1.log" 2>&1 &
	pid=$!
}

answers() {
	[ "$(redis-cli -p "$1" ping)" = PONG ]
}

info() {
	redis-cli -p 6379 info everything | tr -d '\r'
}

# scrape WAY: the row of the entry, by READ or over TCP
scrape() {
	local host=localhost

	[ "$1" = read ] || host=127.0.0.1
	timeout 120 dart-controller --once --json --entries "$entry" --transport "$1" \
		--tls-certificate "$tls/caller.example.pem" --tls-key "$tls/caller.example.key" \
		--tls-authorities "$tls/authority.pem" "$host" 2>"$directory/said" |
		gojq -e --arg entry "$entry" '.entries[$entry].rows[0]' || {
		cat "$directory/said"
		return 1
	}
}

# agrees WAY: each value lies between two readings of INFO
agrees() {
	info >"$directory/before"
	scrape "$1" >"$directory/row" || {
		cat "$directory/row"
		return 1
	}
	info >"$directory/after"
	gojq -r 'to_entries[] | "\(.key):\(.value)"' "$directory/row" >"$directory/values"
	awk -F : -v fields="$fields" '
		{ found[$1, FILENAME] = $2; seen[$1]++ }
		END {
			count = split(fields, field, " ")
			for (i = 1; i <= count; i++) {
				name = field[i]
				first = found[name, ARGV[1]]
				value = found[name, ARGV[2]]
				last = found[name, ARGV[3]]
				print name ": " first " <= " value " <= " last
				if (seen[name] != 3 || first + 0 > value + 0 || value + 0 > last + 0)
					exit 1
			}
		}' "$directory/before" "$directory/values" "$directory/after"
}

# counts FIELD NUMBER: the field is NUMBER
counts() {
	scrape read | is_true ".$1 == $2"
}

lists() {
	dartctl show "$1"
}

gone() {
	! dartctl show "$1"
}

redis first 6379
first=$pid
check "a server that starts before dartd works" soon answers 6379
check "dartd starts" up
check "the server is in its table" soon lists $entry
redis-benchmark -q -p 6379 -n 2000 -t set,get,lpush >/dev/null
redis-cli -p 6379 get nothing >/dev/null
check "each value is READ as INFO has it" agrees read
check "each value comes over TCP as INFO has it" agrees tcp
dartctl -j list | gojq -r --arg entry "$entry" '.[] | select(.name == $entry) |
	"# \(.fields) fields in \(.memory_regions) memory regions, \(.bytes) of \(.length) bytes"'
check "controllers see the fields, and nothing else of the memory" sh -c "
	dartctl -j list | is_true 'map(select(.name == \"$entry\"))[0] |
		.memory_regions > 10 and .bytes < 2000 and .length > 4096'"
kill -STOP "$first"
check "a server that is stopped has values" counts tcp_port 6379
kill -CONT "$first"

check "dartd is killed" dartd_again
check "the next one has the entry when it first answers" lists $entry
check "its values are READ as before" agrees read

# The child that writes a snapshot changes its own copy of the variables.
redis-cli -p 6379 config set rdb-key-save-delay 100000 >/dev/null
redis-cli -p 6379 bgsave >/dev/null
redis-benchmark -q -p 6379 -n 500 -t set,get >/dev/null
check "the server saves" counts total_forks 1
check "while its child does, the values are the server's" agrees read
saved() {
	info | grep -qx rdb_bgsave_in_progress:0
}
check "the child ends" soon saved
check "and has saved" sh -c "redis-cli -p 6379 info | grep -q rdb_last_bgsave_status:ok &&
	redis-check-rdb $directory/first.rdb"
redis-cli -p 6379 bgsave >/dev/null
check "the server can save again" counts total_forks 2
check "its values are its own still" agrees read

kill -KILL "$first"
wait "$first" 2>/dev/null
check "its entry ends with it" soon gone $entry

redis second 6380 --daemonize yes --pidfile "$directory/pid"
wait "$pid"
check "a server in the background has an entry" soon lists redis@second
check "which is of the process that stays" sh -c "
	dartctl -j show redis@second | is_true '.values.rows[0].process_id == $(cat "$directory/pid")'"
kill "$(cat "$directory/pid")"
check "until it ends" soon gone redis@second
check "the servers had nothing to complain about" sh -c "! grep -h libdartzero $directory/*.log"

host_down TERM 'service_manager|dartd'
rm -rf "$directory"
finish
