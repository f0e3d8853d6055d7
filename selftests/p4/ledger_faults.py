#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A switch adds to a ledger over a link that loses, repeats and reorders: the words are exact.

The environment variable DART_AMOUNTS is the number of packets, 2000 by default.
"""

import os
import random

import needs  # before all others

import generate
import tap
from ledger_rig import (ENTRY, LONG_AGO, PRECEDING, PSNS, Adder, Collector,
                        Expected)
from switch import COLLECTORS

AMOUNTS = int(os.environ.get("DART_AMOUNTS", 2000))
BATCH = 10
ROOM = 150  # requests that wait, so that a batch is not missed
FLOWS = [generate.flow(f"10.7.{n >> 8}.{n & 255}", "10.3.1.3", 1000 + n, 443,
                       (6, 17)[n % 2]) for n in range(600)]


class Link:
    """Between switch and collector, in both directions."""

    def __init__(self, seed, loss, repeat, late):
        self.dice = random.Random(seed)
        self.loss, self.repeat, self.late = loss, repeat, late
        self.held = []
        self.mishaps = [0, 0, 0]

    def carry(self, frames):
        """The frames that come out now."""
        result, self.held, before = [], [], self.held
        for frame in frames:
            chance = self.dice.random()
            if chance < self.loss:
                self.mishaps[0] += 1
            elif chance < self.loss + self.late:
                self.mishaps[1] += 1
                self.held.append(frame)
            else:
                result.append(frame)
                if chance < self.loss + self.late + self.repeat:
                    self.mishaps[2] += 1
                    result.append(frame)
        return result + before


def exchange(collector, there, back, frames):
    """Carries requests and their answers until neither is on the way."""
    while frames or there.held or back.held:
        answers = [told for frame in there.carry(frames)
                   for told in collector.take(frame)]
        frames = switch.send(*back.carry(answers),
                             source=COLLECTORS)[COLLECTORS]


def run(seed, chance, amounts, first_psn=0, words_log2=8):
    entry = {**ENTRY, "first_psn": first_psn, "rows": 2 + seed % 3,
             "words_log2": words_log2}
    switch.begin(entry, preceding=PRECEDING)
    switch.put("pause", 0)
    collector, expected = Collector(entry), Expected(entry)
    there, back = (Link(seed + n, chance, chance, chance) for n in (0, 100))
    dice = random.Random(seed)
    for _ in range(amounts // BATCH):
        while switch.get("end") - switch.get("oldest") > ROOM:
            exchange(collector, there, back, switch.tick())
        keys = dice.choices(FLOWS, k=BATCH)
        frames = switch.count(*keys)
        outcomes = switch.outcomes()
        assert outcomes.get("missed", 0) == 0, outcomes
        for key in keys:
            expected.add(key)
        exchange(collector, there, back, frames)
    rest = set(FLOWS)
    while rest or not switch.is_idle():
        for key in list(rest)[:20]:
            switch.let_time_pass(key)
            exchange(collector, there, back, switch.tick())
            rest.discard(key)
        switch.put("total_since", LONG_AGO)
        exchange(collector, there, back, switch.tick())
    tap.note(f"{amounts} packets, {collector.executed} requests, "
             f"{collector.repeats} repeats, lost, late and doubled: "
             f"{[a + b for a, b in zip(there.mishaps, back.mishaps)]}")
    tap.same(+collector.words, +expected.words)
    tap.same(collector.executed, switch.get("end"))
    if chance:
        assert collector.repeats and all(there.mishaps + back.mishaps)


def sound():
    """over a sound link each word is exact"""
    run(1, 0, AMOUNTS // 10)


def faulty():
    """over a link that loses, repeats and delays 1 % each way, each word is exact"""
    run(2, 0.01, AMOUNTS)


def worse():
    """likewise with 10 %, and over the end of the PSNs"""
    run(3, 0.1, AMOUNTS // 4, first_psn=PSNS - 100)


switch = Adder()
tap.run(sound, faulty, worse)
