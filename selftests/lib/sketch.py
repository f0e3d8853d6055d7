#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A model of the memory of a sketch, from the text of <dart/sketch.h> alone.

sketch.py memory SKETCH
    Prints the memory of a sketch of dartd on this host in base64.
sketch.py same MEMORY EXPORT PART FLOWS SUMMARY...
    Is part PART of MEMORY, in base64, what the runs of 'dart-report --json --sketch' with these
    SUMMARYs, of one period each, say of as many uniform flows of seed 0 as FLOWS has lines, each
    with the arguments for a key?  Each strip of the last run is exact, or a hole: zeros, or a strip
    of an earlier run.  Prints the number of holes.
"""

import base64
import json
import os
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../vectors"))
import generate_strips  # noqa: E402
from generate import ETHERNET, crc  # noqa: E402
from ledger import key_of, packets_of, read_memory  # noqa: E402

# Of hundreds of strips; the golden vectors have the slow one.
generate_strips.crc = lambda low, data: zlib.crc32(data) if low == ETHERNET else crc(low, data)


def memory(name):
    print(base64.b64encode(read_memory("sketch", name)).decode())


def strips_of(numbers, keys, summary):
    """The period of a run, and all strips of its bank."""
    period = summary["first_period"]
    if summary["periods"] != 1 or summary["lost"]:
        sys.exit(f"the run was not of one period: {summary}")
    amounts = [(key, packets_of(i, len(keys), summary["packets"])) for i, key in enumerate(keys)]
    counters = generate_strips.count(numbers, amounts)
    return period, [generate_strips.strip(numbers, period, i, counters)
                    for i in range(2**numbers["columns_log2"] // 16)]


def same(memory_path, export, part, flows, *summaries):
    with open(memory_path, encoding="ascii") as file:
        content = base64.b64decode(file.read())
    with open(export, encoding="ascii") as file:
        numbers = json.load(file)["sketches"][0]
    with open(flows, encoding="ascii") as file:
        keys = [key_of(line) for line in file]
    length = 12 + 64 * numbers["rows"]
    part_length = 2 * length * 2**numbers["columns_log2"] // 16
    content = content[int(part) * part_length:][:part_length]
    earlier = [{bytes(length)} for _ in range(2**numbers["columns_log2"] // 16)]
    for path in summaries:
        with open(path, encoding="ascii") as file:
            period, strips = strips_of(numbers, keys, json.load(file)["sketch"])
        holes = 0
        for i, strip in enumerate(strips):
            at = generate_strips.offset(numbers, period, i)
            found = content[at:at + length]
            if found == strip:
                continue
            # A later run may have overwritten it.
            if path == summaries[-1] and found not in earlier[i]:
                sys.exit(f"strip {i} of period {period} is {found.hex()}, not {strip.hex()}")
            holes += 1
        for before, strip in zip(earlier, strips):
            before.add(strip)
    print(holes)


if __name__ == "__main__":
    {"memory": memory, "same": same}[sys.argv[1]](*sys.argv[2:])
