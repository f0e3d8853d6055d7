#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""The firewall for IPv6 and IPv4 lets a packet pass if the state of its connection does."""

import needs  # before all others

from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import (ICMPv6EchoRequest, ICMPv6ND_NS, IPv6, IPv6ExtHdrDestOpt,
                                IPv6ExtHdrFragment)
from scapy.layers.l2 import Dot1Q, Ether

import generate
import packets
import tap
from functions import OUT, SERVERS, Function, for_switch, routed
from lookups import SWITCH_MAC, Geometry, Server
from switch import SILENCE

NEXT_HOP_6 = packets.host(3)  # at the port of the route for IPv4
CONTROL = 4  # the port of the control plane
CLOSED, OPENING, ESTABLISHED, OPEN, TRACKED = range(5)
MAPPED = bytes(10) + b"\xff\xff"
SOURCE, DESTINATION = ("2001:db8::9", "2001:db8:1::1")
FLOW = generate.flow(SOURCE, DESTINATION, 49152, 443, 6)
DATAGRAMS = FLOW[:-1] + b"\x11"
FLOW_4 = generate.flow("203.0.113.9", "192.0.2.1", 49152, 443, 6)

SEGMENTS = (
    ("S", {OPEN}),
    ("SA", {OPENING, ESTABLISHED, OPEN}),
    ("A", {ESTABLISHED, OPEN, TRACKED}),
    ("FA", {ESTABLISHED, OPEN}),
    ("R", {OPENING, ESTABLISHED, OPEN}),
)


def mapped(key):
    """The key of a flow of IPv4 in a table for IPv6."""
    return MAPPED + key[:4] + MAPPED + key[4:8] + key[8:]


def routed6(frame):
    """As it leaves; no checksum covers the hop limit."""
    packet = Ether(frame)
    packet.src, packet.dst = SWITCH_MAC, NEXT_HOP_6
    packet[IPv6].hlim -= 1
    return bytes(packet)


def segment(key, flags):
    packet = Ether(for_switch(key))
    packet[TCP].flags = flags
    del packet[TCP].chksum
    return bytes(packet)


def check(packet, key, passes, there):
    """@there: the packet, as it leaves by an entry with one of the states @passes."""
    is_segment = key[-1] == 6
    for state in range(6):
        table.add(key, bytes([state]))
        if state in passes:
            left = {OUT: [there]}
        else:
            left = {CONTROL: [packet]} if is_segment and state == TRACKED else {}
        tap.same(switch.exchange(packet), {**SILENCE, **left}, f"state {state}")
        tap.same(switch.outcomes(), {"sent": 1, "found": 1})


def segments():
    """a segment of IPv6 passes by its flags and the state, or goes to the control plane"""
    for flags, passes in SEGMENTS:
        packet = segment(FLOW, flags)
        check(packet, FLOW, passes, routed6(packet))


def datagrams():
    """a datagram of IPv6 passes if its flow is established or open"""
    packet = for_switch(DATAGRAMS)
    check(packet, DATAGRAMS, {ESTABLISHED, OPEN}, routed6(packet))


def both():
    """IPv4 passes by the entry with its mapped addresses"""
    for flags, passes in SEGMENTS:
        packet = segment(FLOW_4, flags)
        check(packet, mapped(FLOW_4), passes, routed(packet))


def held():
    """the stash and the cache have entries of IPv6"""
    packet = for_switch(FLOW)
    for place, outcome in (("tea_stash tea_stashed", "stash"), ("tea_cache tea_cached", "cache")):
        switch.do("table_add", place, f"0x{FLOW.hex()}", "=>", f"0x{OPEN:02x}")
        tap.same(switch.exchange(packet), {**SILENCE, OUT: [routed6(packet)]})
        tap.same(switch.outcomes(), {outcome: 1})
    for name in ("tea_stash", "tea_cache"):
        switch.do("table_clear", name)


def tagged():
    """a packet of IPv6 keeps its tag"""
    table.add(FLOW, bytes([OPEN]))
    packet = Ether(for_switch(FLOW))
    packet = bytes(Ether(src=packet.src, dst=packet.dst) / Dot1Q(vlan=7) / packet.payload)
    tap.same(switch.exchange(packet), {**SILENCE, OUT: [routed6(packet)]})


def keyless():
    """packets without ports go to the control plane, as they are"""
    udp = UDP(sport=1, dport=2) / b"12345678"
    there = Ether(src=packets.host(1), dst=SWITCH_MAC)
    ip = IPv6(src=SOURCE, dst=DESTINATION)
    frames = [bytes(there / one) for one in (
        ip / ICMPv6EchoRequest(), ip / ICMPv6ND_NS(tgt=DESTINATION),
        ip / IPv6ExtHdrFragment(offset=1) / b"12345678", ip / IPv6ExtHdrDestOpt() / udp,
        IPv6(src="::ffff:192.0.2.1", dst=DESTINATION) / udp,
        IPv6(src=SOURCE, dst="::ffff:192.0.2.1") / udp)]
    tap.same(switch.exchange(*frames)[CONTROL], frames)
    tap.same(switch.outcomes(), {"keyless": len(frames)})


def invalid():
    """wrong lengths, another version and the last hop go there, too, and are not looked up"""
    good = for_switch(DATAGRAMS)
    last = Ether(good)
    last[IPv6].hlim = 1
    short = good[:18] + (len(good) - 54 + 1).to_bytes(2, "big") + good[20:]
    frames = [bytes(last), short, good[:14] + b"\x70" + good[15:],
              good[:18] + b"\0\7" + good[20:], good[:58]]
    tap.same(switch.exchange(*frames)[CONTROL], frames)
    tap.same(switch.outcomes(), {"invalid": len(frames)})


def limited():
    """a packet with an entry that is longer than the MTU goes there"""
    table.add(DATAGRAMS, bytes([OPEN]))
    switch.do("table_set_default tea_mtu tea_mtu_is", 1000)
    for length, there in ((1000 - 48, OUT), (1001 - 48, CONTROL)):
        packet = for_switch(DATAGRAMS, bytes(length))
        left = routed6(packet) if there == OUT else packet
        tap.same(switch.exchange(packet), {**SILENCE, there: [left]}, length)
    switch.do("table_set_default tea_mtu tea_mtu_is", 0xffff)


def unrouted():
    """a packet without a route is counted"""
    other = generate.flow(SOURCE, "2001:db9::1", 1, 2, 17)
    table.add(other, bytes([OPEN]))
    before = switch.counter("tea_lost", 1)
    tap.same(switch.exchange(for_switch(other)), SILENCE)
    tap.same(switch.counter("tea_lost", 1), before + 1)


table = Server(port=SERVERS[0], geometry=Geometry(2, key=37, value=1))
switch = Function("firewall6", table)
switch.do("table_add route6 route_to 2001:db8::/32 =>", OUT, NEXT_HOP_6)
for outcome in ("keyless", "invalid"):
    switch.otherwise(outcome, CONTROL)
tap.run(segments, datagrams, both, held, tagged, keyless, invalid, limited, unrouted,
        before=switch.outcomes)
