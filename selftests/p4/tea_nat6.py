#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""NAT for IPv6 and IPv4, for load balancers, gives packets the ends that their entries say."""

import ipaddress
import random

import needs  # before all others

from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

import generate
import packets
import tap
from functions import OUT, SERVERS, Function, for_switch, routed
from lookups import SWITCH_MAC, Geometry, Server
from switch import SILENCE

CONTROL = 4  # the port of the control plane
NEXT_HOP_6 = packets.host(3)
MAPPED = bytes(10) + b"\xff\xff"
DESTINATION, SOURCE, TRACKED = 0, 1, 2


def mapped(key):
    """The key of a flow of IPv4."""
    return MAPPED + key[:4] + MAPPED + key[4:8] + key[8:]


def value(address, port, flags):
    return address + port.to_bytes(2, "big") + bytes([flags])


def rewritten(frame, address, port, flags):
    """The frame as it leaves, with checksums that scapy computes anew."""
    packet = Ether(frame)
    packet.src, packet.dst = SWITCH_MAC, NEXT_HOP_6
    packet[IPv6].hlim -= 1
    transport = packet[TCP] if TCP in packet else packet[UDP]
    if flags & SOURCE:
        packet[IPv6].src, transport.sport = str(ipaddress.IPv6Address(address)), port
    else:
        packet[IPv6].dst, transport.dport = str(ipaddress.IPv6Address(address)), port
    del transport.chksum
    return bytes(packet)


def translates():
    """either end of a packet of IPv6 is replaced, and its checksum is right"""
    dice = random.Random(36)
    for number in range(24):
        key = generate.flow(b"\x20\x01\x0d\xb8" + dice.randbytes(12),
                            b"\x20\x01\x0d\xb8" + dice.randbytes(12), dice.randrange(2**16),
                            dice.randrange(2**16), (6, 17)[number % 2])
        address = b"\x20\x01\x0d\xb8" + dice.randbytes(12)
        port, flags = dice.randrange(2**16), number // 2 % 2
        table.add(key, value(address, port, flags), dice.randrange(16))
        packet = for_switch(key, dice.randbytes(dice.randrange(300)))
        tap.same(switch.exchange(packet),
                 {**SILENCE, OUT: [rewritten(packet, address, port, flags)]}, number)
    tap.same(switch.outcomes(), {"sent": 24, "found": 24})


def both():
    """a packet of IPv4 is translated by mapped addresses"""
    key = generate.flow("203.0.113.9", "192.0.2.10", 49152, 443, 17)
    table.add(mapped(key), value(MAPPED + bytes([10, 1, 0, 1]), 8443, DESTINATION))
    packet = for_switch(key)
    tap.same(switch.exchange(packet),
             {**SILENCE, OUT: [routed(packet, dst="10.1.0.1", dport=8443)]})


def of_another_family():
    """a packet whose entry has an address of the other family is dropped and counted"""
    before = switch.counter("tea_lost", 0)
    key = generate.flow("203.0.113.9", "192.0.2.11", 49152, 443, 17)
    table.add(mapped(key), value(b"\x20\x01\x0d\xb8" + bytes(12), 1, DESTINATION))
    other = generate.flow("2001:db8::9", "2001:db8::10", 49152, 443, 17)
    table.add(other, value(MAPPED + bytes([10, 1, 0, 1]), 1, DESTINATION))
    for one in (key, other):
        tap.same(switch.exchange(for_switch(one)), SILENCE)
    tap.same(switch.counter("tea_lost", 0), before + 2)


def tracked():
    """SYN, FIN and RST of a tracked flow go to the control plane as they are"""
    key = generate.flow("2001:db8::9", "2001:db8::10", 49152, 443, 6)
    address = b"\x20\x01\x0d\xb8" + bytes(11) + b"\x77"
    table.add(key, value(address, 8443, TRACKED))
    for flags, stays in (("S", True), ("FA", True), ("R", True), ("A", False), ("PA", False)):
        packet = Ether(for_switch(key))
        packet[TCP].flags = flags
        del packet[TCP].chksum
        packet = bytes(packet)
        left = {CONTROL: [packet]} if stays else {OUT: [rewritten(packet, address, 8443, 0)]}
        tap.same(switch.exchange(packet), {**SILENCE, **left}, flags)


table = Server(port=SERVERS[0], geometry=Geometry(4, key=37, value=19))
switch = Function("nat6", table)
switch.do("table_add route6 route_to 2001:db8::/32 =>", OUT, NEXT_HOP_6)
switch.otherwise("keyless", CONTROL)
tap.run(translates, both, of_another_family, tracked, before=switch.outcomes)
