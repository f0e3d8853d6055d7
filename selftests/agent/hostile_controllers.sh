#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While controllers break the rules of the protocol, hang, or come in crowds and are not heard of again,
# no scrape of two others fails: of one that READs, and of one that calls.
. "$(dirname "$0")/../lib.sh"

address=10.77.0.1
tls=/run/tls
file=/run/dart.yaml
patience=60
options=(--json --tls-certificate "$tls/caller.example.pem" --tls-key "$tls/caller.example.key"
	--tls-authorities "$tls/authority.pem")

# scrape NAME OPTION...: a controller scrapes in the background
scrape() {
	local name=$1

	shift
	: >"/run/$name"
	dart-controller "${options[@]}" "$@" localhost >"/run/$name" 2>"/run/$name.log" &
}

# samples NAME: how many samples a controller has printed
samples() {
	grep -c '"entries"' "/run/$1"
}

# has_more NAME COUNT
has_more() {
	[ "$(samples "$1")" -gt "$2" ]
}

# go_on: each of the two scrapes again
go_on() {
	local name

	for name in reading calling; do
		soon has_more "$name" "$(samples "$name")" || return
	done
}

# without_failure NAME: prints how many scrapes it had
without_failure() {
	is_true 'select(has("summary")).summary | .failed == 0' "/run/$1" &&
		! grep lost "/run/$1.log" && samples "$1"
}

mkdir -p $tls
check "certificates are made" tls_files $tls localhost caller.example
cat >$file <<end
allow: {callers: [127.0.0.0/8, 10.77.0.0/24]}
tcp: {certificate: $tls/localhost.pem, key: $tls/localhost.key,
  authorities: $tls/authority.pem, subjects: [caller.example]}
end
check "the agent starts" host_up --config=$file
scrape reading --interval 200ms --mirror 64K
reading=$!
scrape calling --interval 200ms --transport tcp
calling=$!
check "two controllers scrape" go_on
first_values 1000 1000 >/run/asked &
changing=$!

check "controllers break the rules" hostile_controllers "$address"
check "the two scrape" go_on
check "controllers, readers and strangers come in crowds" \
	peers "$address" 16 controller reader newer stranger
check "the two scrape while they come and go" go_on
peers "$address" 20 dead half-open >/run/peers &
silent=$!
check "some connect and are not heard of again" soon grep half-open /run/peers
check "the two scrape beside them" go_on
end_processes $silent

hung=()
for way in "read --mirror=64K" rpc tcp; do
	# shellcheck disable=SC2086 # the way has an option
	scrape hung --interval 10ms --transport $way
	hung+=($!)
	check "another controller scrapes ($way)" soon has_more hung 0
	kill -STOP $!
	check "it hangs, and the two scrape" go_on
done
check "the two scrape beside three that hang" go_on

kill -CONT "${hung[@]}"
end_processes $changing "${hung[@]}"
end_processes $reading $calling
check "no scrape of the controller that READs failed" without_failure reading
check "no scrape of the controller that calls failed" without_failure calling
check "the agent stops" host_down
finish
