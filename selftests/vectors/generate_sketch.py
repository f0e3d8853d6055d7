#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Prints golden vectors: packets, the counters that they leave, and reported keys.

This is a second implementation of <dart/tea_sketch.h>, from its text alone.
"""

import collections
import json
import random

from generate import crc, flow
from generate_tea import ROW_0, ROW_1

HIGHEST = 65535


def slots_of(key):
    row_0, row_1 = crc(ROW_0, key), crc(ROW_1, key)
    return row_0 % 65536, row_0 >> 16, row_1 % 65536, row_1 >> 16


def vector(keys, packets, threshold, before=()):
    """@packets: numbers of keys; @before: counters [row, slot, value] at first."""
    counters = collections.Counter({(row, slot): value
                                    for row, slot, value in before})
    bits, reported = set(), []
    for number, packet in enumerate(packets):
        places = list(enumerate(slots_of(keys[packet])))
        for place in places:
            counters[place] = min(counters[place] + 1, HIGHEST)
        estimate = min(counters[place] for place in places)
        if threshold and estimate >= threshold:
            marks = {(0, places[1][1]), (1, places[2][1])}
            if not marks <= bits:
                reported.append(number)
            bits |= marks
    return {"threshold": threshold, "keys": [key.hex() for key in keys],
            "before": list(before), "packets": packets, "reported": reported,
            "counters": sorted([*place, count]
                               for place, count in counters.items()),
            "bits": sorted(map(list, bits))}


def alike(keys, place):
    """Two of @keys that share the counter of a row."""
    seen = {}
    for key in keys:
        other = seen.setdefault(slots_of(key)[place], key)
        if other != key:
            return other, key
    raise ValueError("no two keys are alike")


def vectors():
    dice = random.Random(4)
    keys = [flow(f"10.0.{n % 4}.{n}", "192.0.2.1", 1000 + n, 80, 6 if n % 3
                 else 17) for n in range(24)]
    skewed = dice.choices(range(24), [1 / (n + 1) for n in range(24)], k=300)
    for threshold in (0, 1, 8, 1000):
        yield vector(keys, skewed, threshold)
    # Keys that share one counter.
    many = [flow(dice.randbytes(4), dice.randbytes(4), dice.randrange(65536),
                 dice.randrange(65536), 17) for _ in range(2000)]
    for place in range(4):
        yield vector(alike(many, place), [0, 0, 1, 0, 1, 1, 1, 0, 1], 4)
    # Counters stay at the highest value; the lowest one decides.
    slots = slots_of(keys[0])
    for values in ((65534, 65535, 65533, 65535), (65535,) * 4,
                   (9, 65535, 65535, 65535)):
        yield vector(keys[:1], [0] * 3, 11,
                     [[row, slots[row], value]
                      for row, value in enumerate(values)])
    yield vector(keys[:1], [0] * 3, HIGHEST,
                 [[row, slot, 65533] for row, slot in enumerate(slots)])


if __name__ == "__main__":
    print("[\n" + ",\n".join(map(json.dumps, vectors())) + "\n]")
