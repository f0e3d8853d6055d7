#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""registrations.py SOCKET [TAKEN...]: listens as dartd does, until standard input ends.

Prints a line of JSON for each request new-slice: its members, the seals of its memory, and in
"values" the bytes of each field as numbers or text.  Names in TAKEN are refused as another
entry's.  "again" on standard input: ends the socket, and listens at another one of its name.
"""
import array
import fcntl
import json
import mmap
import os
import socket
import select
import sys

F_GET_SEALS = 1034
KINDS = {1: "B", 2: "H", 4: "I", 8: "Q"}


def listen(path):
    # Clients find a socket that listens, with another inode than the one before.
    server = socket.socket(socket.AF_UNIX)
    server.bind(path + ".next")
    server.listen()
    os.rename(path + ".next", path)
    return server


def values_of(request, memory):
    values = {}
    for field in request["schema"]["fields"]:
        at = request["offset"] + field["offset"]
        data = memory[at:at + field["width"] * field["count"]]
        if field["kind"] == "text":
            values[field["name"]] = data.split(b"\0")[0].decode()
            continue
        kind = KINDS[field["width"]]
        numbers = array.array(kind.lower() if field["signed"] else kind, data).tolist()
        values[field["name"]] = numbers if len(numbers) > 1 else numbers[0]
    return values


def take(client, taken):
    """Answers one request; False at the end of the connection."""
    line, fds, _, _ = socket.recv_fds(client, 65536, 1)
    while line and not line.endswith(b"\n"):
        line += client.recv(65536)
    if not line:
        return False
    request = json.loads(line)
    if request["name"] in taken:
        answer = {"ok": False, "error": "EEXIST", "message": "there is an entry already"}
        client.sendall(json.dumps(answer).encode() + b"\n")
    else:
        request["seals"] = fcntl.fcntl(fds[0], F_GET_SEALS)
        with mmap.mmap(fds[0], 0, mmap.MAP_SHARED, mmap.PROT_READ) as memory:
            request["values"] = values_of(request, memory)
        proof = os.open("/dev/null", os.O_RDONLY)
        socket.send_fds(client, [b'{"ok": true}\n'], [proof])
        os.close(proof)
    print(json.dumps(request), flush=True)
    for fd in fds:
        os.close(fd)
    return True


def main():
    path, taken = sys.argv[1], sys.argv[2:]
    server = listen(path)
    print('"listens"', flush=True)
    while True:
        ready, _, _ = select.select([server, sys.stdin], [], [])
        if sys.stdin in ready:
            if not sys.stdin.readline():
                break
            before = server
            server = listen(path)
            before.close()
        if server in ready:
            client, _ = server.accept()
            with client:
                while take(client, taken):
                    pass


main()
