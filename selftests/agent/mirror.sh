#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A controller that offers a mirror takes each new table from it, without a READ, and scrapes new
# entries at once. A controller that calls is told of each new table, and does so, too.
. "$(dirname "$0")/../lib.sh"

lib=$(realpath "$(dirname "$0")/../lib")
lines=/run/lines
log=/run/controller.log
file=/run/dart.yaml
tls=/run/tls
patience=60

# shows_first COUNT WAY OPTION...: a controller has the first value of each slice, within an interval
# that is longer than all of them live; with "shared" in $memory the slices share memory
memory=
shows_first() {
	local count=$1 way=$2 owner controller
	shift 2
	: >$lines
	dart-controller --json --interval 60s --mirror 256K "$@" >$lines 2>$log &
	controller=$!
	check "$way: the controller connects" soon grep -q entries $lines
	# shellcheck disable=SC2086 # nothing, or a word
	first_values "$count" 700 $memory >/run/asked &
	owner=$!
	check "$way: $count slices are registered one after the other" wait $owner
	check "$way: the controller has the value of the last one" \
		soon grep -q "$(tail -n1 /run/asked | gojq .asked_ns)" $lines
	end_processes $controller
	check "$way: and that of each of them" python3 "$lib/first_values.py" /run/asked $lines
	python3 "$lib/first_values.py" /run/asked $lines | sed -n '/^#/p'
}

mkdir -p $tls
check "certificates are made" tls_files $tls localhost caller.example
cat >$file <<end
allow: {callers: [10.77.0.0/24, 127.0.0.0/8]}
tcp: {certificate: $tls/localhost.pem, key: $tls/localhost.key,
  authorities: $tls/authority.pem, subjects: [caller.example]}
end
check "the agent starts with callers" host_up --config=$file
shows_first 6 read localhost
check "it was told of all of them by its mirror, and had tables from it" is_true \
	'select(has("summary")).summary.mirror | .updates >= 6 and .tables > 0' $lines
memory=shared
shows_first 6 "read, in memory that dartd has" localhost
memory=
shows_first 4 rpc --transport rpc localhost
check "it was told by messages" is_true \
	'select(has("summary")).summary.mirror | .updates > 0 and .tables == 0' $lines
shows_first 4 tcp --transport tcp --tls-certificate $tls/caller.example.pem \
	--tls-key $tls/caller.example.key --tls-authorities $tls/authority.pem localhost
check "a controller without a mirror is not told" \
	sh -c 'dart-controller --json --interval 100ms --count 20 localhost >/run/plain &&
		is_true "select(has(\"summary\")).summary | has(\"mirror\") | not" /run/plain'
check "the agent stops" host_down
finish
