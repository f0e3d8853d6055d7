#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A switch that gathers postcards: its reports, byte by byte, against <dart/postcard.h>."""

import json
import random
import struct
import sys

from needs import TREE

sys.path.append(str(TREE / "selftests/lib"))

# pylint: disable=wrong-import-position
import gathering
import generate
import generate_postcards
import packets
import tap
from responder import FIRST, QueuePair, asks
from switch import BATCH, COLLECTORS, OUTCOMES, SILENCE, Switch, entry_of, report

PORT = 5001
HOUR = 3600 * 10**6
ROWS = 8
SOURCE = "2001:db8::1"
KEY = bytes.fromhex(generate_postcards.KEY)
ONE_SLOT = entry_of(redundancy=1)

with open(TREE / "selftests/vectors/postcards.json", encoding="ascii") as vectors:
    VECTORS = json.load(vectors)


def flow_to(port, wide=False):
    if wide:
        return generate.flow(SOURCE, "2001:db8::2", 7, port, 17)
    return generate.flow("10.9.0.1", "10.9.0.2", 7, port, 17)


def frame_of(datagram, wide=False, port=PORT):
    """A frame to the host at port 2 with the datagram."""
    return packets.packet(flow_to(port, wide), datagram)


def postcard(key, hop, hops, value, wide=False):
    return frame_of(generate_postcards.datagram(hop, hops, value, key), wide)


class Translator(Switch):
    def __init__(self):
        super().__init__("translator")

    def gather(self, rows=ROWS, age=HOUR):
        self.do("table_set_default postcards_translation postcards_gather", PORT, rows - 1, age)

    def begin(self, entry=ONE_SLOT, all_copies=False, rows=ROWS):
        """No row is in use, and one collector has all shares."""
        for name in ("key", "reported", "hand", "incomplete", "turn"):
            self.do("register_reset", f"postcards_{name}")
        self.collect({3: entry}, {share: 3 for share in range(1024)}, all_copies)
        self.gather(rows)
        self.outcomes()

    def outcomes(self):
        return self.changes("dart_packets", OUTCOMES + ("gathered", "roomless"))

    def tell(self, *frames):
        """The reports that lead to the collector; nothing else leaves."""
        got = self.send(*frames)
        tap.same({**got, COLLECTORS: []}, SILENCE)
        return got[COLLECTORS]


def vector_key(vector):
    return bytes.fromhex(vector["key"])


def golden():
    """golden postcards are taken, and others are forwarded as they came"""
    switch.begin(rows=1)
    for vector in VECTORS:
        if vector["kind"] not in ("postcard", "refused"):
            continue
        for wide in (False, True):
            frame = frame_of(bytes.fromhex(vector["datagram"]), wide)
            taken = vector["kind"] == "postcard" and vector["hops"] <= gathering.PLACES
            got = switch.send(frame)
            tap.same(got[2], [] if taken else [frame], vector["what"])
            outcomes = switch.outcomes()
            if taken:
                tap.same(outcomes.get("gathered", 0) + outcomes.get("report", 0), 1)
            elif vector["kind"] == "postcard":
                tap.same(outcomes, {"roomless": 1})
            else:
                tap.same(outcomes, {"malformed": 1}, vector["what"])


def values():
    """incomplete paths have the golden values, and complete ones, too"""
    for vector in VECTORS:
        if vector["kind"] != "value" or vector["length"] != 4 * gathering.PLACES:
            continue
        known = sorted((int(hop), value) for hop, value in vector["known"].items())
        switch.begin(rows=1)
        got = switch.tell(*[postcard(KEY, hop, vector["hops"], value) for hop, value in known])
        # Another path needs the row.
        got += switch.tell(postcard(b"other", 0, 2, 1))
        tap.same(got, [report(ONE_SLOT, KEY, bytes.fromhex(vector["value"]))])


def key_of(number):
    """Keys of all lengths."""
    return random.Random(number).randbytes(1 + number % 64)


def dealt(dice, flows):
    """A postcard of one of @flows, most of which have one path."""
    flow = dice.randrange(flows)
    hops = 1 + flow % 5
    if not dice.randrange(40):
        hops = 1 + dice.randrange(5)
    hop = dice.randrange(hops)
    return key_of(flow), hop, hops, 1 + 8 * flow + hop + (not dice.randrange(40))


def check_report(entry, due, frames, number, all_copies):
    """Are the frames those of the report @due, number @number of the collector?"""
    key, value, turn = due
    if turn is not None:
        tap.same(frames, [report(entry, key, value, turn % entry["redundancy"], number)])
    elif all_copies:
        tap.same(frames, [report(entry, key, value, copy, number + copy)
                          for copy in range(entry["redundancy"])])
    else:
        frame, = frames
        assert frame in [report(entry, key, value, copy, number)
                         for copy in range(entry["redundancy"])], frame.hex()


def model():
    """random postcards lead to the reports of a model, for each redundancy and width of checksums"""
    for redundancy in range(1, 9):
        entry = entry_of(redundancy=redundancy, checksum_bits=(8, 16, 32, 64)[redundancy % 4])
        all_copies = redundancy % 2 == 0
        switch.begin(entry, all_copies)
        translator = gathering.Translator(ROWS)
        dice = random.Random(redundancy)
        number, reports = 0, 0
        for _ in range(60):
            one = dealt(dice, 3 * ROWS)
            due = translator.take(*one)
            frames = switch.tell(postcard(*one, wide=dice.random() < 0.5))
            if due:
                check_report(entry, due, frames, number, all_copies)
                reports += 1
            else:
                tap.same(frames, [])
            number += len(frames)
        tap.same(switch.outcomes(), {"report": reports, "gathered": 60 - reports})
        assert 10 < reports < 60 and translator.incomplete > 5, (reports, translator.incomplete)
        tap.same(switch.register("postcards_incomplete", 0), translator.incomplete)


def disturbed(dice, path_count):
    """The postcards of as many paths; the network loses, repeats and delays one of 100 each."""
    told = [(key_of(number), hop, 1 + number % 5, 8 * number + hop + 1)
            for number in range(path_count) for hop in range(1 + number % 5)]
    at = []
    for place, one in enumerate(told):
        fate = dice.randrange(100)
        if fate == 1:
            at.append((place, one))
        if fate != 0:
            at.append((place + (dice.randrange(200) if fate == 2 else 0), one))
    return [one for _, one in sorted(at, key=lambda pair: pair[0])]


def many():
    """10,000 postcards of which some get lost, come twice and late make paths that are never mixed"""
    rows = 64
    switch.begin(rows=rows)
    translator = gathering.Translator(rows)
    work = disturbed(random.Random(5), 3400)
    assert len(work) > 10000, len(work)
    number = complete = 0
    for start in range(0, len(work), BATCH):
        some = work[start:start + BATCH]
        due = [one for one in (translator.take(*each) for each in some) if one]
        tap.same(switch.tell(*[postcard(*each) for each in some]),
                 [report(ONE_SLOT, key, value, 0, number + i)
                  for i, (key, value, _) in enumerate(due)])
        number += len(due)
        complete += sum(turn is None for _, _, turn in due)
        for key, value, _ in due:
            for hop, there in enumerate(struct.unpack(">5I", value)):
                assert there in (0, 2**32 - 1) or (
                    (there - 1) % 8 == hop and key_of(there // 8) == key), (key, value)
    tap.note(f"{len(work)} postcards: {complete} complete paths, {number - complete} incomplete")
    assert complete > 2500 and number - complete > 50


def turns():
    """the slots of incomplete paths come in turn after any number of them"""
    for redundancy in range(1, 9):
        for before in (0, 411, 838, 839):
            entry = entry_of(redundancy=redundancy)
            switch.begin(entry, rows=1)
            switch.do("register_write postcards_turn", 0, before)
            got = switch.tell(*[postcard(KEY, 0, 2, value) for value in range(1, 5)])
            tap.same(got, [report(entry, KEY, generate_postcards.value_of(2, {0: 1 + i}, 20),
                                  (before + i) % 840 % redundancy, i) for i in range(3)])


def ages():
    """any packets report the paths that have waited, and free their rows"""
    switch.begin()
    translator = gathering.Translator(ROWS)
    waiting = [(key_of(number), 0, 2, 1 + number) for number in range(64, 84)]
    sent = []
    for one in waiting:
        due = translator.take(*one)
        sent += switch.tell(postcard(*one))
        tap.same(len(sent), translator.incomplete, str(due))
    switch.do("register_write postcards_hand", 0, ROWS - 1)
    switch.gather(age=1000)
    got = []
    rest = translator.rest()
    assert len(rest) > 3
    while len(got) < len(rest):
        got += switch.settle()[COLLECTORS]
    tap.same(got, [report(ONE_SLOT, key, value, 0, len(sent) + i)
                   for i, (key, value, _) in enumerate(rest)])
    # A row that was reported is free: the same postcard begins it again.
    switch.gather()
    tap.same(switch.tell(postcard(KEY, 0, 2, 5)), [])
    tap.same(len(switch.tell(postcard(KEY, 0, 2, 6))), 1)


def others():
    """packets that are no postcards are forwarded, and counted by their fault"""
    switch.begin()
    good = postcard(KEY, 0, 5, 1)
    damaged = good[:24] + bytes([good[24] ^ 1]) + good[25:]
    cut = good[:-1]
    short = good[:14 + 20 + 8 + 3]
    elsewhere = frame_of(generate_postcards.datagram(0, 5, 1, KEY), port=PORT + 1)
    plain = packets.packet(generate.flow("10.1.0.2", "10.3.1.3", 1, PORT, 6))
    frames = [damaged, cut, short, elsewhere, plain]
    tap.same(switch.send(*frames), {**SILENCE, 2: frames})
    tap.same(switch.outcomes(), {"damaged": 1, "truncated": 2, "other": 2})
    tagged = packets.with_tags(good, "8100 0005")
    tap.same(switch.tell(tagged), [])
    tap.same(switch.outcomes(), {"gathered": 1})
    thrice = packets.with_tags(tagged, "88a8 0007 8100 0008")
    tap.same(switch.send(thrice), {**SILENCE, 2: [thrice]})
    tap.same(switch.outcomes(), {"tagged": 1})


def unset():
    """without a translation all packets are forwarded, and without a collector paths are lost"""
    switch.begin()
    switch.do("table_set_default postcards_translation NoAction")
    frame = postcard(KEY, 0, 1, 7)
    tap.same(switch.send(frame), {**SILENCE, 2: [frame]})
    switch.gather()
    switch.do("table_clear dart_share")
    switch.outcomes()
    tap.same(switch.tell(frame), [])
    tap.same(switch.outcomes(), {"unassigned": 1})


def reliable():
    """paths arrive over a reliable connection, whose answers the switch takes"""
    pair = QueuePair(entry_of(first_psn=FIRST))
    switch.begin(pair.entry)
    arrived = []
    for number in range(20):
        key = key_of(number)
        for frame in switch.tell(postcard(key, 0, 1, 7)):
            queue = [frame]
            while queue:
                frame = queue.pop(0)
                tap.same(frame[42], 0x0A, "opcode")
                answers = pair.take(frame)
                if not asks(frame):
                    arrived.append(frame[70:94])
                if answers:
                    queue += switch.send(*answers, source=COLLECTORS)[COLLECTORS]
    tap.same(pair.arrived, pair.sent)
    tap.same(arrived, [generate.checksum_of(key_of(number), 32).to_bytes(4, "big") +
                       generate_postcards.value_of(1, {0: 7}, 20) for number in range(20)])
    assert switch.outcomes()["answer"] >= 1


switch = Translator()
tap.run(golden, values, model, many, turns, ages, others, unset, reliable)
