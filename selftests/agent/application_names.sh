#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A controller serves Debian's redis-server and nginx, as dartd gathers them, by the names that
# dashboards for their exporters ask for.
. "$(dirname "$0")/../lib.sh"
lib=$(cd "$(dirname "$0")/../lib" && pwd)
PATH=$PATH:/usr/sbin
directory=$(mktemp -d)
# Grafana's dashboards 763 and 12708.
redis='redis_up redis_uptime_in_seconds redis_connected_clients redis_memory_used_bytes
	redis_memory_max_bytes redis_net_input_bytes_total redis_net_output_bytes_total redis_db_keys
	redis_db_keys_expiring redis_expired_keys_total redis_evicted_keys_total
	redis_keyspace_hits_total redis_keyspace_misses_total redis_blocked_clients
	redis_commands_total redis_commands_duration_seconds_total'
nginx='nginx_up nginx_connections_accepted nginx_connections_handled nginx_connections_active
	nginx_connections_reading nginx_connections_writing nginx_connections_waiting
	nginx_http_requests_total'

command -v redis-cli >/dev/null || skip "redis-server is not installed"
command -v nginx >/dev/null || skip "nginx is not installed"
for program in redis-server nginx; do
	id=$(file -bL "$(command -v $program)" | sed -n 's/.*BuildID\[sha1\]=\([0-9a-f]*\).*/\1/p')
	[ -e "$tests/../schemas/applications/layouts/$id.yaml" ] ||
		skip "no layout is for this $program ($id)"
done

answers() {
	[ "$(redis-cli -p "$1" ping)" = PONG ]
}

# are_listed NUMBER: dartctl lists this number of Redis servers
are_listed() {
	dartctl -j application list | is_true --argjson number "$1" \
		'[.[].instances[].entries[].name | select(startswith("redis@"))] |
			length == $number'
}

# page: the metrics of the controller are in /run/page
page() {
	python3 "$lib/fetch.py" /metrics 2>/dev/null >/run/page
}

# serves FAMILY...: each has a series of the instance
serves() {
	local name status=0

	page || return
	for name; do
		grep -q "^$name{.*application=\"" /run/page || { echo "no $name" && status=1; }
	done
	return "$status"
}

# metric SERIES
metric() {
	grep -F "$1" /run/page | sed 's/.*} \([^ ]*\).*/\1/'
}

# hits_are NUMBER: the page has as many hits as INFO, where nothing else asks Redis.  It has last
# values of the servers that ended a moment ago as well.
hits_are() {
	page && metric 'redis_keyspace_hits_total{' | grep -qx "$1" &&
		redis-cli info stats | grep -q "^keyspace_hits:$1"
}

calls_are() {
	page && metric 'redis_commands_total{' | grep -q . && grep '^redis_commands_total{' /run/page |
		grep -F 'cmd="get"' | grep -q "} $1\( \|$\)"
}

check "dartd starts" host_up
redis-server --dir "$directory" --save '' >/dev/null &
redis_pid=$!
cat >"$directory/nginx.conf" <<-END
	daemon off;
	pid $directory/pid;
	events {}
	http { server { listen 127.0.0.1:8080; location / { return 204; } } }
END
nginx -c "$directory/nginx.conf" -e "$directory/log" &
nginx_pid=$!
more=()
for port in 6380 6381 6382 6383; do
	redis-server --port $port --dir "$directory" --save '' >/dev/null &
	more+=($!)
done
for port in 6379 6380 6381 6382 6383; do
	check "the Redis of port $port answers" soon answers $port
done
generation=$(dartctl -j status | gojq .generation)
check "Redis is followed" dartctl application follow redis --gather 100ms
check "all of them have entries" soon are_listed 5
# Two times if dartd, on a busy machine, was done with the first ones before it found the last.
generation=$(($(dartctl -j status | gojq .generation) - generation))
check "which controllers are told at once" [ $generation -eq 1 -o $generation -eq 2 ]
end_processes "${more[@]}"
check "the entries of servers that ended are gone" soon are_listed 1
check "nginx is followed" dartctl application follow nginx --gather 100ms
dart-controller --listen -i 1s localhost >/run/values 2>/run/log &
controller=$!
redis-cli set key value >/dev/null
for _ in 1 2 3 4 5; do redis-cli get key >/dev/null; done
# Words of the lists.
# shellcheck disable=SC2086
{
	check "each family of a dashboard for Redis has a series" soon serves $redis
	check "each family of a dashboard for nginx has a series" soon serves $nginx
}
check "the controller serves as many hits as INFO" soon hits_are 5
check "the controller serves as many calls of a command as INFO" soon calls_are 5
kill $controller
wait $controller
end_processes $redis_pid $nginx_pid
check "dartd stops" host_down
finish
