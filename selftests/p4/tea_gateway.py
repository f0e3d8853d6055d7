#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""The VPN gateway moves packets from the tunnel of a customer into the tunnel of a server."""

import random

import needs  # before all others

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.layers.vxlan import VXLAN

import tap
from functions import NEXT_HOP, OUT, SERVERS, Function, tunnelled
from lookups import SWITCH_IP, SWITCH_MAC, Geometry, Server
from switch import SILENCE


def moves():
    """a packet gets the server and the tunnel of its machine, with the right checksums"""
    dice = random.Random(18)
    for checksum in (None, 0):
        for _ in range(20):
            vni, new_vni = dice.randrange(2**24), dice.randrange(2**24)
            machine, server = (dice.randbytes(4) for _ in range(2))
            key = vni.to_bytes(3, "big") + machine
            table.add(key, server + new_vni.to_bytes(3, "big"),
                      dice.randrange(16))
            machine, server = (".".join(map(str, address))
                               for address in (machine, server))
            packet, moved = (tunnelled(vni, machine, checksum=checksum),
                             tunnelled(new_vni, machine, checksum=checksum,
                                       to=server, ttl=63, mac=NEXT_HOP))
            tap.same(switch.exchange(packet), {**SILENCE, OUT: [moved]})
            tap.same(switch.outcomes(), {"sent": 1, "found": 1})


def ports():
    """flows of one tunnel leave by many source ports"""
    key = bytes([0, 0, 5, 10, 0, 0, 1])
    table.add(key, bytes([192, 0, 2, 1, 0, 0, 9]))
    sources = [f"172.16.{number}.{7 * number + 1}" for number in range(30)]
    left = []
    for source in sources:
        moved = tunnelled(9, "10.0.0.1", to="192.0.2.1", ttl=63, mac=NEXT_HOP,
                          source=source)
        tap.same(switch.exchange(tunnelled(5, "10.0.0.1", source=source)),
                 {**SILENCE, OUT: [moved]})
        left.append(Ether(moved)[UDP].sport)
    assert len(set(left)) > 25, left
    switch.outcomes()


def long():
    """a packet that is too long for its tunnel goes to the control plane as it is"""
    key = bytes([0, 0, 5, 10, 0, 0, 1])
    table.add(key, bytes([192, 0, 2, 1, 0, 0, 9]))
    switch.otherwise("keyless", CONTROL)
    payload = bytes(LENGTH - 78)
    for mtu, way in ((LENGTH - 1, CONTROL), (LENGTH, OUT), (1500, OUT)):
        switch.do("table_set_default tea_mtu tea_mtu_is", mtu)
        packet = tunnelled(5, "10.0.0.1", payload)
        assert Ether(packet)[IP].len == LENGTH
        moved = tunnelled(9, "10.0.0.1", payload, to="192.0.2.1", ttl=63,
                          mac=NEXT_HOP)
        tap.same(switch.exchange(packet),
                 {**SILENCE, way: [packet if way == CONTROL else moved]}, mtu)
        switch.outcomes()


def zeros():
    """the entry of VNI 0 and address 0.0.0.0 is found after and between free cells"""
    key = bytes(7)
    cell = table.geometry.cell_of(key, bytes([192, 0, 2, 1, 0, 0, 9]))
    home = table.geometry.home(key)
    for number in (0, 4, 15):
        table.set_row(home, {number: cell})
        tap.same(switch.exchange(tunnelled(0, "0.0.0.0")), {
            **SILENCE, OUT: [tunnelled(9, "0.0.0.0", to="192.0.2.1", ttl=63,
                                       mac=NEXT_HOP)]})
        tap.same(switch.outcomes(), {"sent": 1, "found": 1})
    table.set_row(home, {})
    tap.same(switch.exchange(tunnelled(0, "0.0.0.0")), SILENCE)
    tap.same(switch.outcomes(), {"sent": 1, "absent": 1})


def unknown():
    """a packet for an unknown machine, or in another tunnel, is dropped"""
    key = bytes([0, 0, 5, 10, 0, 0, 1])
    table.add(key, bytes(7))
    for vni, machine in ((5, "10.0.0.2"), (6, "10.0.0.1")):
        other = vni.to_bytes(3, "big") + bytes(
            map(int, machine.split(".")))
        table.set_row(table.geometry.home(other), {})
        tap.same(switch.exchange(tunnelled(vni, machine)), SILENCE)
        tap.same(switch.outcomes(), {"sent": 1, "absent": 1})


def keyless():
    """a packet without IPv4 in VXLAN has no key"""
    plain = Ether(tunnelled(5, "10.0.0.1"))
    plain[UDP].dport = 4788
    arp = (Ether(dst=SWITCH_MAC) / IP(dst=SWITCH_IP) / UDP(dport=4789) /
           VXLAN(vni=5, flags=8) / Ether(type=0x806) / ARP())
    for packet in (bytes(plain), bytes(arp)):
        tap.same(switch.exchange(packet), SILENCE)
        tap.same(switch.outcomes(), {"keyless": 1})


def flags():
    """a packet whose VNI is not valid has no key, whatever else its flags say"""
    key = bytes([0, 0, 5, 10, 0, 0, 1])
    table.add(key, bytes([192, 0, 2, 1, 0, 0, 9]))
    for flags_ in (0, 0x10, 0xF3):
        tap.same(switch.exchange(tunnelled(5, "10.0.0.1", flags=flags_)),
                 SILENCE)
        tap.same(switch.outcomes(), {"keyless": 1}, flags_)
    # The switch ignores and keeps the other flags; with 4 scapy makes another header.
    for flags_ in (0x08, 0x88, 0xFB):
        packet = tunnelled(5, "10.0.0.1", flags=flags_)
        moved = tunnelled(9, "10.0.0.1", to="192.0.2.1", ttl=63,
                          mac=NEXT_HOP, flags=flags_)
        tap.same(switch.exchange(packet), {**SILENCE, OUT: [moved]})
        tap.same(switch.outcomes(), {"sent": 1, "found": 1}, flags_)


def lengths():
    """headers of the tunnel beyond the end of the IPv4 packet are not read"""
    key = bytes([0, 0, 5, 10, 0, 0, 1])
    table.add(key, bytes([192, 0, 2, 1, 0, 0, 9]))
    for length in (28, 36, 49, 50, 69):
        packet = Ether(tunnelled(5, "10.0.0.1"))
        packet[IP].len = length
        del packet[IP].chksum
        tap.same(switch.exchange(bytes(packet)), SILENCE, length)
        tap.same(switch.outcomes(), {"invalid": 1}, length)


CONTROL = SERVERS[1]  # the port of the control plane
LENGTH = 600  # of an IPv4 packet that carries a tunnel

table = Server(port=SERVERS[0], geometry=Geometry(2, key=7, value=7))
switch = Function("gateway", table)
tap.run(moves, ports, zeros, unknown, keyless, flags, lengths, long,
        before=switch.outcomes)
