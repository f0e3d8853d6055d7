#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""dissect.py FILE: compares golden vectors with scapy's view of their frames.

Each field must have the vector's value; and scapy must build the same frame when
it computes the ICRC, the checksum and the lengths itself.
"""

import json
import sys

from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether


def expected(vector, member):
    entry = vector["collector"]
    slot_bytes = entry["checksum_bits"] // 8 + entry["value_length"]
    return {
        "dst": entry["mac"], "src": vector["source_mac"],
        "reporter": entry["reporter"], "ip": entry["ip"],
        "sport": 0xC000 + (entry["qpn"] % 1024 if member == "frame_rc"
                           else vector["share"]), "dport": 4791,
        "opcode": 0x0A if member == "frame_rc" else 0x2A, "migreq": 1, "pkey": 0xFFFF, "version": 0,
        "solicited": 0, "fecn": 0, "becn": 0, "ackreq": 0,
        "padcount": -slot_bytes % 4, "dqpn": entry["qpn"],
        "psn": vector["psn"], "address": int(vector["address"], 16),
        "rkey": entry["rkey"], "length": slot_bytes,
        "slot": int(vector["checksum"], 16).to_bytes(
            entry["checksum_bits"] // 8, "big").hex() + vector["value"],
    }


def found(frame):
    bth, rest = frame[BTH], bytes(frame[BTH].payload)
    length = int.from_bytes(rest[12:16], "big")
    fields = {name: getattr(bth, name) for name in (
        "opcode", "migreq", "pkey", "version", "solicited", "fecn", "becn",
        "ackreq", "padcount", "dqpn", "psn")}
    fields.update(
        dst=frame.dst, src=frame.src, reporter=frame[IP].src,
        ip=frame[IP].dst, sport=frame[UDP].sport, dport=frame[UDP].dport,
        address=int.from_bytes(rest[:8], "big"),
        rkey=int.from_bytes(rest[8:12], "big"), length=length,
        slot=rest[16:16 + length].hex())
    return fields


def check(number, vector, member):
    sent = bytes.fromhex(vector[member])
    frame = Ether(sent)
    if found(frame) != expected(vector, member):
        sys.exit(f"vector {number}: scapy reads: {found(frame)}\n"
                 f"expected: {expected(vector, member)}")
    # UDP's checksum is 0: it has none.
    frame[BTH].icrc = None
    frame[IP].chksum = frame[IP].len = frame[UDP].len = None
    if bytes(frame) != sent:
        sys.exit(f"vector {number}: scapy builds: {bytes(frame).hex()}\n"
                 f"expected: {vector[member]}")


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        vectors = json.load(file)
    for number, vector in enumerate(vectors):
        for member in ("frame", "frame_rc"):
            check(number, vector, member)
    print(2 * len(vectors), "frames")


if __name__ == "__main__":
    main()
