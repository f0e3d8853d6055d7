#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Reports of a key: all copies, or one copy at random."""

import needs  # before all others

import generate
import packets
import tap
from switch import COLLECTORS, Switch, entry_of, report, share_of

DESTINATION = 2
NODES = [0x0A030101, 0x0A030301, 0x0A040102]
VALUE = packets.value_of(NODES)
KEYS = (generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 17),
        generate.flow("2001:db8::1", "2001:db8:ffff::2", 1024, 53, 6))
REDUNDANCIES = (1, 2, 4, 8)
ROUNDS = 128
ROUNDS_UNIFORM = 4096
CHI_SQUARED_7 = 40.52  # 7 degrees of freedom, p = 1e-6


def collect(key, redundancy, all_copies, **changes):
    entry = entry_of(redundancy=redundancy, **changes)
    switch.collect({63: entry}, {share_of(key): 63}, all_copies)
    return entry


def address_in(frame):
    """The address in RETH, after Ethernet, IP, UDP and BTH."""
    return int.from_bytes(frame[54:62], "big")


def psn_in(frame):
    return int.from_bytes(frame[51:54], "big")


def send(key, count):
    """The reports of @count packets, all of which must be forwarded."""
    plain = packets.packet(key)
    got = switch.send(*[packets.with_int(plain, NODES)] * count)
    tap.same(got[DESTINATION], [plain] * count)
    return got[COLLECTORS]


def all_copies():
    """with all copies on, a packet gives 1, 2, 4 or 8 reports, one for each copy in order"""
    for key in KEYS:
        for redundancy in REDUNDANCIES:
            for bits in (8, 16, 32, 64):
                entry = collect(key, redundancy, True, checksum_bits=bits)
                tap.same(send(key, 1),
                         [report(entry, key, VALUE, copy, number=copy)
                          for copy in range(redundancy)],
                         f"{redundancy} copies, checksums of {bits} bits")


def all_copies_of_many():
    """packets that arrive together give 8 reports each, with consecutive PSNs"""
    for key in KEYS:
        entry = collect(key, 8, True)
        places = [address_in(report(entry, key, VALUE, copy))
                  for copy in range(8)]
        reports = send(key, 8)
        tap.same(sorted(map(address_in, reports)), sorted(places * 8))
        tap.same(sorted(map(psn_in, reports)), list(range(64)))


def one_copy():
    """with all copies off, a packet gives a report of one copy, chosen at random"""
    for key in KEYS:
        for redundancy in REDUNDANCIES:
            entry = collect(key, redundancy, False)
            places = {address_in(report(entry, key, VALUE, copy)): copy
                      for copy in range(redundancy)}
            # The probability that a copy out of 8 is missing is 3e-7.
            reports = send(key, ROUNDS)
            tap.same(len(reports), ROUNDS)
            for number, frame in enumerate(reports):
                tap.same(frame, report(entry, key, VALUE,
                                       places[address_in(frame)], number))
            tap.same(set(map(address_in, reports)), set(places))


def uniform():
    """with all copies off, each of 8 copies is equally likely"""
    entry = collect(KEYS[0], 8, False)
    places = [address_in(report(entry, KEYS[0], VALUE, copy))
              for copy in range(8)]
    reports = send(KEYS[0], ROUNDS_UNIFORM)
    tap.same(list(map(psn_in, reports)), list(range(ROUNDS_UNIFORM)))
    counts = [list(map(address_in, reports)).count(place)
              for place in places]
    tap.same(sum(counts), ROUNDS_UNIFORM)
    expected = ROUNDS_UNIFORM / 8
    statistic = sum((count - expected)**2 / expected for count in counts)
    tap.note(f"chi-squared of {ROUNDS_UNIFORM} reports: {statistic:.1f}, "
             f"{counts} (exceeds {CHI_SQUARED_7} once in a million)")
    assert statistic < CHI_SQUARED_7


switch = Switch()
tap.run(all_copies, all_copies_of_many, one_copy, uniform)
