#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints golden vectors of ledgers: the words of keys, requests that add to them, and answers.

This is a second implementation of <dart/ledger.h>, from its text alone.
"""

import json
import random

from generate import CHECKSUMS, SLOTS, crc, roce_frame

KEY = "0a0100020a030103c00001bb06"


def offset(geometry, row, key):
    """Of the key's word in this row; of the total in the row after the last one"""
    words = 2**geometry["words_log2"]
    if row == geometry["rows"]:
        return 8 * row * words
    return 8 * (row * words + crc(SLOTS[row], key) % words)


def request(entry, source_mac, at, amount, psn):
    bth = (bytes([0x14, 0x40]) + b"\xff\xff" + entry["qpn"].to_bytes(4, "big") +
           (1 << 31 | psn).to_bytes(4, "big"))
    atomic = ((int(entry["base"], 16) + at).to_bytes(8, "big") +
              entry["rkey"].to_bytes(4, "big") + amount.to_bytes(8, "big") + bytes(8))
    return roce_frame((source_mac, entry["reporter"]), (entry["mac"], entry["ip"]),
                      0xC000 + entry["qpn"] % 1024, bth + atomic)


def answer(entry, source_mac, opcode, syndrome, psn):
    bth = (bytes([opcode, 0x40]) + b"\xff\xff" + entry["qpn"].to_bytes(4, "big") +
           psn.to_bytes(4, "big"))
    aeth = bytes([syndrome]) + (7).to_bytes(3, "big")
    before = (0x0102030405060708).to_bytes(8, "big") if opcode == 0x12 else b""
    return roce_frame((entry["mac"], entry["ip"]), (source_mac, entry["reporter"]),
                      0xD234, bth + aeth + before)


def vector(key=KEY, row=0, amount=5, psn=0, **changes):
    entry = {
        "name": "flows", "reporter": "10.0.0.2", "mac": "52:54:00:00:00:01",
        "ip": "10.0.0.1", "qpn": 17, "rkey": 0x1234, "base": "0x3a5f00000000",
        "rows": 2, "words_log2": 16, "first_psn": 0,
    }
    source_mac = "52:54:00:00:00:02"
    entry.update(changes)
    data = bytes.fromhex(key)
    at = offset(entry, row, data)
    return {
        "ledger": entry, "key": key, "row": row, "amount": f"{amount:#x}", "psn": psn,
        "offsets": [offset(entry, n, data) for n in range(entry["rows"] + 1)],
        "length": 8 * (entry["rows"] * 2**entry["words_log2"] + 1),
        "cache": crc(CHECKSUMS[0], data), "offset": at,
        "source_mac": source_mac, "frame": request(entry, source_mac, at, amount, psn).hex(),
        "acknowledged": [answer(entry, source_mac, 0x12, 0x1F, psn).hex(),
                         answer(entry, source_mac, 0x11, 0x00, psn).hex()],
        "not_ready": [answer(entry, source_mac, 0x11, 0x2C, psn).hex()],
        "out_of_sequence": [answer(entry, source_mac, 0x11, 0x60, psn).hex()],
        "refused": [answer(entry, source_mac, 0x11, 0x60 + code, psn).hex()
                    for code in range(1, 5)],
    }


def vectors():
    # Each number of rows, each of its rows, and the total.
    for rows in range(1, 9):
        for row in range(rows + 1):
            yield vector(rows=rows, row=row)
    for log2 in range(4, 29):
        yield vector(words_log2=log2, row=1)
    source = random.Random(35)
    for length in range(1, 65):
        yield vector(source.randbytes(length).hex(), row=length % 3, psn=length)
    for amount in (1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1):
        yield vector(amount=amount)
    # PSNs, queue pairs and addresses of all widths.
    for psn in (1, 0x800000, 0xFFFFFF):
        yield vector(psn=psn)
    for qpn in (2, 1023, 1024, 0xFFFFFF):
        yield vector(qpn=qpn)
    for base in ("0x8", "0xfffffffffff00000"):
        yield vector(base=base, rows=1, words_log2=4)


if __name__ == "__main__":
    print("[\n" + ",\n".join(map(json.dumps, vectors())) + "\n]")
