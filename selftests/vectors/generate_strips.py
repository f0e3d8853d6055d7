#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints golden vectors of sketches: strips of counters, their places, and their frames.

This is a second implementation of <dart/sketch.h>, from its text alone.  With the argument example
it prints the strip in the comment of the header.
"""

import json
import sys

from generate import ETHERNET, SLOTS, crc, roce_frame

COUNT_MIN, COUNT_SKETCH = "count-min", "count-sketch"


def add(kind, counter, amount):
    """The counter after an amount, which may be negative, or after another counter."""
    if kind == COUNT_MIN:
        return min(counter + amount, 2**32 - 1)
    last = 2**31 - 1
    return counter if abs(counter) >= last else max(-last, min(last, counter + amount))


def places(geometry, key):
    """The column of a key in each row, and the sign that its amounts have there."""
    crcs = [crc(SLOTS[row], key) for row in range(geometry["rows"])]
    return [(each % 2**geometry["columns_log2"],
             -1 if geometry["kind"] == COUNT_SKETCH and each >> 31 else 1) for each in crcs]


def count(geometry, amounts):
    """The counters of a bank, {(column, row): value}, after amounts of keys."""
    counters = {}
    for key, amount in amounts:
        for row, (column, sign) in enumerate(places(geometry, key)):
            value = counters.get((column, row), 0)
            counters[column, row] = add(geometry["kind"], value, sign * amount)
    return counters


def strip(geometry, period, number, counters, reporters=1):
    words = [counters.get((16 * number + i, row), 0) % 2**32
             for i in range(16) for row in range(geometry["rows"])]
    rest = (period.to_bytes(4, "big") + reporters.to_bytes(2, "big") +
            number.to_bytes(2, "big") + b"".join(word.to_bytes(4, "big") for word in words))
    return rest + crc(ETHERNET, rest).to_bytes(4, "big")


def offset(geometry, period, number):
    strips = 2**geometry["columns_log2"] // 16
    return (period % 2 * strips + number) * (12 + 64 * geometry["rows"])


def frame(entry, source_mac, period, number, content, psn):
    address = int(entry["base"], 16) + offset(entry, period, number)
    bth = (bytes([0x2A, 0x40]) + b"\xff\xff" + entry["qpn"].to_bytes(4, "big") +
           psn.to_bytes(4, "big"))
    reth = (address.to_bytes(8, "big") + entry["rkey"].to_bytes(4, "big") +
            len(content).to_bytes(4, "big"))
    return roce_frame((source_mac, entry["reporter"]), (entry["mac"], entry["ip"]),
                      0xC000 + number % 1024, bth + reth + content)


def vector(amounts, now=170000000, psn=0, **changes):
    """A strip of period @now, after amounts of keys."""
    entry = {
        "name": "flows", "reporter": "10.0.0.2", "mac": "52:54:00:00:00:01",
        "ip": "10.0.0.1", "qpn": 17, "rkey": 0x1234, "base": "0x3a5f00000000",
        "kind": COUNT_MIN, "rows": 4, "columns_log2": 8, "period": 10, "first_psn": 0,
    }
    source_mac = "52:54:00:00:00:02"
    entry.update(changes)
    # The strip with the first key in the last row.
    number = places(entry, amounts[0][0])[-1][0] // 16
    content = strip(entry, now, number, count(entry, amounts))
    return {
        "sketch": entry, "since": now * entry["period"], "now": now, "number": number,
        "amounts": [[key.hex(), amount] for key, amount in amounts],
        "offset": offset(entry, now, number), "strip": content.hex(),
        "source_mac": source_mac, "psn": psn,
        "frame": frame(entry, source_mac, now, number, content, psn).hex(),
    }


def keys(number, length):
    return [bytes((i * 31 + j * 7 + i // 8) % 256 for j in range(length)) for i in range(number)]


def vectors():
    for kind in (COUNT_MIN, COUNT_SKETCH):
        # Keys of each length, and amounts that differ.
        for length in (1, 4, 13, 37, 64):
            yield vector([(key, i + 1) for i, key in enumerate(keys(40, length))], kind=kind)
        # Each number of rows, with each of some numbers of columns.
        for rows in range(1, 9):
            for log2 in (4, 5, 8, 16, 20):
                yield vector([(key, 3) for key in keys(20, 13)], kind=kind, rows=rows,
                             columns_log2=log2)
        # Counters that reach their last value, go beyond it, and would come back.
        for last in (2**31 - 2, 2**31 - 1, 2**32 - 2, 2**32 - 1):
            amount = last if kind == COUNT_MIN else min(last, 2**31 - 1)
            yield vector([(b"saturated", amount), (b"saturated", 1), (b"saturated", 5)],
                         kind=kind, rows=2)
            yield vector([(b"a", amount)] + [(key, amount) for key in keys(40, 2)] +
                         [(key, 1) for key in keys(40, 3)], kind=kind, columns_log2=4)
        # Banks, and periods of all widths and lengths.
        for period in (1, 2, 0xFFFF, 0x10000, 2**31, 2**32 - 2):
            yield vector([(b"key", 1)], period, kind=kind, period=1)
        for length in (1, 3600):
            yield vector([(b"key", 1)], 400000, kind=kind, period=length)
    for psn in (1, 0x800000, 0xFFFFFF):
        yield vector([(b"key", 1)], psn=psn)


def example():
    """The strip in the comment of the header."""
    return strip({"rows": 1}, 170000000, 1, {(16 + i, 0): i + 1 for i in range(16)})


if __name__ == "__main__":
    if sys.argv[1:] == ["example"]:
        print(example().hex())
    else:
        print("[\n" + ",\n".join(map(json.dumps, vectors())) + "\n]")
