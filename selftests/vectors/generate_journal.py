#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints golden vectors of journals: batches, their places, and the frames that carry them.

This is a second implementation of <dart/journal.h>, from its text alone.
"""

import json

from generate import ETHERNET, crc, roce_frame


def capacity(geometry):
    return min((2**geometry["batch_log2"] - 16) // geometry["entry_length"], 255)


def batch(geometry, sequence, start, entries):
    head = (sequence.to_bytes(4, "big") + start.to_bytes(6, "big") +
            bytes([len(entries), geometry["entry_length"]]))
    rest = (head + b"".join(entries)).ljust(2**geometry["batch_log2"] - 4, b"\0")
    return rest + crc(ETHERNET, rest).to_bytes(4, "big")


def place(geometry, sequence):
    return (sequence - 1) % 2**geometry["batches_log2"]


def offset(geometry, list_number, sequence):
    return ((list_number * 2**geometry["batches_log2"] + place(geometry, sequence)) *
            2**geometry["batch_log2"])


def frame(entry, source_mac, list_number, sequence, content, psn):
    address = int(entry["base"], 16) + offset(entry, list_number, sequence)
    bth = (bytes([0x2A, 0x40]) + b"\xff\xff" + entry["qpn"].to_bytes(4, "big") +
           psn.to_bytes(4, "big"))
    reth = (address.to_bytes(8, "big") + entry["rkey"].to_bytes(4, "big") +
            len(content).to_bytes(4, "big"))
    return roce_frame((source_mac, entry["reporter"]), (entry["mac"], entry["ip"]),
                      0xC000 + list_number % 1024, bth + reth + content)


def vector(sequence, count, list_number=0, start=0x6553F1008000, psn=0, **changes):
    entry = {
        "name": "events", "reporter": "10.0.0.2", "mac": "52:54:00:00:00:01",
        "ip": "10.0.0.1", "qpn": 17, "rkey": 0x1234, "base": "0x3a5f00000000",
        "lists_log2": 0, "batches_log2": 4, "batch_log2": 6, "entry_length": 4,
        "first_psn": 0,
    }
    source_mac = "52:54:00:00:00:02"
    entry.update(changes)
    length = entry["entry_length"]
    entries = [bytes((i * 7 + j) % 255 + 1 for j in range(length)) for i in range(count)]
    content = batch(entry, sequence, start, entries)
    return {
        "journal": entry, "list": list_number, "sequence": sequence, "start": start,
        "count": count, "capacity": capacity(entry), "place": place(entry, sequence),
        "entries": b"".join(entries).hex(), "batch": content.hex(),
        "source_mac": source_mac, "psn": psn,
        "frame": frame(entry, source_mac, list_number, sequence, content, psn).hex(),
    }


def vectors():
    # Each count of the smallest batch, and the places of two laps.
    for count in range(1, 13):
        yield vector(1, count)
    for sequence in range(1, 34):
        yield vector(sequence, 12)
    # Each length of a batch, with each of some lengths of entries, full and with one entry.
    for log2 in range(6, 11):
        for length in (1, 2, 4, 7, 8, 16, 41, 48, 63, 64):
            most = capacity({"batch_log2": log2, "entry_length": length})
            for count in sorted({1, most} - {0}) if most else ():
                yield vector(3, count, batch_log2=log2, entry_length=length)
    # Rings of other sizes, and the last sequence.
    for log2 in (1, 2, 10, 20):
        for sequence in (1, 2, 3, 2**log2, 2**log2 + 1, 2**32 - 1):
            yield vector(sequence, 3, batches_log2=log2)
    # Lists, whose UDP ports repeat.
    for number in (0, 1, 1023, 1024, 65535):
        yield vector(17, 2, number, lists_log2=16)
    # Starts and PSNs of all widths.
    for start in (1, 0xFFFF, 0x10000, 2**48 - 1):
        yield vector(1, 1, start=start)
    for psn in (1, 0x800000, 0xFFFFFF):
        yield vector(1, 1, psn=psn)


if __name__ == "__main__":
    print("[\n" + ",\n".join(map(json.dumps, vectors())) + "\n]")
