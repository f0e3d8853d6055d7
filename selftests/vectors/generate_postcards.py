#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints golden vectors of postcards: datagrams, values of reports, and merged values.

This is a second implementation of <dart/postcard.h>, from its text alone.
"""

import json
import random

KEY = "0a0100020a030103c00001bb06"
NO_HOP = 2**32 - 1


def datagram(hop, hops, value, key, version=1, length=None):
    return (bytes([version, len(key) if length is None else length, hop, hops]) +
            value.to_bytes(4, "big") + key)


def taken(what, data):
    """A vector of a datagram that is a postcard"""
    return {"kind": "postcard", "datagram": data.hex(), "key": data[8:].hex(), "hop": data[2],
            "hops": data[3], "value": int.from_bytes(data[4:8], "big"), "what": what}


def refused(what, data):
    return {"kind": "refused", "datagram": data.hex(), "what": what}


def datagrams():
    key = bytes.fromhex(KEY)
    good = datagram(2, 5, 7, key)
    yield taken("the example", good)
    yield taken("the shortest key", datagram(0, 1, 1, b"k"))
    yield taken("the longest key", datagram(15, 16, NO_HOP - 1, bytes(range(64))))
    yield refused("no bytes", b"")
    yield refused("no key", datagram(2, 5, 7, b""))
    yield refused("a longer key", datagram(2, 5, 7, bytes(65)))
    yield refused("a key that is cut", good[:-1])
    yield refused("bytes after the key", good + b"\0")
    yield refused("another version", datagram(2, 5, 7, key, version=2))
    yield refused("another length", datagram(2, 5, 7, key, length=12))
    yield refused("a hop after the last one", datagram(5, 5, 7, key))
    yield refused("no hops", datagram(0, 0, 7, key))
    yield refused("too many hops", datagram(0, 17, 7, key))
    yield refused("the value of an unknown hop", datagram(2, 5, 0, key))
    yield refused("the value after the last hop", datagram(2, 5, NO_HOP, key))
    for cut in range(8):
        yield refused("a header that is cut", good[:cut])


def value_of(hops, known, length):
    """The value of a report: @known are {hop: value}"""
    places = [known.get(hop, 0) if hop < hops else NO_HOP for hop in range(length // 4)]
    return b"".join(place.to_bytes(4, "big") for place in places) + bytes(length % 4)


def values():
    yield {"kind": "value", "length": 24, "hops": 5, "known": {"1": 6, "2": 7, "3": 8},
           "value": value_of(5, {1: 6, 2: 7, 3: 8}, 24).hex()}
    for length in (4, 7, 20, 22, 63, 64):
        for hops in {1, length // 4}:
            known = {hop: random.randrange(1, NO_HOP)
                     for hop in range(hops) if hop == 0 or random.random() < 0.6}
            yield {"kind": "value", "length": length, "hops": hops,
                   "known": {str(hop): value for hop, value in known.items()},
                   "value": value_of(hops, known, length).hex()}


def merged(slots):
    """The union, or None if two values contradict each other"""
    union = bytes(len(slots[0]))
    for slot in slots:
        parts = []
        for at in range(0, len(slot), 4):
            known, more = union[at:at + 4], slot[at:at + 4]
            if any(known) and any(more) and known != more:
                return None
            parts.append(more if any(more) else known)
        union = b"".join(parts)
    return union


def merges():
    for number in range(60):
        length = random.choice((4, 8, 20, 22, 64))
        hops = random.randint(1, length // 4)
        path = [random.randrange(1, NO_HOP) for _ in range(hops)]
        slots = []
        for _ in range(random.randint(1, 4)):
            known = {hop: path[hop] for hop in range(hops) if random.random() < 0.5}
            if number % 3 == 0 and random.random() < 0.5:
                known[random.randrange(hops)] = random.randrange(1, NO_HOP)
            slots.append(value_of(hops, known, length))
        union = merged(slots)
        yield {"kind": "merge", "length": length, "slots": [slot.hex() for slot in slots],
               "value": union.hex() if union is not None else None}


def main():
    random.seed(17)
    vectors = [*datagrams(), *values(), *merges()]
    print("[" + ",\n".join(json.dumps(vector) for vector in vectors) + "]")


if __name__ == "__main__":
    main()
