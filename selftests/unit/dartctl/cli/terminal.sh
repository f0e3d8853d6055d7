#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl prints names and sentences of dartd, which users of the host choose, without control
# characters: none reaches a terminal.
. "$(dirname "$0")/../../../lib.sh"
PATH=$tests/../.output/bin:$PATH
scratch=$(mktemp -d)
trap 'kill "$server" 2>/dev/null; rm -rf "$scratch"' EXIT

# A dartd whose names and sentences would set the title of a terminal, by ESC and by U+009B.
cat >"$scratch/dartd.py" <<'END'
import json, os, socket, sys

evil = "a\x1b]0;title\x07b\u009b31mc\nd"
missing = {"reason": evil, "count": 1, "example": evil, "why": evil, "remedy": evil}
coverage = [{"kind": evil, "present": 2, "served": 1, "missing": [missing]}]
answers = {
    "status": {"status": {"pid": 1, "host": evil, "coverage": coverage}},
    "entry-list": {"entries": [{"name": evil, "kind": evil}], "warning": evil},
    "store-list": {"stores": [{"name": evil}], "warning": evil},
    "epoch-list": {"epochs": [{"since_ns": 1, "until_ns": 2, "in": evil}]},
    "store-delete": {"error": evil, "code": 2},
    "monitor": {"monitor": {}},
}
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("ready", flush=True)
while True:
    connection, _ = listener.accept()
    lines = connection.makefile("rw", encoding="utf-8")
    for line in lines:
        kind = json.loads(line)["request"]
        answer = {"version": evil, "ok": True} | answers.get(kind, {"error": evil})
        lines.write(json.dumps(answer, ensure_ascii=False) + "\n")
        if kind == "monitor":
            lines.write(json.dumps({"time_ms": 1, "event": evil, "object": evil,
                                    "name": evil}) + "\n")
        lines.flush()
        break
    lines.close()
    connection.close()
END
exec 3< <(exec python3 "$scratch/dartd.py" "$scratch/socket")
server=$!
read -r -u 3 _

# harmless ARGUMENT...: dartctl prints "title", and no control character but line ends
harmless() {
	dartctl --socket="$scratch/socket" "$@" >"$scratch/printed" 2>&1
	grep -q title "$scratch/printed" &&
		! LC_ALL=C grep -P '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$scratch/printed"
}

check "the status is harmless" harmless status
check "so is a list, with a warning" harmless store list
check "so are epochs" harmless store epochs x
check "so is a line of monitor" harmless monitor
check "so is an error" harmless store delete x
for command in status "store list" "store epochs x" monitor "store delete x"; do
	# shellcheck disable=SC2086 # the words of the command
	check "so is $command in JSON" harmless -j $command
done
finish
