#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The file of a store, table, journal, ledger or sketch that dartctl made goes after a refusal, and
# stays if dartd may use it: dartctl lost the reply, or could not print it.
. "$(dirname "$0")/../../../lib.sh"
PATH=$tests/../.output/bin:$PATH
scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$scratch"' EXIT
cat >"$scratch/dartd.py" <<'END'
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
print("ready", flush=True)
while True:
    client = server.accept()[0]
    line = b""
    while not line.endswith(b"\n"):
        line += client.recv(65536)
    for name, reply in {
        b"refused": b'{"ok": false, "error": "ENOSPC", "message": "no room"}\n',
        b"strange": b'{"ok": true, "version": "1"}\n',
        b"half": b'{"ok": true, "sto',
        b"wrong": b'{"ok": true, "store": {"name": \n',
        b"good": b'{"ok":true,"version":"1","store":{"name":"good"},"table":{"name":"good"},'
                 b'"journal":{},"ledger":{},"sketch":{}}\n',
    }.items():
        if b'"%s"' % name in line:
            client.sendall(reply)
    client.close()
END
mkfifo "$scratch/ready"
python3 "$scratch/dartd.py" "$scratch/socket" >"$scratch/ready" &
read -r _ <"$scratch/ready"

# create NAME [OPTION...]: makes a store in the file NAME
create() {
	dartctl --socket "$scratch/socket" store create "$1" --slots 2^10 --value 20 \
		--file "$scratch/$1" "${@:2}"
}

# gone NAME
gone() {
	[ ! -e "$scratch/$1" ]
}

refuse "dartd refuses a store" "no room" create refused
check "its new file is gone" gone refused
echo mine >"$scratch/refused"
refuse "dartd refuses a store in a file that was there" "no room" create refused
check "that file stays" [ -s "$scratch/refused" ]
for reply in lost half strange wrong; do
	refuse "dartctl tells about a file after a reply that is $reply" \
		"'$scratch/$reply' stays" create $reply
	check "the file stays" [ -e "$scratch/$reply" ]
	rm "$scratch/$reply"
	refuse "dartctl tells about it with --json, too" "'$scratch/$reply' stays" create $reply --json
	check "the file stays" [ -e "$scratch/$reply" ]
done
check "a store is made" create good
check "the file stays" [ -e "$scratch/good" ]
rm "$scratch/good"
create good --json >/dev/full 2>"$scratch/error"
check "a reply that is not printed leaves the file" [ -e "$scratch/good" ]
mv "$scratch/socket" "$scratch/other"
refuse "dartd does not listen" "cannot reach dartd" create unreached
check "the new file is gone" gone unreached
finish
