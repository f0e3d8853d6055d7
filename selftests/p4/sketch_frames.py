#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A switch that counts for a sketch: its WRITEs, byte by byte, against <dart/sketch.h>."""

import json
import random
import re
import struct

import needs  # before all others

import generate
import generate_strips
import packets
import tap
from switch import COLLECTORS, SILENCE, Running, polynomials

HOUR = 3600 * 10**6
PSNS = 2**24
KEY = generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 6)
WIDE = generate.flow("2001:db8::1", "2001:db8::2", 7, 9, 17)
OUTCOMES = ("other", "counted", "unassigned")
KINDS = ("count-min", "count-sketch")
GOLDEN = generate_strips.vector([(KEY, 1)])


def entry_of(**changes):
    return {**GOLDEN["sketch"], "columns_log2": 6, **changes}


class Sketcher(Running):
    """Session n + 1 leads to port n, as in the superclass.

    The switch counts period @period, which ends when end() says so: periods take an hour.
    """

    def __init__(self):
        super().__init__("sketch")
        with open(self.program, encoding="utf-8") as file:
            for calculation, low in polynomials(json.load(file)).items():
                self.set_crc(calculation, low)

    def get(self, name):
        told = self.do("register_read", f"sketch_{name}", 0)
        return int(re.search(r"= *(\d+)", told)[1])

    def put(self, name, value):
        self.do("register_write", f"sketch_{name}", 0, value)

    def set_clock(self, period, begin=0, length=HOUR):
        """Period @period began @begin us after the switch."""
        self.do("table_set_default sketch_sketcher sketch_sketcher_is",
                GOLDEN["source_mac"], self.entry["reporter"],
                KINDS.index(self.entry["kind"]), period, begin, length, 0)
        self.put("end", 0)

    def begin(self, entry, period=1000):
        """The first whole period is the one after @period."""
        for name in ("columns", "period", "end", "whole", "due", "next", "lost", "dropped"):
            self.do("register_reset", f"sketch_{name}")
        self.entry, self.period, self.psn = entry, period, entry["first_psn"]
        self.put("psn", self.psn)
        self.set_clock(period)
        self.do("table_set_default sketch_collector sketch_write_to", entry["mac"],
                entry["ip"], entry["qpn"], entry["rkey"], entry["base"],
                2**entry["columns_log2"] - 1, 1 + COLLECTORS)
        tap.same(self.drain(), [])
        self.end()
        tap.same(self.drain(), [])
        self.outcomes()

    def column(self, number, value=None):
        """The lower 64 bits of a column of bank 0; the control plane writes no more."""
        if value is not None:
            self.do("register_write", "sketch_columns", number, value)
        told = self.do("register_read", "sketch_columns", number)
        return int(re.search(r"= *(-?\d+)", told)[1]) % 2**64

    def end(self, periods=1):
        self.period += periods
        self.set_clock(self.period)

    def outcomes(self):
        return self.changes("sketch_packets", OUTCOMES)

    def drain(self):
        """All WRITEs that frames of no flow make the switch send."""
        frames, quiet = [], 0
        while quiet < 2:
            some = self.settle()[COLLECTORS]
            quiet = 0 if some else quiet + 1
            frames += some
        return frames

    def count(self, *keys):
        return self.send(*[packets.packet(key) for key in keys])[COLLECTORS]

    def check(self, frames, period, amounts):
        """Each frame is a strip of the period, and right in each of its bytes."""
        counters = generate_strips.count(self.entry, amounts)
        strips = 2**self.entry["columns_log2"] // 16
        tap.same(len(frames), strips)
        for frame in sorted(frames, key=lambda each: (int.from_bytes(each[51:54], "big") -
                                                      self.psn) % PSNS):
            number, = struct.unpack(">H", frame[76:78])
            content = generate_strips.strip(self.entry, period, number, counters)
            tap.same(frame, generate_strips.frame(self.entry, GOLDEN["source_mac"], period,
                                                  number, content, self.psn))
            self.psn = (self.psn + 1) % PSNS
        tap.same(sorted(frame[76:78] for frame in frames),
                 [struct.pack(">H", i) for i in range(strips)])


def strips():
    """the strips of a period leave when it has ended, with the counts of all its packets"""
    for kind in KINDS:
        for base, first_psn in (("0x3a5f00000000", 0), ("0xfffffff00000", PSNS - 2)):
            switch.begin(entry_of(kind=kind, base=base, first_psn=first_psn))
            tap.same(switch.count(KEY, KEY, WIDE), [])
            switch.end()
            switch.check(switch.drain(), 1001, [(KEY, 2), (WIDE, 1)])
            tap.same(switch.outcomes()["counted"], 3)
            switch.end()
            switch.check(switch.drain(), 1002, [])


def many():
    """packets are counted in one bank while strips leave the other"""
    dice = random.Random(7)
    for kind in KINDS:
        switch.begin(entry_of(kind=kind, columns_log2=8))
        amounts = []
        for period in range(1001, 1005):
            before, amounts, got = amounts, [], []
            for _ in range(6):
                keys = [generate.flow(f"10.7.0.{dice.randrange(50)}", "10.3.1.3", 7, 443, 17)
                        for _ in range(10)]
                amounts += [(key, 1) for key in keys]
                got += switch.count(*keys)
            got += switch.drain()
            if before:
                switch.check(got, period - 1, before)
            else:
                tap.same(got, [])
            switch.end()
        tap.same((switch.get("lost"), switch.get("dropped")), (0, 1))


def saturated():
    """a counter stays at its last value, and leaves the counter beside it alone"""
    for kind, last, wanted in (("count-min", 2**32 - 1, 1), ("count-sketch", 2**31 - 1, 1),
                               ("count-sketch", 2**31 - 1, -1)):
        switch.begin(entry_of(kind=kind))
        # Columns of period 0 keep the counters of the control plane: their period has not changed.
        switch.put("period", 0)
        switch.set_clock(0)
        keys = (generate.flow("10.1.0.2", "10.3.1.3", port, 443, 6) for port in range(1, 1000))
        key = next(key for key in keys
                   if generate_strips.places(switch.entry, key)[3][1] == wanted)
        (third, third_sign), (column, sign) = generate_strips.places(switch.entry, key)[2:]
        for packet_count in range(1, 5):
            switch.column(column, 7 << 32 | sign * (last - 2) % 2**32)
            switch.count(*[key] * packet_count)
            beside = packet_count * third_sign if third == column else 0
            tap.same(switch.column(column), 7 + beside << 32 |
                     sign * min(last, last - 2 + packet_count) % 2**32, (kind, packet_count))


def late():
    """strips that were not sent in time are lost, and the next period is not affected"""
    switch.begin(entry_of())
    switch.count(KEY)
    switch.end()
    switch.check(switch.drain(), 1001, [(KEY, 1)])
    switch.count(KEY, KEY)
    switch.put("next", 1)  # as if fewer packets had come
    switch.end()
    switch.check(switch.drain(), 1002, [(KEY, 2)])
    tap.same(switch.get("lost"), 3)
    switch.count(WIDE)
    switch.end()
    switch.check(switch.drain(), 1003, [(WIDE, 1)])


def gap():
    """after a period without packets nothing is sent, and counting goes on with the next one"""
    switch.begin(entry_of())
    switch.count(KEY)
    switch.end(2)
    tap.same(switch.drain(), [])
    switch.count(KEY, KEY)
    switch.end()
    tap.same(switch.drain(), [])
    tap.same(switch.get("dropped"), 3)
    switch.count(KEY, KEY, KEY)
    switch.end()
    switch.check(switch.drain(), 1004, [(KEY, 3)])


def clock():
    """the switch finds the period by its own time, also if that began before the switch"""
    switch.begin(entry_of())
    for length in (10**6, 7 * 10**6, HOUR):
        for begin in (0, 2**48 - 12345678, 2**48 - 1000 * HOUR):
            switch.set_clock(5000, begin, length)
            switch.settle()
            end = switch.get("end")
            since = (end - begin) % 2**48
            tap.same(since % length, 0)
            tap.same(switch.get("period"), 5000 + since // length - 1)


def others():
    """other packets are not counted, and all of them are forwarded as they came"""
    switch.begin(entry_of())
    plain = packets.packet(KEY)
    damaged = plain[:24] + bytes([plain[24] ^ 1]) + plain[25:]
    report = packets.packet(generate.flow("10.1.0.2", "10.3.1.3", 49152, 4791, 17))
    wide = packets.packet(WIDE)
    frames = [plain, damaged, report, wide]
    tap.same(switch.send(*frames), {**SILENCE, 2: frames})
    tap.same(switch.outcomes()["counted"], 2)
    switch.do("table_set_default sketch_collector NoAction")
    tap.same(switch.count(KEY, WIDE), [])
    tap.same(switch.outcomes()["unassigned"], 2)


switch = Sketcher()
tap.run(strips, many, saturated, late, gap, clock, others)
