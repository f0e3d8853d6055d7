#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A switch stamps the entries that it uses, and answers questions: <dart/tea_use.h>."""

import needs  # before all others

import struct
import time

from scapy.layers.inet import TCP
from scapy.layers.l2 import Ether

import generate
import tap
from functions import OUT, SERVERS, Function, for_switch
from lookups import SWITCH_MAC, Server, crc, mac
from switch import SILENCE

CONTROL, HOST = 4, 1  # ports
ASKER = "02:00:00:00:00:44"
ETHERTYPE, VERSION, QUESTION, ANSWER = 0x88B6, 1, 1, 2
KEYS, UNIT, CELLS = 16, 2**20 / 1e6, 65536
VALUE = bytes.fromhex("c6336409 1f90 00")
FLOWS = [generate.flow("10.0.0.1", "192.0.2.1", 4000 + i, 53, 17) for i in range(3)]


def frame(kind, pairs, number=7, **changes):
    head = {"to": "ff:ff:ff:ff:ff:ff", "sender": ASKER, "version": VERSION, **changes}
    pairs = [*pairs, *[(0, 0)] * (KEYS - len(pairs))]
    return (mac(head["to"]) + mac(head["sender"]) + struct.pack(
        ">HBBHI", ETHERTYPE, head["version"], kind, 0, number) +
        b"".join(struct.pack(">II", *pair) for pair in pairs))


def cells(key):
    return crc("row 0", key), crc("row 1", key)


def ask(*keys, number=7):
    """The ages of keys, in seconds: a pair for each."""
    left = switch.send(frame(QUESTION, [cells(key) for key in keys], number),
                       source=CONTROL)
    answer, = left[CONTROL]
    tap.same({**left, CONTROL: []}, SILENCE)
    ages = list(struct.iter_unpack(">II", answer[22:]))
    tap.same(answer[:22], frame(ANSWER, [], number, to=ASKER, sender=SWITCH_MAC)[:22])
    return [tuple(age * UNIT for age in pair) for pair in ages[:len(keys)]]


def uses(key):
    left = switch.exchange(for_switch(key))
    assert len(left[OUT]) == 1, left


def uptime():
    return time.monotonic() - started + 2


def never():
    """an entry that no packet used is as old as the switch"""
    (first, second), = ask(FLOWS[0])
    assert first == second <= uptime(), (first, second)
    time.sleep(3 * UNIT)
    (later, _), = ask(FLOWS[0])
    assert first + 2 * UNIT <= later <= uptime(), (first, later)


def stamped():
    """a packet that leaves by its entry makes it new, from a server, the stash or the cache"""
    for number, place in enumerate(("server", "tea_stash tea_stashed", "tea_cache tea_cached")):
        key = FLOWS[number]
        if number:
            switch.do("table_add", place, f"0x{key.hex()}", "=>", f"0x{VALUE.hex()}")
        else:
            table.add(key, VALUE)
        old, = ask(key)
        uses(key)
        new, other = ask(key, FLOWS[(number + 1) % 3])
        assert max(new) <= 10 < 13 < min(old), (place, old, new)
        if number != 2:
            assert min(other) > 13, (place, other)


def ages():
    """the age counts on until the next packet"""
    uses(FLOWS[0])
    begun = time.monotonic()
    (before, _), = ask(FLOWS[0])
    time.sleep(5 * UNIT)
    (first, second), = ask(FLOWS[0])
    assert first == second, (first, second)
    passed = time.monotonic() - begun
    # No more than a unit longer than the last packet is old, and no less than what has passed.
    assert before <= 10 and 4 * UNIT <= first <= passed + 2 * UNIT, (before, first, passed)
    uses(FLOWS[0])
    (again, _), = ask(FLOWS[0])
    assert again < first, (again, first)


def shared():
    """another key with a cell of this one makes it younger in this cell only"""
    key = FLOWS[1]
    time.sleep(3 * UNIT)
    there = crc("row 0", key) % CELLS
    number = 0
    while True:
        other = generate.flow("10.9.0.1", "192.0.2.7", number % 65536, number // 65536, 17)
        if crc("row 0", other) % CELLS == there:
            break
        number += 1
    switch.do("table_add tea_stash tea_stashed", f"0x{other.hex()}", "=>", f"0x{VALUE.hex()}")
    uses(other)
    (first, second), = ask(key)
    assert first + UNIT <= second, (first, second)


def unused():
    """packets that do not leave by an entry stamp nothing"""
    key = generate.flow("10.0.0.8", "192.0.2.1", 1, 53, 17)
    tap.same(switch.exchange(for_switch(key)), SILENCE)
    (first, _), = ask(key)
    # A flow that is tracked, whose FIN goes to the control plane.
    tracked = generate.flow("10.0.0.9", "192.0.2.1", 1, 80, 6)
    switch.do("table_add tea_stash tea_stashed", f"0x{tracked.hex()}", "=>",
              f"0x{VALUE[:6].hex()}02")
    fin = Ether(for_switch(tracked))
    fin[TCP].flags = "FA"
    del fin[TCP].chksum
    fin = bytes(fin)
    tap.same(switch.exchange(fin), {**SILENCE, CONTROL: [fin]})
    (second, _), = ask(tracked)
    assert min(first, second) > 13, (first, second)


def refused():
    """frames of hosts, and frames that are no questions, are dropped"""
    good = frame(QUESTION, [])
    before = [switch.counter("tea_questions", number) for number in (0, 1)]
    forged = (good, frame(ANSWER, []), good[:60], good[:14],
              frame(ANSWER, [], to=ASKER), frame(ANSWER, [], to=SWITCH_MAC))
    for one in forged:
        tap.same(switch.send(one, source=HOST), SILENCE)
    for one in (frame(ANSWER, []), frame(QUESTION, [], version=2), good[:100]):
        tap.same(switch.send(one, source=CONTROL), SILENCE)
    after = [switch.counter("tea_questions", number) for number in (0, 1)]
    tap.same(after, [before[0], before[1] + 9])
    tap.same(switch.outcomes(), {})


started = time.monotonic()
table = Server(port=SERVERS[0])
switch = Function("nat", table)
switch.otherwise("keyless", CONTROL)
# All later ages are larger than those of new stamps on a busy machine.
time.sleep(max(0, 16 - (time.monotonic() - started)))
tap.run(never, stamped, ages, shared, unused, refused, before=switch.outcomes)
