#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A switch that adds to a ledger: its requests, byte by byte, and what its answers lead to."""

import time

import needs  # before all others

import generate
import generate_ledger
import packets
import tap
from ledger_rig import (ACK, ACKNOWLEDGE, BROKEN, ENTRY, KEY,
                        NAK_ACCESS, NAK_SEQUENCE, NOT_READY, OUTSTANDING,
                        PRECEDING, PSNS, SOURCE_MAC, STOPPED, Adder,
                        Collector, Expected, answer, cache_row, request)
from switch import SILENCE

OTHER_KEY = generate.flow("10.9.0.2", "10.3.1.3", 49152, 443, 6)


def begin(entry=None, **options):
    entry = entry or ENTRY
    switch.begin(entry, **options)
    return Collector(entry)


def window(oldest, following, fresh):
    tap.same([switch.get(name) for name in ("oldest", "next", "fresh")],
             [oldest, following, fresh], "oldest, next and fresh request")


def all_requests(collector, key=KEY):
    """The frames that the amounts of a key lead to, all of them answered."""
    switch.let_time_pass(key)
    got = frames = switch.tick()
    while frames:
        frames = switch.answer(*[told for frame in frames
                                 for told in collector.take(frame)])
        got += frames
    return got


def golden():
    """requests are equal to the golden vectors: rows, sizes, amounts, PSNs, queue pairs"""
    tried = 0
    for golden_vector in generate_ledger.vectors():
        key = bytes.fromhex(golden_vector["key"])
        amount = int(golden_vector["amount"], 16)
        # Keys are flows with ports, and the command line takes signed numbers.
        if (len(key) != 13 or key[12] not in packets.WITH_PORTS or
                amount >= 2**63):
            continue
        row = golden_vector["row"]
        collector = begin({**golden_vector["ledger"], "first_psn":
                           (golden_vector["psn"] - row) % PSNS})
        tap.same(switch.count(key), [])
        switch.put("cache_sum", amount, cache_row(key))
        switch.let_time_pass(key)
        frames = switch.tick()
        tap.same(len(frames), golden_vector["ledger"]["rows"] + 1)
        tap.same(frames[row], bytes.fromhex(golden_vector["frame"]))
        expected = Expected(golden_vector["ledger"])
        expected.add(key, amount)
        for frame in frames:
            collector.take(frame)
        tap.same(collector.words, expected.words)
        for name in ("acknowledged", "not_ready", "out_of_sequence",
                     "refused"):
            switch.answer(*map(bytes.fromhex, golden_vector[name]))
        tried += 1
    assert tried > 50, tried


def preceding():
    """a run begins with requests that add 0, so that a collector with old notes is noticed"""
    collector = begin({**ENTRY, "first_psn": PSNS - 5}, preceding=PRECEDING)
    frames = switch.tick()
    tap.same(len(frames), OUTSTANDING)
    tap.same([collector.read(frame)[:2] for frame in frames],
             [(0, 0)] * OUTSTANDING)
    tap.same(switch.tick(), [])
    for frame in frames:
        # On a busy machine some may have been sent again.
        more = [other for other in switch.answer(*collector.take(frame))
                if other not in frames]
        tap.same([collector.read(other)[:2] for other in more],
                 [(0, 0)] * (len(frames) < PRECEDING))
        frames += more
    window(PRECEDING, PRECEDING, PRECEDING)


def sums():
    """packets are added up, and sent when another flow needs the row, or after a second"""
    collector = begin()
    started = time.monotonic()
    tap.same(switch.count(*[KEY] * 5), [])
    tap.same(switch.outcomes(), {"added": 5})
    frames = []
    while not frames:
        frames = switch.tick()
    assert 0.5 < time.monotonic() - started < 20
    tap.same([collector.read(frame)[1] for frame in frames[:2]], [5, 5])
    # A row of the same number belongs to one flow at a time.
    collector = begin({**ENTRY, "rows": 3})
    other = next(key for key in (generate.flow(
        f"10.8.{n >> 8}.{n & 255}", "10.3.1.3", 1, 2, 17) for n in range(2**16))
        if cache_row(key) == cache_row(KEY))
    switch.count(KEY, KEY)
    frames = switch.count(other)
    tap.same([collector.read(frame)[1] for frame in frames], [2, 2, 2])


def bytes_of_flows():
    """it counts bytes of frames instead, if it is told to; keys of IPv6 likewise"""
    collector = begin(unit=1)
    key = generate.flow("2001:db8::1", "2001:db8::2", 7, 9, 17)
    switch.count(key, KEY)
    expected = Expected(ENTRY)
    expected.add(key, len(packets.packet(key)))
    expected.add(KEY, len(packets.packet(KEY)))
    all_requests(collector, key)
    all_requests(collector)
    tap.same(collector.words, expected.words)


def not_counted():
    """RoCE frames, damaged packets, others than IP and dropped packets are not counted"""
    collector = begin()
    whole = packets.packet(KEY)
    damaged = whole[:24] + bytes([whole[24] ^ 1]) + whole[25:]
    roce = request({**ENTRY, "mac": packets.host(2)}, SOURCE_MAC, 0, 1, 0)
    got = switch.send(damaged, roce)
    tap.same(got, {**SILENCE, 2: [damaged, roce]})
    got = switch.send(packets.packet(KEY, to=99))
    tap.same(got, SILENCE)
    tap.same(switch.outcomes(), {"other": 3})
    tap.same(all_requests(collector), [])
    switch.do("table_set_default ledger_collector NoAction")
    switch.count(KEY)
    tap.same(switch.outcomes(), {"unassigned": 1})


def limit():
    """no more than 16 requests wait for answers, and packets are missed when 256 do"""
    collector = begin()
    for number in range(400):
        switch.put("cache_key", number + 1, cache_row(KEY))
        switch.count(KEY)
    outcomes = switch.outcomes()
    missed = outcomes["missed"]
    tap.same(outcomes, {"added": 400 - missed, "missed": missed})
    assert 400 - missed > 100 and missed > 100, missed
    window(0, OUTSTANDING, OUTSTANDING)
    switch.put("due", 0)
    frames = switch.tick()
    tap.same(len(frames), OUTSTANDING)
    while frames:
        frames = switch.answer(*[told for frame in frames
                                 for told in collector.take(frame)])
    switch.let_time_pass(KEY)
    all_requests(collector)
    # The others were of keys that this test invented, and so were most words.
    total = generate_ledger.offset(ENTRY, ENTRY["rows"], KEY)
    tap.same(collector.words[total], 400 - missed)
    tap.same(sum(collector.words.values()), 3 * (400 - missed))


def three(collector):
    """Three requests are on their way."""
    switch.count(KEY)
    switch.let_time_pass(KEY)
    frames = switch.tick()
    tap.same([collector.read(frame)[2] for frame in frames],
             [(ENTRY["first_psn"] + n) % PSNS for n in range(3)])
    return frames


def again():
    """a NAK makes it send from that PSN on again, with the same addresses and amounts"""
    collector = begin()
    frames = three(collector)
    tap.same(switch.answer(collector.answer(1, NAK_SEQUENCE)), frames[1:])
    window(1, 3, 3)
    tap.same(switch.answer(collector.answer(1, NAK_SEQUENCE)), frames[1:])
    tap.same(switch.answer(collector.answer(0, NAK_SEQUENCE)), [])
    tap.same(switch.answer(collector.answer(1, NOT_READY)), [])
    tap.same(switch.answer(collector.answer(2)), [])
    window(3, 3, 3)
    outcomes = switch.outcomes()
    tap.same({name: outcomes[name] for name in
              ("nak", "stale", "malformed", "acknowledged")},
             {"nak": 2, "stale": 1, "malformed": 1, "acknowledged": 1})


def retries():
    """without an answer it sends all again, after twice the time each"""
    collector = begin()
    switch.put("pause", 0)
    before = time.monotonic()
    sent = switch.count(KEY)
    switch.let_time_pass(KEY)
    while len(sent) < 3 * 5:
        sent += switch.tick()
        # A tick takes some ms, on a busy machine as long as several pauses.
        least = sum(min(0.1 * 2**n, 1) for n in range(len(sent) // 3 - 1))
        assert time.monotonic() - before >= least, (len(sent), least)
    tap.same([collector.read(frame)[2] for frame in sent[:3]],
             [(ENTRY["first_psn"] + n) % PSNS for n in range(3)])
    tap.same(sent, sent[:3] * (len(sent) // 3))
    tap.same(switch.get("pause"), 1000000)
    switch.answer(collector.answer(2))
    tap.same(switch.get("pause"), 100000)


def refused():
    """after any other NAK it sends nothing more, until the control plane renews the queue pair"""
    collector = begin()
    three(collector)
    tap.same(switch.answer(collector.answer(1, NAK_ACCESS)), [])
    tap.same(switch.get("state"), BROKEN)
    window(1, 1, 1)
    switch.count(OTHER_KEY)
    tap.same(all_requests(collector, OTHER_KEY), [])
    renewed = {**ENTRY, "qpn": 18, "first_psn": 700}
    switch.renew(renewed)
    collector = Collector(renewed)
    frames = list(dict.fromkeys(switch.tick()))
    tap.same([collector.read(frame)[2] for frame in frames],
             [700 + n for n in range(2 + 3)])
    tap.same([switch.get("lost", row) for row in range(3)], [0, 0, 0])
    switch.put("state", STOPPED)
    tap.same(switch.answer(collector.answer(704)), [])
    window(1, 6, 6)


def renewed():
    """amounts that no answer came for are lost with their queue pair, by row; others are not"""
    collector = begin()
    for _ in range(3):
        switch.count(KEY)
        switch.let_time_pass(KEY)
        switch.tick()
    window(0, 9, 9)
    switch.answer(collector.answer(1))
    switch.put("state", STOPPED)
    switch.count(OTHER_KEY)
    switch.let_time_pass(OTHER_KEY)
    tap.same(switch.tick(), [])
    renewed = {**ENTRY, "qpn": 18, "first_psn": PSNS - 1}
    collector = Collector(renewed)
    switch.renew(renewed)
    # The switch takes note of one request with each packet.
    frames = [frame for _ in range(5) for frame in switch.tick()]
    tap.same([switch.get("lost", row) for row in range(3)], [2, 2, 3])
    expected = Expected(ENTRY)
    expected.add(OTHER_KEY)
    for frame in frames:
        collector.take(frame)
    tap.same(collector.words, expected.words)


def hostile():
    """only answers from the collector's port, address and queue pair to outstanding PSNs count"""
    collector = begin({**ENTRY, "first_psn": PSNS - 1})
    switch.count(KEY)
    switch.let_time_pass(KEY)
    frames = switch.tick()
    tap.same(len(frames), 3)
    right = collector.answer(PSNS - 1)
    tap.same(switch.answer(right, port=2), [])
    for changes in ({"ip": "10.0.0.9"}, {"qpn": 18}):
        tap.same(switch.answer(answer({**ENTRY, **changes}, SOURCE_MAC,
                                      ACKNOWLEDGE, ACK, PSNS - 1)), [])
    tap.same(switch.outcomes()["source"], 3)
    tap.same(switch.answer(right[:-1] + bytes([right[-1] ^ 1])), [])
    tap.same(switch.answer(right + bytes(1)), [])
    tap.same(switch.outcomes()["icrc"], 2)
    for psn in (PSNS - 2, 2, 2**23, 17):
        for syndrome in (ACK, NAK_SEQUENCE, NAK_ACCESS):
            tap.same(switch.answer(collector.answer(psn, syndrome)), [])
    tap.same(switch.outcomes()["stale"], 12)
    tap.same(switch.get("state"), 0)
    window(0, 3, 3)
    # A READ response: of the right queue pair, but without an AETH that was parsed.
    tap.same(switch.answer(answer(ENTRY, SOURCE_MAC, 0x10, ACK, 0)), [])
    window(0, 3, 3)
    tap.same(switch.answer(right), [])
    window(1, 3, 3)


switch = Adder()
tap.run(golden, preceding, sums, bytes_of_flows, not_counted, limit, again,
        retries, refused, renewed, hostile)
