#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A model of the memory of a ledger, from the text of <dart/ledger.h> alone.

ledger.py memory LEDGER
    Prints the memory of a ledger of dartd on this host in base64.
ledger.py same MEMORY EXPORT FLOWS SUMMARY...
    Is MEMORY, in base64, what the runs of 'dart-report --json --ledger' with these SUMMARYs say, of
    as many uniform flows of seed 0 as FLOWS has lines, each with the arguments for a key?
    Each word is exact, or lacks at most what the summaries say is lost in its row.  Prints how
    much is missing.
"""

import array
import base64
import ipaddress
import json
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../vectors"))
import generate  # noqa: E402


def read_memory(kind, name):
    """The memory of an object of dartd on this host."""
    client = socket.socket(socket.AF_UNIX)
    client.connect("/run/dart/dartd.sock")
    client.send(json.dumps({"request": f"{kind}-open", "name": name}).encode() + b"\n")
    reply, ancillary, _, _ = client.recvmsg(65536, socket.CMSG_SPACE(4))
    if not ancillary:
        sys.exit(f"no descriptor: {reply}")
    fds = array.array("i")
    fds.frombytes(ancillary[0][2][:4])
    return os.pread(fds[0], json.loads(reply)[kind]["bytes"], 0)


def memory(name):
    print(base64.b64encode(read_memory("ledger", name)).decode())


def key_of(line):
    words = line.split()
    fields = dict(zip(words[::2], words[1::2]))
    return (ipaddress.ip_address(fields["--src"]).packed +
            ipaddress.ip_address(fields["--dst"]).packed +
            struct.pack(">HHB", *(int(fields[name])
                                  for name in ("--sport", "--dport", "--proto"))))


def packets_of(flow, flows, packets):
    """Packets of a flow: uniform flows send one in turn."""
    return (packets + flows - 1 - flow) // flows


def same(memory_path, export, flows, *summaries):
    with open(memory_path, encoding="ascii") as file:
        content = base64.b64decode(file.read())
    with open(export, encoding="ascii") as file:
        numbers = json.load(file)["ledgers"][0]
    with open(flows, encoding="ascii") as file:
        keys = [key_of(line) for line in file]
    rows, words = numbers["rows"], 2**numbers["words_log2"]
    expected, lost = [0] * (rows * words + 1), [0] * (rows + 1)
    for path in summaries:
        with open(path, encoding="ascii") as file:
            summary = json.load(file)["ledger"]
        lost = [a + b for a, b in zip(lost, summary["lost"] + [summary["lost_of_total"]])]
        for i, key in enumerate(keys):
            amount = packets_of(i, len(keys), summary["packets"])
            for row in range(rows):
                expected[row * words + generate.crc(generate.SLOTS[row], key) % words] += amount
            expected[rows * words] += amount
    if len(content) != 8 * len(expected):
        sys.exit(f"{8 * len(expected)} bytes expected, {len(content)} found")
    found = struct.unpack(f"<{len(expected)}Q", content)
    missing = [0] * (rows + 1)
    for at, (want, have) in enumerate(zip(expected, found)):
        if have > want:
            sys.exit(f"word {at} is {have}, but {want} was added")
        missing[at // words] += want - have
    if any(more > most for more, most in zip(missing, lost)):
        sys.exit(f"{missing} is missing, but only {lost} was lost")
    print(f"# total {found[-1]}, missing {missing}, lost at most {lost}")


if __name__ == "__main__":
    {"memory": memory, "same": same}[sys.argv[1]](*sys.argv[2:])
