#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A switch that appends to a journal: its WRITEs, byte by byte, against <dart/journal.h>."""

import json
import random
import re
import struct

import needs  # before all others

import generate
import generate_journal
import packets
import tap
from switch import COLLECTORS, SILENCE, Running, polynomials

START, BOOT = 0x6553F1008000, 1700000000 * 10**6
CAPACITY, ENTRY = 5, 41
LONG_AGO = 2**48 - 10**7  # before the switch started
PSNS = 2**24
KEY = generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 6)
NODES = (3, 2, 1)
OUTCOMES = ("report", "other", "truncated", "malformed", "incomplete",
            "anonymous", "unassigned", "unchanged", "damaged", "tagged",
            "extensions")


def entry_of(**changes):
    golden = generate_journal.vector(1, 1)
    return {**golden["journal"], "batch_log2": 8, "entry_length": ENTRY,
            **changes}


SOURCE_MAC = generate_journal.vector(1, 1)["source_mac"]


class Appender(Running):
    """Session n + 1 leads to port n, as in the superclass."""

    def __init__(self):
        super().__init__("journal")
        with open(self.program, encoding="utf-8") as file:
            for calculation, low in polynomials(json.load(file)).items():
                self.set_crc(calculation, low)

    def get(self, name, index=0):
        told = self.do("register_read", f"journal_{name}", index)
        return int(re.search(r"= *(\d+)", told)[1])

    def put(self, name, value, index=0):
        self.do("register_write", f"journal_{name}", index, value)

    def begin(self, entry):
        for name in ("entries", "count", "written", "since", "batches", "lap",
                     "hand"):
            self.do("register_reset", f"journal_{name}")
        self.put("psn", entry["first_psn"])
        self.do("table_set_default journal_appender journal_appender_is",
                SOURCE_MAC, entry["reporter"], START, BOOT, 0)
        self.do("table_set_default journal_collector journal_append_to",
                entry["mac"], entry["ip"], entry["qpn"], entry["rkey"],
                entry["base"], 2**entry["batches_log2"] - 1,
                2**entry["lists_log2"] - 1, 1 + COLLECTORS)
        self.outcomes()

    def outcomes(self):
        return self.changes("journal_packets", OUTCOMES)

    def append(self, *keys, nodes=NODES):
        """Sends packets with INT of these flows; returns the WRITEs."""
        got = self.send(*[packets.with_int(packets.packet(key), nodes)
                          for key in keys])
        return got[COLLECTORS]


class Memory:
    """The part of one appender, and what its reader finds there."""

    def __init__(self, entry):
        self.entry = entry
        self.psn = entry["first_psn"]
        self.batches = {}  # by list and sequence: entries

    def list_of(self, key):
        return (generate.crc(generate.SHARE, key) %
                2**self.entry["lists_log2"])

    def take(self, frame):
        """A WRITE, which is right in each of its bytes; returns list, sequence and entries."""
        address, = struct.unpack(">Q", frame[54:62])
        content = frame[70:70 + 256]
        sequence, start, count, length = struct.unpack(
            ">I6sBB", content[:12])
        assert length == ENTRY and 1 <= count <= CAPACITY
        entries = [content[12 + ENTRY * n:12 + ENTRY * (n + 1)]
                   for n in range(count)]
        number = ((address - int(self.entry["base"], 16)) //
                  (256 << self.entry["batches_log2"]))
        start = int.from_bytes(start, "big")
        expected = generate_journal.frame(
            self.entry, SOURCE_MAC, number, sequence,
            generate_journal.batch(self.entry, sequence, start, entries),
            self.psn)
        tap.same(frame, expected)
        self.psn = (self.psn + 1) % PSNS
        assert 0 <= number < 2**self.entry["lists_log2"]
        before = self.batches.get((number, sequence), [])
        tap.same(entries[:len(before)], before)
        self.batches[number, sequence] = entries
        return number, sequence, start, entries


def of_packet(key, nodes=NODES):
    """An entry after its time."""
    return key + packets.value_of(nodes)


def full():
    """the entry that fills a batch sends it, and the next batch has the next sequence"""
    for base, lists, first_psn in (("0x3a5f00000000", 0, 0),
                                   ("0xfffffff00000", 2, PSNS - 1)):
        entry = entry_of(base=base, lists_log2=lists, batches_log2=1,
                         first_psn=first_psn)
        switch.begin(entry)
        memory = Memory(entry)
        for sequence in range(1, 6):
            tap.same(switch.append(*[KEY] * (CAPACITY - 1)), [])
            frame, = switch.append(KEY)
            number, found, start, entries = memory.take(frame)
            tap.same((number, found, start),
                     (memory.list_of(KEY), sequence, START))
            tap.same([each[8:] for each in entries],
                     [of_packet(KEY)] * CAPACITY)
            times = [int.from_bytes(each[:8], "big") for each in entries]
            tap.same(times, sorted(times))
            assert 0 < times[0] - BOOT * 1000 < 3600 * 10**9, times
        tap.same(switch.outcomes(), {"report": 5 * CAPACITY})


def flush():
    """entries that have waited are written with any packet, and later again with more of them"""
    entry = entry_of(lists_log2=2)
    switch.begin(entry)
    memory = Memory(entry)
    number = memory.list_of(KEY)
    tap.same(switch.append(KEY, KEY), [])
    switch.put("since", LONG_AGO, number)
    # Each packet looks at one of four lists.
    frame, = switch.settle()[COLLECTORS] + switch.settle()[COLLECTORS]
    tap.same(memory.take(frame)[:2], (number, 1))
    tap.same(len(memory.batches[number, 1]), 2)
    tap.same(switch.settle()[COLLECTORS], [])
    tap.same(switch.append(KEY), [])
    switch.put("since", LONG_AGO, number)
    frame, = switch.append(KEY)
    tap.same(memory.take(frame)[:2], (number, 1))
    tap.same(len(memory.batches[number, 1]), 4)
    frame, = switch.append(KEY)
    tap.same(memory.take(frame)[:2], (number, 1))
    tap.same(len(memory.batches[number, 1]), 5)


def laps():
    """after the highest sequence it begins again with sequence 1 and a higher start"""
    entry = entry_of()
    switch.begin(entry)
    memory = Memory(entry)
    switch.put("batches", 2**32 - 2)
    frame, = switch.append(*[KEY] * CAPACITY)
    tap.same(memory.take(frame)[1:3], (2**32 - 1, START))
    frame, = switch.append(*[KEY] * CAPACITY)
    tap.same(memory.take(frame)[1:3], (1, START + 1))


def many():
    """each path of many flows is in exactly one entry of the list of its flow, in order"""
    entry = entry_of(lists_log2=6, batches_log2=10)
    switch.begin(entry)
    memory = Memory(entry)
    dice = random.Random(35)
    sent = {}
    for _ in range(60):
        keys, nodes = [], tuple(dice.randrange(1, 2**32)
                                for _ in range(dice.randrange(1, 6)))
        for _ in range(10):
            keys.append(generate.flow(f"10.7.0.{dice.randrange(100)}",
                                      "10.3.1.3", 7, 443,
                                      dice.choice((6, 17))))
            sent.setdefault(memory.list_of(keys[-1]), []).append(
                of_packet(keys[-1], nodes))
        for frame in switch.append(*keys, nodes=nodes):
            memory.take(frame)
    for number in range(64):
        switch.put("since", LONG_AGO, number)
    for _ in range(20):
        for frame in switch.settle()[COLLECTORS]:
            memory.take(frame)
    found = {}
    for (number, _), entries in sorted(memory.batches.items()):
        found.setdefault(number, []).extend(each[8:] for each in entries)
    tap.same(found, sent)


def others():
    """packets without a path are no entries, and all of them are forwarded as they came"""
    switch.begin(entry_of())
    plain = packets.packet(KEY)
    whole = packets.with_int(plain, NODES)
    damaged = whole[:24] + bytes([whole[24] ^ 1]) + whole[25:]
    incomplete = packets.with_int(plain, NODES, flags=packets.HOPS_EXCEEDED)
    wide = packets.with_int(packets.packet(generate.flow(
        "2001:db8::1", "2001:db8::2", 7, 9, 17)), NODES)
    frames = [plain, damaged, incomplete, wide, whole]
    got = switch.send(*frames)
    tap.same(got, {**SILENCE, 2: frames})
    tap.same(switch.outcomes(), {"other": 2, "damaged": 1, "incomplete": 1,
                                 "report": 1})
    switch.do("table_set_default journal_collector NoAction")
    tap.same(switch.append(*[KEY] * 5), [])
    tap.same(switch.outcomes(), {"unassigned": 5})


switch = Appender()
tap.run(full, flush, laps, many, others)
