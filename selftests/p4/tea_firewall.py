#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""The firewall lets a packet pass if the state of its connection does."""

import needs  # before all others

from scapy.layers.inet import IPOption_LSRR, TCP
from scapy.layers.l2 import Ether

import generate
import tap
from functions import OUT, SERVERS, Function, for_switch, routed
from lookups import Geometry, Server
from switch import SILENCE

FLOW = generate.flow("203.0.113.9", "192.0.2.1", 49152, 443, 6)
DATAGRAMS = FLOW[:-1] + b"\x11"
CLOSED, OPENING, ESTABLISHED, OPEN, TRACKED = range(5)
CONTROL = 4  # the port of the control plane

# Flags of TCP, and the states in which such a packet passes.
SEGMENTS = (
    ("S", {OPEN}),
    ("SA", {OPENING, ESTABLISHED, OPEN}),
    ("A", {ESTABLISHED, OPEN, TRACKED}),
    ("PA", {ESTABLISHED, OPEN, TRACKED}),
    ("FA", {ESTABLISHED, OPEN}),
    ("R", {OPENING, ESTABLISHED, OPEN}),
    ("RA", {OPENING, ESTABLISHED, OPEN}),
    ("", {ESTABLISHED, OPEN, TRACKED}),
)


def check(packet, key, passes, what):
    for state in range(6):
        table.add(key, bytes([state]))
        left = [routed(packet)] if state in passes else []
        tap.same(switch.exchange(packet), {**SILENCE, OUT: left},
                 (what, state))
        tap.same(switch.outcomes(), {"sent": 1, "found": 1})


def segments():
    """a segment passes by its flags and the state"""
    for flags, passes in SEGMENTS:
        packet = Ether(for_switch(FLOW))
        packet[TCP].flags = flags
        del packet[TCP].chksum
        check(bytes(packet), FLOW, passes, flags)


def datagrams():
    """a datagram passes if its flow is established or open"""
    check(for_switch(DATAGRAMS), DATAGRAMS, {ESTABLISHED, OPEN}, "UDP")


def closed():
    """a packet of an unknown connection does not pass"""
    for key in (FLOW, DATAGRAMS):
        table.set_row(table.geometry.home(key), {})
        tap.same(switch.exchange(for_switch(key)), SILENCE)
    tap.same(switch.outcomes(), {"sent": 2, "absent": 2})


def counted():
    """packets that it refuses are counted"""
    before = switch.counter("tea_lost", 0)
    table.add(FLOW, bytes([CLOSED]))
    switch.exchange(*[for_switch(FLOW)] * 3)
    tap.same(switch.counter("tea_lost", 0), before + 3)


def tracked():
    """SYN, FIN and RST of a tracked connection go to the control plane"""
    switch.otherwise("keyless", CONTROL)
    table.add(FLOW, bytes([TRACKED]))
    for flags, is_deferred in (("S", True), ("SA", True), ("FA", True),
                               ("R", True), ("RA", True), ("A", False)):
        packet = Ether(for_switch(FLOW))
        packet[TCP].flags = flags
        del packet[TCP].chksum
        packet = bytes(packet)
        left = {CONTROL: [packet]} if is_deferred else {OUT: [routed(packet)]}
        tap.same(switch.exchange(packet), {**SILENCE, **left}, flags)
    tap.same(switch.outcomes(), {"sent": 6, "found": 6})
    switch.do("table_clear tea_otherwise")


def source_routes():
    """a packet of an open connection that names routers goes to the control plane"""
    switch.otherwise("keyless", CONTROL)
    table.add(FLOW, bytes([OPEN]))
    packet = for_switch(FLOW, options=[IPOption_LSRR(routers=["198.51.100.7"])])
    tap.same(switch.exchange(packet), {**SILENCE, CONTROL: [packet]})
    tap.same(switch.outcomes(), {"keyless": 1})


table = Server(port=SERVERS[0], geometry=Geometry(2, value=1))
switch = Function("firewall", table)
tap.run(segments, datagrams, closed, counted, tracked, source_routes, before=switch.outcomes)
