#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A table without the needed entry costs the report, but never the packet.

The counters show it: the packet counts as reported, the report is not counted.
"""

import subprocess

import needs  # before all others

import generate
import packets
import tap
from switch import COLLECTORS, SILENCE, Switch, entry_of, share_of

DESTINATION = 2
NUMBER = 9
ABSENT = 6  # a host without a port
DEAD = 7  # a port that is added later
MANY = 100
SWITCH_ID = 1
PATH = [1, 2, 3]
KEYS = (generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 17),
        generate.flow("2001:db8::1", "2001:db8:ffff::2", 1024, 53, 6))


def collect(*keys):
    switch.collect({NUMBER: entry_of()},
                   {share_of(key): NUMBER for key in keys or KEYS})
    switch.outcomes()


def reports():
    return switch.counter("dart_reports", NUMBER)


def check_silence(outcome):
    """The packets are forwarded, without a report."""
    before = reports()
    for key in KEYS:
        plain = packets.packet(key)
        got = switch.send(packets.with_int(plain, PATH))
        tap.same(got, {**SILENCE, DESTINATION: [plain]})
    tap.same(reports(), before, "dart_reports")
    tap.same(switch.outcomes(), {outcome: len(KEYS)})


def nothing_missing():
    """with all entries in the tables, packets are reported and forwarded"""
    collect()
    before = reports()
    for key in KEYS:
        plain = packets.packet(key)
        got = switch.send(packets.with_int(plain, PATH))
        tap.same(got[DESTINATION], [plain])
        tap.same(len(got[COLLECTORS]), 1)
    tap.same(reports() - before, len(KEYS), "dart_reports")
    tap.same(switch.outcomes(), {"report": len(KEYS)})


def forward():
    """a packet to an unknown host is dropped without a report"""
    collect()
    before = reports()
    for key in KEYS:
        plain = packets.packet(key, to=ABSENT)
        tap.same(switch.send(plain, packets.with_int(plain, PATH)), SILENCE)
    tap.same(reports(), before, "dart_reports")


def share():
    """a packet whose share belongs to no collector is forwarded without a report"""
    collect()
    switch.do("table_clear dart_share")
    check_silence("unassigned")


def collector():
    """a packet whose collector is not in the table is forwarded without a report"""
    collect()
    switch.do("table_clear dart_collector")
    check_silence("report")


def number():
    """a packet whose collector's number is above 63 is forwarded without a report"""
    for beyond in (64, 65, 128, 255):
        collect()
        switch.do("table_clear dart_share")
        switch.add_collector(beyond, entry_of())
        for key in KEYS:
            switch.do("table_add dart_share dart_assign", share_of(key), "=>",
                      beyond, 1 + COLLECTORS)
        check_silence("report")


def reporter():
    """without an address of the reporter a packet is forwarded without a report"""
    collect()
    switch.do("table_reset_default dart_reporter")
    check_silence("report")


def session():
    """without the mirroring session a packet is forwarded without a report"""
    collect()
    switch.do("mirroring_delete", 1 + COLLECTORS)
    check_silence("report")
    switch.do("mirroring_add", 1 + COLLECTORS, COLLECTORS)


def link():
    """a collector beyond a dead link loses its reports, and packets are forwarded"""
    subprocess.run(["ip", "link", "add", "dead", "up", "type", "veth",
                    "peer", "name", "behind"], check=True)
    switch.do("port_add dead", DEAD)
    switch.do("mirroring_add", 1 + DEAD, DEAD)
    switch.collect({NUMBER: entry_of() | {"port": DEAD}},
                   {share_of(key): NUMBER for key in KEYS})
    switch.outcomes()
    before = reports()
    plain = [packets.packet(key) for key in KEYS] * MANY
    got = switch.send(*(packets.with_int(packet, PATH) for packet in plain))
    tap.same(got, {**SILENCE, DESTINATION: plain})
    tap.same(reports() - before, len(plain), "dart_reports")
    tap.same(switch.outcomes(), {"report": len(plain)})


def postcards():
    """a missing share, collector, reporter or session costs a postcard, never its packet"""
    switch.sink("none")
    switch.do("table_set_default dart_postcard dart_report_hop", SWITCH_ID)
    frames = [packets.packet(key) for key in KEYS]
    for miss in ("table_clear dart_share", "table_clear dart_collector",
                 "table_reset_default dart_reporter",
                 f"mirroring_delete {1 + COLLECTORS}"):
        collect(*(key + SWITCH_ID.to_bytes(4, "big") for key in KEYS))
        tap.same(len(switch.send(*frames)[COLLECTORS]), len(frames))
        tap.same(switch.outcomes(), {"report": len(frames)})
        switch.do(miss)
        tap.same(switch.send(*frames), {**SILENCE, DESTINATION: frames},
                 miss)


switch = Switch()
tap.run(nothing_missing, forward, share, collector, number, reporter, session,
        link, postcards)
