#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Reports over reliable connections: a switch that dartctl set up follows the expected PSN.

The queue pair is at the collector's port.
"""

import json
import os
import subprocess
import tempfile

from needs import TREE

import generate
import packets
import tap
from responder import ACKNOWLEDGED, FIRST, INVALID, MASK, SEQUENCE, QueuePair, asks, is_probe
from switch import COLLECTORS, Switch, entry_of

NODES = [5, 4, 3, 2, 1]
KEY = generate.flow("10.1.0.2", "10.2.0.1", 49152, 443, 6)
TELEMETRY = packets.with_int(packets.packet(KEY), NODES)
OTHER = 4  # a port without a collector


def push(*pairs):
    with tempfile.NamedTemporaryFile("w") as file:
        json.dump({"dart_collectors": 1, "collectors": [pair.entry for pair in pairs]}, file)
        file.flush()
        return subprocess.run(
            ["dartctl", "switch", "push", "--target", "bmv2", "--thrift", "localhost:9090",
             "--port", str(COLLECTORS), file.name],
            check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def forget():
    """Leaves no collector."""
    for table in ("share", "collector", "connection", "answer"):
        switch.do("table_clear", f"dart_{table}")


def begin():
    """A new queue pair."""
    forget()
    pair = QueuePair(entry_of(first_psn=FIRST))
    push(pair)
    return pair


def report(pair, count, lost=()):
    """Sends packets; @lost: which of the reports from now on get lost."""
    number = 0
    for _ in range(count):
        frames = switch.send(TELEMETRY)[COLLECTORS]
        while frames:
            answers = []
            for frame in frames:
                tap.same((frame[42], asks(frame)), (0x0A, is_probe(frame)), "opcode, AckReq")
                if number in lost and not is_probe(frame):
                    pair.lose(frame)
                else:
                    answers += pair.take(frame)
                number += not is_probe(frame)
            frames = []
            if answers:
                frames = switch.send(*answers, source=COLLECTORS)[COLLECTORS]
                tap.same(frames, [], "answers are not forwarded")


def settle(pair):
    """Sends packets until an answer tells of all reports before; all later ones arrive."""
    for _ in range(200):
        arrived = pair.arrived
        report(pair, 1)
        if pair.arrived > arrived and known_lost() == pair.sent - pair.arrived:
            return
    raise AssertionError(f"lost: {known_lost()}, not {pair.sent} - {pair.arrived}")


def known_lost():
    return switch.register("dart_lost", 0)


def check_lost(pair, least):
    settle(pair)
    tap.note(f"{pair.sent} reports, {pair.arrived} arrived")
    assert pair.sent - pair.arrived >= least


def nothing_lost():
    """without loss all reports arrive, after one probe"""
    pair = begin()
    report(pair, 40)
    tap.same((pair.sent, pair.arrived), (40, 40))
    tap.same(known_lost(), 0)
    assert switch.outcomes()["answer"] >= 1


def goes_on_after_nak():
    """after a lost report the next one has the PSN of the NAK"""
    pair = begin()
    report(pair, 10, lost={5})
    check_lost(pair, 1)
    tap.same(switch.register("dart_stops", 0), 1)
    # Unless a probe came in between, because the machine is slow.
    assert pair.sent - pair.arrived <= 2, "the lost one, and the one that was refused"


def asks_without_nak():
    """after a lost NAK a probe tells that the queue pair has stopped"""
    pair = begin()
    report(pair, 5)
    pair.drops_answers = True
    report(pair, 3, lost={0})
    pair.drops_answers = False
    check_lost(pair, 3)


def finds_used_one():
    """a switch that was set up again finds out where the queue pair stands"""
    for expected in (FIRST + 1000, FIRST - 5, FIRST + 2**23 + 7):
        pair = begin()
        pair.expected = expected & MASK
        report(pair, 2)
        check_lost(pair, 0)
        report(pair, 20)
        check_lost(pair, 0)


def finds_stopped_one():
    """so it does if the queue pair has sent its NAK already"""
    pair = begin()
    pair.expected, pair.refused = (FIRST - 5) & MASK, True
    report(pair, 2)
    check_lost(pair, 1)


def forged():
    """answers from elsewhere, with a wrong ICRC or an impossible PSN change nothing"""
    pair = begin()
    report(pair, 10)
    settle(pair)
    known = switch.register("dart_expected", 0)  # the last report is not answered
    wish = pair.answer(known, SEQUENCE)
    damaged = wish[:-1] + bytes([wish[-1] ^ 1])
    entry = pair.entry
    others = [generate.answer({**entry, **change}, known, SEQUENCE)
              for change in ({"ip": "10.0.0.9"}, {"qpn": entry["qpn"] + 1})]
    before = [switch.register(f"dart_{name}", 0)
              for name in ("psn", "lost", "stops", "state")]
    switch.outcomes()
    for frames, source in (([wish], OTHER), ([damaged], COLLECTORS),
                           (others, COLLECTORS),
                           ([pair.answer(pair.expected + 3, SEQUENCE),
                             pair.answer(known - 2, SEQUENCE),
                             pair.answer(known + 2**23, ACKNOWLEDGED),
                             pair.answer(known - 2, INVALID)], COLLECTORS)):
        switch.send(*frames, source=source)
    counts = switch.outcomes()
    tap.same((counts["forged"], counts["answer"]), (2, 4))
    tap.same([switch.register(f"dart_{name}", 0)
              for name in ("psn", "lost", "stops", "state")], before)
    report(pair, 5)
    check_lost(pair, 0)


def forwards_others():
    """answers to other switches are forwarded as they are"""
    begin()
    other = bytes.fromhex(packets.host(OTHER).replace(":", ""))
    for psn, syndrome in ((7, ACKNOWLEDGED), (9, SEQUENCE)):
        frame = other + generate.answer(entry_of(qpn=99, ip="10.0.0.8"), psn, syndrome)[6:]
        tap.same(switch.send(frame, source=COLLECTORS)[OTHER], [frame])


def error_state():
    """a queue pair in the error state gets no reports, and a new one does"""
    pair = begin()
    report(pair, 3)
    settle(pair)
    report(pair, 1, lost={0})
    switch.send(pair.answer(pair.expected, INVALID), source=COLLECTORS)
    tap.same(switch.send(TELEMETRY)[COLLECTORS], [])
    tap.same(known_lost(), 2)
    former = pair.entry
    pair = QueuePair({**former, "first_psn": (former["first_psn"] + 77) & MASK})
    pushed = push(pair)
    assert "psn 0" in pushed and "reliable connection 0" in pushed, pushed
    pair.sent = 2  # the lost ones
    report(pair, 5)
    check_lost(pair, 0)
    tap.same(push(pair), "nothing to change\n")


def becomes_unreliable():
    """a store that is made again with unreliable connections gets its reports over them"""
    begin()
    entry = entry_of(first_psn=3)
    pushed = push(type("Other", (), {"entry": entry}))
    assert "remove reliable connection 0" in pushed, pushed
    assert "remove answers of 10.0.0.1" in pushed, pushed
    frame, = switch.send(TELEMETRY)[COLLECTORS]
    tap.same((frame[42], frame[50:54].hex()), (0x2A, "00000003"))


def rotates():
    """at a rotation of the store the key and the address change, and the PSNs go on"""
    pair = begin()
    report(pair, 5)
    for number in range(3):
        pair.entry.update(rkey=4661 + number, base=hex(0x500000000000 + (number << 20)))
        pushed = push(pair).splitlines()
        tap.same((len(pushed), pushed[0][:18]), (1, "change collector 0"), pushed)
        frames = switch.send(TELEMETRY)[COLLECTORS]
        for frame in frames:
            tap.same((frame[54:58].hex(), int.from_bytes(frame[62:66], "big")),
                     ("00005000", pair.entry["rkey"]), "address, key")
            switch.send(*pair.take(frame), source=COLLECTORS)
        report(pair, 5)
    check_lost(pair, 0)
    tap.same((pair.sent - pair.arrived, switch.register("dart_stops", 0)), (0, 0))


os.environ["PATH"] = f"{TREE}/.output/bin:{os.environ['PATH']}"
switch = Switch()
tap.run(nothing_lost, goes_on_after_nak, asks_without_nak, finds_used_one, finds_stopped_one,
        forged, forwards_others, error_state, becomes_unreliable, rotates)
