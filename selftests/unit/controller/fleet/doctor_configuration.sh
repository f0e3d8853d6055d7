#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The doctor of the controller tells whether the list of members counts, whether receivers accept
# connections, and whether there are too many threads; the host itself does not answer.
. "$(dirname "$0")/../../../lib.sh"
bin=$tests/../.output/bin
[ -x "$bin/dart-controller" ] || skip "make programs has not been run"
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT

# Listens, and prints its port, and the port of a socket that was closed.
cat >"$dir/listen.py" <<'END'
import socket
one, other = socket.socket(), socket.socket()
one.bind(("127.0.0.1", 0))
other.bind(("127.0.0.1", 0))
one.listen()
print(one.getsockname()[1], other.getsockname()[1], flush=True)
other.close()
while True:
    one.accept()
END
# CPUs for the doctor: one, and two if there are
one=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
two=$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2], sep=",")')
cpus=$one
mkfifo "$dir/ports"
python3 "$dir/listen.py" >"$dir/ports" &
read -r open closed <"$dir/ports"
cat >"$dir/config.yaml" <<-END
	agents: [{host: 127.0.0.1, port: $closed}]
	transport: tcp
	shard: {member: 2, members_file: $dir/members.json}
	outputs:
	  - remote_write: http://127.0.0.1:$open/write
	  - remote_write: http://127.0.0.1:$closed/write
	  - remote_write: http://127.0.0.1:$open/other
	    token_file: $dir/token
END

# found CHECK RESULT TEXT: a finding of the doctor
found() {
	taskset -c "$cpus" "$bin/dart-controller" doctor -j --transport tcp --config "$dir/config.yaml" \
		"127.0.0.1:$closed" >"$dir/findings"
	# shellcheck disable=SC2016 # variables of jq
	gojq -e --arg check "$1" --arg result "$2" --arg text "$3" \
		'any(.[]; .check == $check and .result == $result and (.found | contains($text)))' \
		"$dir/findings" >/dev/null || { cat "$dir/findings"; return 1; }
}

# is_absent CHECK: the doctor found nothing by it
is_absent() {
	# shellcheck disable=SC2016 # variables of jq
	gojq -e --arg check "$1" 'length > 0 and all(.[]; .check != $check)' "$dir/findings" >/dev/null
}

# list MEMBERS SECONDS: writes a list that is valid for SECONDS
list() {
	awk -v members="$1" -v more="$2" \
		'{ printf "{\"members\": [%s], \"valid_until\": %.2f}\n", members, $1 + more }' \
		/proc/uptime >"$dir/members.json"
}

check "a list that is missing is a fault" found members fail "cannot be opened"
list "1, 2, 5" 600
check "a list that names the member is no fault" found members ok "lists members 1, 2, 5, for "
list "1, 5" 600
check "a list without the member is a fault" \
	found members fail "lists members 1, 5, and not this one"
list "1, 2" -1
check "a list that has expired is a fault" found members fail "is over"
echo '{"members": [2]}' >"$dir/members.json"
check "a list may count without an end" found members ok "lists members 2"
check "a receiver that accepts connections is found" \
	found receiver ok "remote_write http://127.0.0.1:$open/write"
check "and one that does not" found receiver fail "remote_write http://127.0.0.1:$closed/write"
check "and a secret that is missing" found receiver fail "$dir/token"
check "the doctor finds nothing about one thread" is_absent threads
echo "io: {threads: 16}" >>"$dir/config.yaml"
check "more threads than CPUs are found" \
	found threads warn "io.threads is 16, but the CPUs are 1:"
if [ "$one" != "$two" ]; then
	cpus=$two
	sed -i 's/threads: 16/threads: 2/' "$dir/config.yaml"
	echo "flow: {control: credit, bytes: 64K}" >>"$dir/config.yaml"
	check "a part of the credits that is shorter than an answer is found" \
		found threads warn "each of 2 I/O threads may have 32768 bytes in flight"
	sed -i 's/bytes: 64K/bytes: 128K/' "$dir/config.yaml"
	check "the doctor accepts threads with enough CPUs and credits" found threads ok "2 I/O threads"
fi
finish
