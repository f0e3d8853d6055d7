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
sketch.py summed MEMORY EXPORT PART FLOWS SUMMARY...
    Is part PART, of a translator, what the runs of all its sketchers in one period say?  Each strip
    is zeros, or the sum of as many sketchers as it has reporters, whichever these are.  Prints the
    number of strips that are zeros, and of strips that lack sketchers.
"""

import base64
import itertools
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../vectors"))
import generate_strips  # noqa: E402
import merging  # noqa: E402
from ledger import key_of, packets_of, read_memory  # noqa: E402


def memory(name):
    print(base64.b64encode(read_memory("sketch", name)).decode())


def counters_of(numbers, keys, summary):
    """The period of a run, and all counters of its bank."""
    if summary["periods"] != 1 or summary["lost"]:
        sys.exit(f"the run was not of one period: {summary}")
    amounts = [(key, packets_of(i, len(keys), summary["packets"])) for i, key in enumerate(keys)]
    return summary["first_period"], generate_strips.count(numbers, amounts)


def strips_of(numbers, keys, summary):
    """The period of a run, and all strips of its bank."""
    period, counters = counters_of(numbers, keys, summary)
    return period, [generate_strips.strip(numbers, period, i, counters)
                    for i in range(2**numbers["columns_log2"] // 16)]


def read_part(memory_path, export, part, flows):
    """The numbers of a sketch, the keys of all flows, and the content of a part."""
    with open(memory_path, encoding="ascii") as file:
        content = base64.b64decode(file.read())
    with open(export, encoding="ascii") as file:
        numbers = json.load(file)["sketches"][0]
    with open(flows, encoding="ascii") as file:
        keys = [key_of(line) for line in file]
    part_length = 2 * (12 + 64 * numbers["rows"]) * 2**numbers["columns_log2"] // 16
    return numbers, keys, content[int(part) * part_length:][:part_length]


def same(memory_path, export, part, flows, *summaries):
    numbers, keys, content = read_part(memory_path, export, part, flows)
    length = 12 + 64 * numbers["rows"]
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


def sum_of(numbers, runs):
    """The counters of all runs together."""
    counters = {}
    for run in runs:
        for place, value in run.items():
            counters[place] = merging.add(numbers["kind"], counters.get(place, 0), value)
    return counters


def summed(memory_path, export, part, flows, *summaries):
    numbers, keys, content = read_part(memory_path, export, part, flows)
    length = 12 + 64 * numbers["rows"]
    runs = []
    for path in summaries:
        with open(path, encoding="ascii") as file:
            runs.append(counters_of(numbers, keys, json.load(file)["sketch"]))
    if len({period for period, _ in runs}) != 1:
        sys.exit("the runs are of several periods")
    period = runs[0][0]
    # By the number of reporters: the sums of all sketchers that can be meant.
    sums = [[sum_of(numbers, some)
             for some in itertools.combinations([counters for _, counters in runs], count)]
            for count in range(len(runs) + 1)]
    missing = fewer = 0
    for i in range(2**numbers["columns_log2"] // 16):
        at = generate_strips.offset(numbers, period, i)
        found = content[at:at + length]
        reporters = int.from_bytes(found[4:6], "big")
        if found == bytes(length):
            missing += 1
        elif reporters > len(runs) or found not in (
                generate_strips.strip(numbers, period, i, each, reporters)
                for each in sums[reporters]):
            sys.exit(f"strip {i} of period {period} is {found.hex()}, no sum of {reporters}")
        elif reporters < len(runs):
            fewer += 1
    print(missing, fewer)


if __name__ == "__main__":
    {"memory": memory, "same": same, "summed": summed}[sys.argv[1]](*sys.argv[2:])
