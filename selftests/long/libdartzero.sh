#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Programs with libdartzero before, while and after dartd is killed, and READs of their objects.
. "$(dirname "$0")/../lib.sh"

log=/run/dartd.log
count=${OBJECTS-300} # OBJECTS=10000 shows more, in two minutes

# up: starts dartd under a service manager
up() {
	rm -rf /var/lib/dart
	if [ "${GATHERER-auto}" = auto ]; then
		modprobe dart_zero
		rm -f /etc/dart/dartd.d/gatherer.yaml # of an earlier test
	else
		mkdir -p /etc/dart/dartd.d
		echo "gatherer: $GATHERER" >/etc/dart/dartd.d/gatherer.yaml
	fi
	rdma_up && until_ready "$log" service_manager dartd
}

# again: kills dartd, and waits until the next one answers
again() {
	local begin=${EPOCHREALTIME/./}

	dartd_again || return
	echo "# $(((${EPOCHREALTIME/./} - begin) / 1000)) ms without an answer"
}

# says FILE LINE: waits until a program has printed the line
says() {
	soon grep -q -e "$2" "$1" || { cat "$1" && return 1; }
}

entries_of() {
	entry_names | grep -c "^$1/"
}

# scrape FILE: READs all objects of the program three times
scrape() {
	timeout 120 dart-controller --json -i 500ms -n 3 -e 'shop/object-*' -e shop/both localhost \
		>"$1" 2>/run/controller.log
}

# stored: how many memories the service manager was ever given
stored() {
	grep -c '^stored memory-' "$log"
}

zero_program serve early 10 >/run/early &
early=$!
check "the agent starts after a program" up
check "the program is registered with the agent that it waited for" says /run/early registered
zero_program serve shop "$count" >/run/shop &
shop=$!
check "$count objects and three variables of another program are registered" \
	says /run/shop registered
check "all of them are entries" [ "$(entries_of shop)" -eq $((count + 3)) ]
check "the objects are in the hands of the service manager" [ "$(stored)" -eq 2 ]

check "a controller READs them" scrape /run/lines
check "every scrape has all objects" is_true -s \
	"map(select(has(\"entries\")).entries) | length == 3 and all(.[]; length == $((count + 1)))" \
	/run/lines
check "each object counts" is_true -s '
	map(select(has("entries")).entries | del(.["shop/both"]) | map(.rows[0].done)) |
		(.[0] | max) < (.[2] | min)' /run/lines
check "a record of two words is never torn" is_true -s '
	map(select(has("entries")).entries["shop/both"].rows["0"]) |
		all(.[]; .low > 0 and .low + .high == 4294967295)' /run/lines
gojq -r 'select(has("entries")) | "# \(.reads) READs, \(.bytes) bytes"' /run/lines | sort -u
check "all objects are one run of bytes, READ in operations of 128 KiB or more, and a header" \
	is_true "select(has(\"entries\")) |
		.bytes < $count * 64 + 8192 and .reads <= 2 + .bytes / 131072" /run/lines

check "dartd is killed under load" again
check "the next dartd has all entries when it first answers" \
	[ "$(entries_of shop)" -eq $((count + 3)) ]
check "it shows the memory at the same addresses" [ "$(stored)" -eq 2 ]
check "a controller READs all objects again" scrape /run/lines
check "every scrape after the restart has all objects" is_true -s \
	"map(select(has(\"entries\")).entries) | length == 3 and all(.[]; length == $((count + 1)))" \
	/run/lines
again >/dev/null
check "after one more end of dartd all entries are there" \
	[ "$(entries_of shop)" -eq $((count + 3)) ]
kill -USR1 $shop
check "the program stops counting" says /run/shop '^counted'
counted=$(sed -n 's/^counted //p' /run/shop)
check "a controller READs the last values" scrape /run/lines
check "no increment of any object is lost" is_true -s \
	"map(select(has(\"entries\")).entries | del(.[\"shop/both\"])) |
		length == 3 and all(.[]; length == $count and all(.[]; .rows[0].done == $counted))" \
	/run/lines

end_meanwhile() {
	local manager

	manager=$(pidof service_manager)
	: >/run/killed
	kill -STOP "$manager"
	host_down KILL
	kill -KILL "$shop"
	wait "$shop"
	kill -CONT "$manager"
}
check "dartd is killed, and the program ends before the next one starts" end_meanwhile
lives_alone() {
	local names

	answers_since /run/killed && names=$(entry_names) || return
	[[ $names != *shop/* && $names == *early/* ]]
}
check "the next dartd does not list it, but the program that lives" lives_alone
kill -KILL $early
wait $early 2>/dev/null
none_left() {
	[ "$(entries_of early)" -eq 0 ]
}
check "the entries of a program end with it" soon none_left

# The same without the library.
mkfifo /run/zero.in
"$tests/../contrib/libdartzero/zero.py" python </run/zero.in >/run/python 2>&1 &
python=$!
exec 5>/run/zero.in
echo >&5
value() {
	dartctl -j show "python/$1" | gojq .values.rows[0].requests
}
check "an example in Python counts" says /run/python '^1$'
check "its first entry shows the value" [ "$(value site)" = 1 ]
check "its second entry shows another value" [ "$(value other)" = 2 ]
check "dartd is killed once more" again
echo >&5
check "the example counts on" says /run/python '^2$'
check "its entry is there without a request" [ "$(value site)" = 2 ]
exec 5>&-
wait $python
none_of_python() {
	[ "$(entries_of python)" -eq 0 ]
}
check "the entries of the example end with it" soon none_of_python
host_down TERM 'service_manager|dartd'
sed 's/^/# /' "$log" | grep -v -e stored -e removed
finish
