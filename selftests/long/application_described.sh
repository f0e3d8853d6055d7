#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartd gathers values of memory that describes itself: of mmv files, Varnish and a Java virtual
# machine, beside the tools of these programs; the layout changes, a file lies or goes, and programs
# crash and start again.
. "$(dirname "$0")/../lib.sh"
PATH=$PATH:/usr/sbin
log=/run/dartd.log
lib=$(cd "$(dirname "$0")/../lib" && pwd)
directory=$(mktemp -d)

# value ENTRY FIELD
value() {
	dartctl -j show "$1" | gojq -r --arg field "$2" '.values.sum[$field]'
}

# is ENTRY FIELD VALUE
is() {
	[ "$(value "$1" "$2")" = "$3" ]
}

# has_no_row ENTRY
has_no_row() {
	dartctl -j show "$1" | is_true '.values | has("sum") and .sum == null'
}

# has_one NAME [FORMER-PID]: sets $label to that of the only instance, which is a port or, where the
# program opened it late, a process
has_one() {
	label=$(dartctl -j application show "$1" | gojq -r --argjson former "${2:-0}" \
		'.instances | select(length == 1 and .[0].pid != $former)[0].label')
	[ "$label" ]
}

# application NAME CONDITION
application() {
	dartctl -j application show "$1" | is_true "$2"
}

# ---- mmv

# writer PORT: starts a writer of $directory/mmv/PORT, and sets $pid
writer() {
	coproc writer { exec /usr/bin/python3 "$lib/mmv_file.py" "$directory/mmv/$1" "$1"; }
	# shellcheck disable=SC2154 # of coproc
	pid=$writer_PID
	read -r -u "${writer[0]}"
}

# tell ORDER...
tell() {
	echo "$*" >&"${writer[1]}"
	read -r -u "${writer[0]}"
}

# counts PORT METRIC: as pminfo prints it
counts() {
	printf 'root {\n\tmmv 70:*:*\n}\n' >"$directory/names"
	PCP_TMP_DIR=$directory pminfo -n "$directory/names" -L -K clear \
		-K add,70,/var/lib/pcp/pmdas/mmv/pmda_mmv.so,mmv_init -f "mmv.$1.$2" |
		sed -n 's/^ *value //p'
}

check_mmv() {
	mkdir "$directory/mmv"
	writer 7001
	tell set 40
	check "a writer of mmv is added by its number" \
		dartctl application add mmv --pid "$pid" --gather 100ms
	check "its entry has the values" soon is mmv@7001+100ms m2 42
	if command -v pminfo >/dev/null && [ -e /var/lib/pcp/pmdas/mmv/pmda_mmv.so ]; then
		check "pminfo prints the same" [ "$(counts 7001 m2)" = 42 ]
	else
		point ok "pminfo prints the same # SKIP pcp is not installed"
	fi
	check "dartd gathers it, with or without the module" application "mmv@pid:$pid" \
		'all(.instances[].entries[]; .gathered_by == "dartd")'
	tell set 50
	check "the values follow the program" soon is mmv@7001+100ms m2 52
	tell leave
	check "the row is empty while the program has no file" soon has_no_row mmv@7001+100ms
	tell make 5
	tell set 60
	check "another file with other metrics becomes the entry" soon is mmv@7001+100ms m4 64
	tell unlink
	tell set 70
	check "a file without a name still counts" soon is mmv@7001+100ms m4 74
	tell truncate
	check "a file that is cut off has no entry" soon lacks mmv@7001+100ms
	check "and one sentence says why" logged 1 "process $pid is not 'mmv': "
	end_processes "$pid"

	check "writers are followed" dartctl application follow mmv --exe '*/python3*' --gather 100ms
	writer 7002
	tell set 80
	check "a writer is found when it starts" soon is mmv@7002+100ms m0 80
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	check "a killed one has no entry, though its file stays" soon lacks mmv@7002+100ms
	writer 7002
	tell set 90
	check "the next one has other values" soon is mmv@7002+100ms m0 90
	# Another generation, and then metrics beyond the end of the file.
	tell lie 48 ffffffffffffff7f
	tell lie 8 0900000000000000
	tell lie 16 0900000000000000
	check "a file that lies has no entry" soon lacks mmv@7002+100ms
	check "its sentence is in the list" application "mmv@exe:*/python3**" \
		'.refused | contains("do not fit into the 65536 bytes of the mmv file")'
	check "and once in the log" logged 1 "process $pid is not 'mmv': "
	end_processes "$pid"
	check "the application is removed" dartctl application remove 'mmv@exe:*/python3**'
}

# ---- Varnish

# request PATH
request() {
	exec 5<>/dev/tcp/127.0.0.1/7003 || return
	printf 'GET %s HTTP/1.0\r\n\r\n' "$1" >&5 && cat <&5 >/dev/null
	exec 5>&-
}

# varnish_counts FIELD: as varnishstat prints it
varnish_counts() {
	varnishstat -n "$directory/varnish" -1 -f "MAIN.$1" | awk '{ print $2 }'
}

check_varnish() {
	local manager child patience=300
	cat >"$directory/vcl" <<-END
		vcl 4.1;
		backend default { .host = "127.0.0.1"; .port = "9"; }
		sub vcl_recv { return (synth(204)); }
	END
	check "Varnish is followed" dartctl application follow varnish --gather 100ms
	varnishd -F -j none -n "$directory/varnish" -a 127.0.0.1:7003 -f "$directory/vcl" \
		-s malloc,10m >/dev/null 2>&1 &
	manager=$!
	check "its child is found, and is the only instance" soon has_one 'varnish@*'
	check "a backend has an entry" \
		soon dartctl show "varnish:vbe@$label%5Bboot.default%5D+100ms"
	check "it takes a request" soon request /1
	check "and another one" request /2
	check "its requests are counted" soon is "varnish:main@$label+100ms" client_req 2
	check "varnishstat prints the same" [ "$(varnish_counts client_req)" = 2 ]
	child=$(dartctl -j application show 'varnish@*' | gojq '.instances[0].pid')
	kill -9 "$child"
	check "another child is found after a crash" soon has_one 'varnish@*' "$child"
	check "and counts anew" soon is "varnish:main@$label+100ms" client_req 0
	end_processes "$manager"
	check "nothing is left of Varnish" soon lacks "varnish:main@$label+100ms"
	check "the application is removed" dartctl application remove 'varnish@*'
}

# ---- a Java virtual machine

# jvm PORT: sets $pid
jvm() {
	java -Xmx32m -XX:TieredStopAtLevel=1 -m java.rmi/sun.rmi.registry.RegistryImpl "$1" \
		>/dev/null 2>&1 &
	pid=$!
}

check_jvm() {
	local before after printed name patience=300
	check "Java virtual machines are followed" dartctl application follow jvm --gather 100ms
	jvm 7004
	check "one is found when it starts" soon has_one 'jvm@*'
	check "its version is that of the JDK" \
		soon is "jvm@$label+100ms" java.property.java.version "$(java_version)"
	before=$(dartctl -j show "jvm@$label+100ms" | gojq -c .values.sum)
	jcmd "$pid" PerfCounter.print >"$directory/counters"
	check "its values are gathered again" soon are_followed "$before"
	after=$(dartctl -j show "jvm@$label+100ms" | gojq -c .values.sum)
	for name in java.cls.loadedClasses java.threads.started sun.ci.totalCompiles; do
		printed=$(sed -n "s/^$name=//p" "$directory/counters")
		check "$name lies around what jcmd prints" between "$before" "$name" "$printed" \
			"$after"
	done
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	check "nothing is left of a killed one, though its file stays" \
		soon lacks "jvm@$label+100ms"
	check "the application is removed" dartctl application remove 'jvm@*'
}

java_version() {
	sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$(dirname "$(readlink -f "$(command -v java)")")/../release"
}

# are_followed VALUES: a later pass has written others
are_followed() {
	[ "$(value "jvm@$label+100ms" time)" -gt "$(gojq .time <<<"$1")" ]
}

# between BEFORE NAME VALUE AFTER
between() {
	echo "$3"
	[ "$(gojq --arg name "$2" '.[$name]' <<<"$1")" -le "$3" ] &&
		[ "$3" -le "$(gojq --arg name "$2" '.[$name]' <<<"$4")" ]
}

check "dartd starts" host_up
if [ -x /usr/bin/python3 ]; then
	check_mmv
else
	point ok "a writer of mmv # SKIP python3 is not installed"
fi
if command -v varnishd >/dev/null; then
	check_varnish
else
	point ok "Varnish # SKIP varnish is not installed"
fi
if command -v java >/dev/null && command -v jcmd >/dev/null; then
	check_jvm
else
	point ok "a Java virtual machine # SKIP the JDK is not installed"
fi
check "dartd stops" host_down
finish
