#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A hundred nginx, and then twenty PostgreSQL, run beside each other, and start and end together:
# the values of each are its own, as its stub_status or its view tells them.
. "$(dirname "$0")/../lib.sh"
PATH=$PATH:/usr/sbin
lib=$(cd "$(dirname "$0")/../lib" && pwd)
log=/run/compared
directory=$(mktemp -d)
count=${INSTANCES-100}
first=7001
patience=$((60 + 4 * count))
ports=$(seq $first $((first + count - 1)))
postgresql=$(find /usr/lib/postgresql -path '*/bin/postgres' | sort -V | tail -1)

# has_layout PROGRAM
has_layout() {
	local id
	id=$(file -bL "$1" | sed -n 's/.*BuildID\[sha1\]=\([0-9a-f]*\).*/\1/p')
	[ -e "$tests/../schemas/applications/layouts/$id.yaml" ]
}

has_layout "$(command -v nginx)" || skip "no layout is for this nginx"

# are_listed NAME NUMBER: does dartctl list so many instances of NAME?
are_listed() {
	dartctl -j application show "$1" | is_true ".instances | length == $2"
}

# compare KIND: does a scrape have the values that each instance tells a client?
compare() {
	"$lib/instances.py" "$1" "$directory" "$first" "$count" >"$log" 2>&1 || {
		cat "$log"
		return 1
	}
}

start_nginx() {
	local port
	for port in $ports; do
		cat >"$directory/$port.conf" <<-END
			pid $directory/$port.pid;
			events { worker_connections 16; }
			http {
				access_log off;
				server {
					listen 127.0.0.1:$port;
					location /status { stub_status; }
					location / { return 204; }
				}
			}
		END
		nginx -c "$directory/$port.conf" -e "$directory/$port.log" || return
	done
}

stop_nginx() {
	local port
	for port in $ports; do kill "$(<"$directory/$port.pid")"; done
}

# copy_server PORT: copies the data of a PostgreSQL. Copies share the databases that no client uses,
# because files lie in the memory of the machine.
copy_server() {
	local database used=0
	cp -a "$directory/data" "$directory/$1"
	# The last one is "postgres".
	for database in "$directory/$1/base"/*; do
		[ "${database##*/}" -lt "$used" ] || used=${database##*/}
	done
	for database in "$directory/$1/base"/*; do
		[ "${database##*/}" != "$used" ] || continue
		rm -r "$database"
		ln -s "$directory/data/base/${database##*/}" "$database"
	done
}

# make_servers: the data of a PostgreSQL for each port
make_servers() {
	local port
	chown nobody "$directory"
	runuser -u nobody -- "${postgresql%/*}/initdb" -D "$directory/data" -A trust -U postgres \
		--no-sync --wal-segsize=1 >/dev/null || return
	for port in $ports; do
		copy_server "$port" || return
		cat >>"$directory/$port/postgresql.conf" <<-END
			port = $port
			listen_addresses = '127.0.0.1'
			unix_socket_directories = '$directory'
			shared_buffers = 1MB
			max_connections = 5
			max_wal_senders = 0
			fsync = off
			autovacuum = off
			min_wal_size = 2MB
			max_wal_size = 2MB
		END
	done
}

start_postgresql() {
	local port
	for port in $ports; do
		runuser -u nobody -- "${postgresql%/*}/pg_ctl" start -W -D "$directory/$port" \
			-l "$directory/$port/log" >/dev/null || return
	done
}

stop_postgresql() {
	local port
	for port in $ports; do kill -QUIT "$(head -1 "$directory/$port/postmaster.pid")"; done
}

# mark: the changes of the table are counted from now on
mark() {
	SECONDS=0
	generation=$(dartctl -j status | gojq .generation)
}

# changed_seldom: the table changed once a second at most
changed_seldom() {
	local changes=$(($(dartctl -j status | gojq .generation) - generation))
	echo "$changes changes in $SECONDS s"
	[ $changes -le $((SECONDS + 2)) ]
}

check "dartd starts" host_up
check "$count nginx start" start_nginx
mark
check "they are followed" dartctl application follow nginx --gather 1s
check "each is an instance" soon are_listed 'nginx@*' "$count"
check "controllers are told of all together" changed_seldom
echo "# $(changed_seldom)"
check "each has its own values" compare nginx
check "they end" stop_nginx
check "and so do their entries" soon are_listed 'nginx@*' 0
check "they start again" start_nginx
check "each is an instance again" soon are_listed 'nginx@*' "$count"
check "with values of its own" compare nginx
stop_nginx
if [ -z "$postgresql" ] || ! has_layout "$postgresql"; then
	echo "# PostgreSQL is left out: no layout is for this build"
else
	count=$(((count + 4) / 5))
	ports=$(seq $first $((first + count - 1)))
	check "$count PostgreSQL are made" make_servers
	check "they are followed" dartctl application follow postgresql --gather 1s
	check "they start" start_postgresql
	check "each PostgreSQL is an instance" soon are_listed 'postgresql@*' "$count"
	check "each PostgreSQL has its own values" compare postgresql
	check "the servers are killed" stop_postgresql
	check "and their entries end" soon are_listed 'postgresql@*' 0
fi
check "dartd stops" host_down
rm -r "$directory"
finish
