#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""64 collectors at two ports: the collector and the PSN of each report."""

import itertools

import needs  # before all others

import generate
import packets
import tap
from switch import SILENCE, Switch, entry_of, report, share_of

COUNT = 64
SHARES = 1024
DESTINATION = 2
NODES = [1, 2, 3, 4, 5]
VALUE = packets.value_of(NODES)


def entry(number, **changes):
    """A collector that shares only the checksum's width with the others."""
    return entry_of(**{
        "port": 3 + number % 2, "mac": f"02:00:00:00:01:{number:02x}",
        "ip": f"10.9.{number}.1", "qpn": 0x0A0000 | number,
        "rkey": 0xB0000000 | number, "base": hex((number + 1) << 40),
        "slots_log2": 8 + number % 25, "redundancy": 1,
        "first_psn": number << 16, **changes})


def flow(number):
    """IPv4 and IPv6 in turn."""
    if number % 2:
        return generate.flow(f"2001:db8::{number + 1:x}", "2001:db8:1::1",
                             49152, 443, 6)
    return generate.flow(f"10.1.{number >> 8}.{number & 255}", "10.2.0.1",
                         49152, 443, 17)


def keys_of_all():
    """For each collector two keys of its shares, of IPv4 and of IPv6."""
    missing = {(number, length) for number in range(COUNT)
               for length in (13, 37)}
    for key in map(flow, itertools.count()):
        place = collector_of(key), len(key)
        if place in missing:
            missing.remove(place)
            yield key
        if not missing:
            return


def collector_of(key):
    """Each collector holds contiguous shares."""
    return share_of(key) * COUNT // SHARES


def int_of(key):
    return packets.with_int(packets.packet(key), NODES)


def expected(entries, keys, copies=1):
    """All frames by port, reports included."""
    sent = [0] * COUNT
    frames = {port: list(there) for port, there in SILENCE.items()}
    for key in keys:
        number = collector_of(key)
        frames[DESTINATION].append(packets.packet(key))
        for copy in range(min(copies, entries[number]["redundancy"])):
            frames[entries[number]["port"]].append(report(
                entries[number], key, VALUE, copy, sent[number]))
            sent[number] += 1
    return frames


def collect(entries, all_copies=False):
    switch.collect(entries, {share: share * COUNT // SHARES
                             for share in range(SHARES)}, all_copies)


def send(keys):
    return switch.send(*map(int_of, keys))


def each():
    """a report goes to the collector of its key, with that collector's addresses, rkey and PSN"""
    entries = {number: entry(number) for number in range(COUNT)}
    collect(entries)
    before = [switch.counter("dart_reports", number)
              for number in range(COUNT)]
    tap.same(send(all_keys), expected(entries, all_keys))
    for number in range(COUNT):
        tap.same(switch.counter("dart_reports", number) - before[number], 2,
                 f"dart_reports of {number}")


def each_redundancy():
    """each collector gets as many copies as its redundancy says"""
    entries = {number: entry(number, redundancy=1 + number % 8)
               for number in range(COUNT)}
    keys = [key for key in all_keys
            if (len(key) == 37) == collector_of(key) % 2]
    collect(entries, True)
    found, right = send(keys), expected(entries, keys, 8)
    for port, frames in found.items():
        tap.same(sorted(frames), sorted(right[port]))


def share_moves():
    """reports of a share that moves to another collector go there"""
    key = all_keys[0]
    old, new = entry(1), entry(2)
    for number, there in ((1, old), (2, new)):
        switch.collect({1: old, 2: new}, {share_of(key): number})
        tap.same(send([key])[there["port"]],
                 [report(there, key, VALUE)])


def numbers_of_each():
    """PSNs count the reports of each collector separately"""
    keys = [key for key in all_keys if collector_of(key) in (0, 1)]
    entries = {0: entry(0, port=3, first_psn=5),
               1: entry(1, port=3, first_psn=0x700000)}
    switch.collect(entries, {share_of(key): collector_of(key)
                             for key in keys})
    order = [keys[n] for n in (0, 1, 2, 3, 3, 2, 0, 0, 1, 1, 1, 2)]
    tap.same(send(order), expected(entries, order))


def numbers_wrap():
    """the PSN after 2^24 - 1 is 0, whatever the upper bits of the register hold"""
    key = all_keys[0]
    for above in (0, 0x01000000, 0xFF000000):
        start = entry(0, first_psn=0xFFFFFD)
        switch.collect({0: start}, {share_of(key): 0})
        switch.set_psn(0, above | 0xFFFFFD)
        tap.same(send([key] * 6)[start["port"]],
                 [report(start, key, VALUE, number=number)
                  for number in range(6)])


switch = Switch()
all_keys = list(keys_of_all())
tap.run(each, each_redundancy, share_moves, numbers_of_each, numbers_wrap)
