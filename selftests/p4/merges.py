#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A switch that adds up strips of sketchers: its WRITEs, byte by byte, against <dart/sketch.h>."""

import ipaddress
import random
import sys

from needs import TREE

sys.path.append(str(TREE / "selftests/lib"))

# pylint: disable=wrong-import-position
import generate
import generate_strips
import merging
import packets
import tap
from switch import BATCH, COLLECTORS, SILENCE, Running

HOUR = 3600 * 10**6
MAC = "02:00:0a:4e:00:09"
SKETCHER_MAC = "02:00:00:00:00:01"
OWN = "10.78.0.9"
COLLECTOR = packets.host(2)  # forwarded frames leave there, sums by COLLECTORS
KINDS = (generate_strips.COUNT_MIN, generate_strips.COUNT_SKETCH)
OUTCOMES = ("other", "gathered", "written", "stale", "truncated", "malformed", "damaged")
PSNS = 2**24


class Merger(Running):
    """Session n + 1 leads to port n, as in the superclass."""

    def __init__(self):
        super().__init__("merger")

    def set_translator(self, age, forget=HOUR):
        kind = KINDS.index(self.entries[0]["kind"])
        self.do("table_set_default merge_translator merge_translator_is", MAC, OWN, kind,
                2**self.sketchers - 1, age, forget, 0)

    def begin(self, sketchers, age=HOUR, **geometry):
        """A sketch with the part of the switch, and those of @sketchers."""
        numbers = {"name": "flows", "mac": COLLECTOR, "ip": "10.78.0.2", "epoch": 1000,
                   "first_psn": PSNS - 2, "kind": KINDS[0], "rows": 4, "columns_log2": 6,
                   "period": 10, **geometry}
        self.sketchers = sketchers
        addresses = [f"10.78.0.{100 + i}" for i in range(sketchers)]
        self.entries = [{**numbers, "reporter": address, "qpn": 0x111 + i, "rkey": 0x1234 + i,
                         "base": hex(0x3A5F00000000 + (i << 20))}
                        for i, address in enumerate([*addresses, OWN])]
        own = self.entries[-1]
        self.strips = 2**own["columns_log2"] // 16
        self.model = merging.Translator(own, MAC, sketchers)
        for name in ("period", "reporters", "written", "sketchers", "begun", "since", "hand"):
            self.do("register_reset", f"merge_{name}")
        self.do("register_write merge_psn 0", own["first_psn"])
        self.do("table_clear merge_sketcher")
        for number, entry in enumerate(self.entries[:-1]):
            source = int(ipaddress.ip_address(entry["reporter"])) << 24 | entry["qpn"]
            self.do("table_add merge_sketcher merge_sketcher_is", source, "=>", number)
        self.set_translator(age)
        self.do("table_set_default merge_collector merge_write_to", own["mac"], own["ip"],
                own["qpn"], own["rkey"], own["base"], self.strips - 1, 1 + COLLECTORS)
        self.outcomes()

    def outcomes(self):
        return self.changes("merge_packets", OUTCOMES)

    def frame(self, sketcher, period, number, counters, reporters=1, psn=0):
        """The WRITE of a sketcher to its own part."""
        entry = self.entries[sketcher]
        content = generate_strips.strip(entry, period, number, counters, reporters)
        return generate_strips.frame(entry, SKETCHER_MAC, period, number, content, psn)

    def tell(self, sketcher, period, number, counters, reporters=1):
        """Sends a strip: only the frame of the model leaves."""
        answer = self.model.take(sketcher, period, number, counters, reporters)
        expected = [answer] if isinstance(answer, bytes) else []
        got = self.send(self.frame(sketcher, period, number, counters, reporters))
        tap.same(got, {**SILENCE, COLLECTORS: expected})
        return merging.FORWARD if expected else answer

    def dealt(self, dice, number):
        """Counters of a strip, of all magnitudes, some of which are saturated."""
        is_min = self.entries[0]["kind"] == KINDS[0]
        last = ([2**32 - 1, 2**32 - 2] if is_min else
                [2**31 - 1, 1 - 2**31, -2**31, 2**31 - 2])
        values = {}
        for column in range(16 * number, 16 * number + 16):
            for row in range(4):
                value = dice.randrange(1 << dice.choice((1, 8, 16, 30, 31)))
                if not is_min and dice.randrange(2):
                    value = -value
                values[column, row] = value if dice.randrange(20) else dice.choice(last)
        return values


def sums():
    """sums of random strips are those of the model: strips that get lost, come twice or late"""
    for kind in KINDS:
        for log2 in (4, 5, 12):
            switch.begin(3, kind=kind, columns_log2=log2)
            dice = random.Random(f"{kind} {log2}")
            numbers = dice.sample(range(switch.strips), min(switch.strips, 3))
            outcomes = {merging.FORWARD: 0, merging.GATHERED: 0, merging.STALE: 0}
            late = []
            for period in range(170000000, 170000004):
                work = [(sketcher, period, number) for sketcher in range(3) for number in numbers
                        for _ in range(dice.choice((0, 1, 1, 1, 1, 1, 2)))]
                later = [one for one in work if not dice.randrange(8)]
                work = late + [one for one in work if one not in later]
                dice.shuffle(work)
                late = later
                for one in work:
                    outcomes[switch.tell(*one, switch.dealt(dice, one[2]),
                                         dice.choice((1, 1, 2)))] += 1
            tap.same(switch.outcomes(), {name: count for name, count in (
                ("written", outcomes[merging.FORWARD]), ("gathered", outcomes[merging.GATHERED]),
                ("stale", outcomes[merging.STALE])) if count})
            assert outcomes[merging.FORWARD] and outcomes[merging.GATHERED], outcomes


def disturbed(dice, periods):
    """All strips of these periods; the network loses, repeats and delays one of 100 each."""
    at = []
    told = [(sketcher, period, number) for period in periods
            for number in range(switch.strips) for sketcher in range(switch.sketchers)]
    for place, one in enumerate(told):
        fate = dice.randrange(100)
        if fate == 1:
            at.append((place, one))
        if fate != 0:
            at.append((place + (dice.randrange(500) if fate == 2 else 0), one))
    return [one for _, one in sorted(at, key=lambda pair: pair[0])]


def many():
    """10,000 strips of which some get lost, come twice and late make sums that are exact"""
    switch.begin(3, columns_log2=12)
    dice = random.Random(11)
    work = disturbed(dice, range(170000000, 170000014))
    assert len(work) > 10000, len(work)
    strips = {one: {(16 * one[2] + i % 16, i // 16): dice.randrange(1000) for i in range(64)}
              for one in sorted(set(work))}
    sums_written = 0
    for start in range(0, len(work), BATCH):
        some = work[start:start + BATCH]
        answers = [switch.model.take(*one, strips[one]) for one in some]
        expected = [answer for answer in answers if isinstance(answer, bytes)]
        got = switch.send(*[switch.frame(*one, strips[one]) for one in some])
        tap.same(got, {**SILENCE, COLLECTORS: expected})
        sums_written += len(expected)
    found = switch.outcomes()
    tap.same(found["written"], sums_written)
    tap.note(f"{len(work)} strips: {sums_written} sums written, {found['stale']} strips dropped")
    assert sums_written > 3300 and found["stale"] > 50


def late():
    """sums that have waited are written with any packets, and again when the last strip comes"""
    switch.begin(2)
    for period in (6, 7):
        for number in range(switch.strips):
            tap.same(switch.tell(0, period, number, {(16 * number, 0): 5 + number}),
                     merging.GATHERED)
    waiting = switch.model.rest()
    tap.same(len(waiting), 2 * switch.strips)
    switch.do("register_write merge_hand 0", 256 + switch.strips - 1)
    switch.set_translator(1000)
    got = []
    while len(got) < len(waiting):
        got += switch.settle()[COLLECTORS]
    tap.same(got, waiting)
    tap.same(switch.settle(), SILENCE)
    switch.set_translator(HOUR)
    tap.same(switch.tell(1, 7, 0, {(0, 0): 6, (3, 2): 1}), merging.FORWARD)


def reporters():
    """the sum of reporters stays at its last value"""
    switch.begin(2)
    switch.tell(0, 7, 0, {(0, 0): 1}, 0xFFFE)
    tap.same(switch.tell(1, 7, 0, {(0, 0): 1}, 3), merging.FORWARD)


def forgets():
    """a period in the future blocks its place for the time to forget only"""
    switch.begin(1)
    switch.tell(0, 2**32 - 1, 0, {(0, 0): 1})
    tap.same(switch.tell(0, 7, 0, {(0, 0): 2}), merging.STALE)
    del switch.model.sums[1, 0]
    switch.set_translator(HOUR, 0)
    tap.same(switch.tell(0, 7, 0, {(0, 0): 2}), merging.FORWARD)


def passes(frame, outcome):
    """A frame is forwarded as it came, and counted so."""
    tap.same(switch.send(frame), {**SILENCE, 2: [frame]}, outcome)
    tap.same(switch.outcomes(), {outcome: 1}, frame.hex())


def damaged():
    """each wrong bit that the ICRC covers makes the switch forward the strip as it came"""
    switch.begin(2)
    one = {(0, 0): 5}
    frame = switch.frame(0, 7, 0, one)
    tap.same(switch.tell(0, 7, 0, one), merging.GATHERED)
    switch.outcomes()
    # Not the fields that routers change, nor the Ethernet header.
    masked = (15, 22, 24, 25, 40, 41, 46)
    frames = []
    for at in [*range(14, 100), *range(100, len(frame), 7), *range(len(frame) - 4, len(frame))]:
        if at not in masked:
            bad = bytearray(frame)
            bad[at] ^= 0x40
            frames.append(bytes(bad))
    got = switch.send(*frames)
    tap.same({**got, 2: []}, SILENCE)
    tap.same(got[2], frames)
    found = switch.outcomes()
    tap.same(sum(found.values()), len(frames))
    assert not found.keys() & {"gathered", "written", "stale"}, found
    assert found["damaged"] > 50, found


def others():
    """frames that are no strips of the sketchers are forwarded, and counted"""
    switch.begin(2)
    entry = switch.entries[0]
    one = {(0, 0): 5}
    frame = switch.frame(0, 7, 0, one)
    strip = generate_strips.strip(entry, 7, 0, one)
    for content in (generate_strips.strip(entry, 0, 0, one),
                    generate_strips.strip(entry, 7, 0, one, 0),
                    generate_strips.strip(entry, 7, 4, {}),
                    strip[:-1] + bytes([strip[-1] ^ 1]),
                    generate_strips.strip({**entry, "rows": 3}, 7, 0, one)):
        passes(generate_strips.frame(entry, SKETCHER_MAC, 7, 0, content, 0), "malformed")
    for change in ({"reporter": "10.78.0.77"}, {"qpn": 0x999}, {"reporter": OWN}):
        passes(generate_strips.frame({**entry, **change}, SKETCHER_MAC, 7, 0, strip, 0), "other")
    passes(frame[:-1], "truncated")
    passes(frame[:24] + bytes([frame[24] ^ 1]) + frame[25:], "damaged")
    passes(packets.packet(generate.flow("10.1.0.2", "10.3.1.3", 7, 4791, 17)), "other")
    # A tag of a VLAN is no part of the WRITE.
    switch.tell(0, 7, 0, one)
    expected = switch.model.take(1, 7, 0, {(0, 0): 6})
    tagged = packets.with_tags(switch.frame(1, 7, 0, {(0, 0): 6}), "8100 0005")
    tap.same(switch.send(tagged), {**SILENCE, COLLECTORS: [expected]})


def unset():
    """without its part the switch forwards all strips"""
    switch.begin(1)
    frame = switch.frame(0, 7, 0, {(0, 0): 1})
    for table in ("merge_translator", "merge_collector"):
        switch.do("table_set_default", table, "NoAction")
        tap.same(switch.send(frame), {**SILENCE, 2: [frame]})
    tap.same(switch.outcomes(), {"other": 2})


switch = Merger()
tap.run(sums, many, late, reporters, forgets, damaged, others, unset)
