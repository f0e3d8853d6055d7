#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""dissect_tea.py FILE: compares frames of golden vectors with scapy's view of them.

Each must have the vector's queue pair, PSN and addresses; and scapy must build the
same frame when it computes the ICRC, the checksum and the lengths itself.
"""

import json
import sys

from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

SWITCH_QPN = 0x746561


def expected(exchange, name):
    server, switch = exchange["server"], exchange["switch"]
    response = exchange["response_fields"]
    there, back = (switch, server), (server, switch)
    opcode, ends, step, qpn, source_port, migrated = {
        "write": (0x0A, there, 0, server["qpn"], 0xC7EA, 1),
        "read": (0x0C, there, 1, server["qpn"], 0xC7EA, 1),
        "response": (0x10, back, 1, SWITCH_QPN, response["source_port"],
                     response["migrated"]),
    }[name]
    return {
        "src": ends[0]["mac"], "dst": ends[1]["mac"], "from": ends[0]["ip"],
        "to": ends[1]["ip"], "sport": source_port, "dport": 4791,
        "opcode": opcode, "migreq": migrated, "dqpn": qpn,
        "psn": (exchange["psn"] + step) % 2**24, "pkey": 0xFFFF, "ackreq": 0,
        "aeth": (response["syndrome"], response["msn"])
                if name == "response" else None,
    }


def found(frame):
    payload = bytes(frame[BTH].payload)
    fields = {name: getattr(frame[BTH], name) for name in (
        "opcode", "migreq", "dqpn", "psn", "pkey", "ackreq")}
    fields.update({
        "src": frame.src, "dst": frame.dst, "from": frame[IP].src,
        "to": frame[IP].dst, "sport": frame[UDP].sport,
        "dport": frame[UDP].dport,
        "aeth": (payload[0], int.from_bytes(payload[1:4], "big"))
                if frame[BTH].opcode == 0x10 else None})
    return fields


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        exchanges = [vector["exchange"] for vector in json.load(file)
                     if vector["exchange"]]
    for exchange in exchanges:
        for name in ("write", "read", "response"):
            sent = bytes.fromhex(exchange[name])
            frame = Ether(sent)
            if found(frame) != expected(exchange, name):
                sys.exit(f"{name}: scapy reads: {found(frame)}\n"
                         f"expected: {expected(exchange, name)}")
            # UDP's checksum is 0: it has none.
            frame[BTH].icrc = None
            frame[IP].chksum = frame[IP].len = frame[UDP].len = None
            if bytes(frame) != sent:
                sys.exit(f"{name}: scapy builds: {bytes(frame).hex()}\n"
                         f"expected: {exchange[name]}")
    print(3 * len(exchanges), "frames")


if __name__ == "__main__":
    main()
