#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""The VPN gateway for IPv6 and IPv4 moves packets between tunnels of the same family."""

import random
from socket import AF_INET6, inet_ntop

import needs  # before all others

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt
from scapy.layers.l2 import Ether
from scapy.layers.vxlan import VXLAN

import packets
import tap
from functions import NEXT_HOP, OUT, SERVERS, Function, tunnel_port, tunnelled
from lookups import SWITCH_MAC, Geometry, Server
from switch import SILENCE

NEXT_HOP_6 = packets.host(3)  # at the port of the route for IPv4
CONTROL = SERVERS[1]  # the port of the control plane
OFFICE, SWITCH = "2001:db8:1::2", "2001:db8::1"
MAPPED = bytes(10) + b"\xff\xff"
SOURCE = "172.16.0.1"  # inside
KEY = bytes([0, 0, 5, 10, 0, 0, 1])
SERVER = bytes.fromhex("20010db8000200000000000000000009")
LENGTH = 600  # of an IPv6 packet that carries a tunnel


def tunnelled6(vni, machine, to=SWITCH, checksum=None, payload=packets.PAYLOAD, moved=False,
               flags=8):
    """A packet of the office to a machine, in a tunnel over IPv6; @moved: as it leaves."""
    port = tunnel_port(49152, SOURCE, machine) if moved else 49152
    inner = (Ether(src="02:11:00:00:00:01", dst="02:11:00:00:00:02") /
             IP(src=SOURCE, dst=machine) / UDP(sport=5, dport=6) / payload)
    packet = (Ether(src=SWITCH_MAC if moved else packets.host(1),
                    dst=NEXT_HOP_6 if moved else SWITCH_MAC) /
              IPv6(src=OFFICE, dst=to, hlim=63 if moved else 64) /
              UDP(sport=port, dport=4789) / VXLAN(vni=vni, flags=flags) / inner)
    frame = Ether(bytes(packet))
    if checksum is not None:
        frame[UDP].chksum = checksum
    return bytes(frame)


def text_of(server):
    return inet_ntop(AF_INET6, server)


def moves():
    """a packet over IPv6 gets the server and the tunnel of its machine, with the right checksum"""
    dice = random.Random(36)
    for _ in range(30):
        vni, new_vni = dice.randrange(2**24), dice.randrange(2**24)
        machine, server = dice.randbytes(4), b"\x20\x01" + dice.randbytes(14)
        table.add(vni.to_bytes(3, "big") + machine,
                  server + new_vni.to_bytes(3, "big"), dice.randrange(16))
        machine = ".".join(map(str, machine))
        tap.same(switch.exchange(tunnelled6(vni, machine)),
                 {**SILENCE, OUT: [tunnelled6(new_vni, machine, text_of(server), moved=True)]})
        tap.same(switch.outcomes(), {"sent": 1, "found": 1})


def no_checksum():
    """a tunnel over IPv6 without a checksum stays without"""
    table.add(KEY, SERVER + bytes([0, 0, 9]))
    tap.same(switch.exchange(tunnelled6(5, "10.0.0.1", checksum=0)),
             {**SILENCE, OUT: [tunnelled6(9, "10.0.0.1", text_of(SERVER), checksum=0,
                                          moved=True)]})
    tap.same(switch.outcomes(), {"sent": 1, "found": 1})


def mapped():
    """a packet over IPv4 gets a mapped server, as with the program for IPv4"""
    table.add(KEY, MAPPED + bytes([192, 0, 2, 1, 0, 0, 9]))
    for checksum in (None, 0):
        tap.same(switch.exchange(tunnelled(5, "10.0.0.1", checksum=checksum)),
                 {**SILENCE, OUT: [tunnelled(9, "10.0.0.1", checksum=checksum, to="192.0.2.1",
                                             ttl=63, mac=NEXT_HOP)]})
        tap.same(switch.outcomes(), {"sent": 1, "found": 1})


def families():
    """a packet whose server has an address of the other family is dropped"""
    table.add(KEY, SERVER + bytes([0, 0, 9]))
    tap.same(switch.exchange(tunnelled(5, "10.0.0.1")), SILENCE)
    tap.same(switch.outcomes(), {"sent": 1, "found": 1})
    table.add(KEY, MAPPED + bytes([192, 0, 2, 1, 0, 0, 9]))
    tap.same(switch.exchange(tunnelled6(5, "10.0.0.1")), SILENCE)
    tap.same(switch.outcomes(), {"sent": 1, "found": 1})


def unknown():
    """a packet for an unknown machine is dropped"""
    table.set_row(table.geometry.home(KEY), {})
    tap.same(switch.exchange(tunnelled6(5, "10.0.0.1")), SILENCE)
    tap.same(switch.outcomes(), {"sent": 1, "absent": 1})


def keyless():
    """a packet without a valid VNI, of another port or with options has no key"""
    table.add(KEY, SERVER + bytes([0, 0, 9]))
    plain = Ether(tunnelled6(5, "10.0.0.1"))
    plain[UDP].dport = 4788
    options = Ether(tunnelled6(5, "10.0.0.1"))
    options[IPv6].payload = IPv6ExtHdrDestOpt() / options[UDP]
    options[IPv6].nh = 60
    del options[IPv6].plen
    for packet in (plain, options, Ether(tunnelled6(5, "10.0.0.1", flags=0))):
        tap.same(switch.exchange(bytes(packet)), SILENCE)
        tap.same(switch.outcomes(), {"keyless": 1})


def lengths():
    """headers of the tunnel beyond the end of the IPv6 packet are not read"""
    table.add(KEY, SERVER + bytes([0, 0, 9]))
    for length in (8, 16, 29, 30, 49):
        packet = Ether(tunnelled6(5, "10.0.0.1"))
        packet[IPv6].plen = length
        tap.same(switch.exchange(bytes(packet)), SILENCE, length)
        tap.same(switch.outcomes(), {"invalid": 1}, length)


def long():
    """a packet that is too long for its tunnel goes to the control plane as it is"""
    table.add(KEY, SERVER + bytes([0, 0, 9]))
    switch.otherwise("keyless", CONTROL)
    payload = bytes(LENGTH - 98)
    packet = tunnelled6(5, "10.0.0.1", payload=payload)
    assert Ether(packet)[IPv6].plen == LENGTH - 40
    moved = tunnelled6(9, "10.0.0.1", text_of(SERVER), payload=payload, moved=True)
    for mtu, way in ((LENGTH - 1, CONTROL), (LENGTH, OUT)):
        switch.do("table_set_default tea_mtu tea_mtu_is", mtu)
        tap.same(switch.exchange(packet),
                 {**SILENCE, way: [packet if way == CONTROL else moved]}, mtu)
        switch.outcomes()


table = Server(port=SERVERS[0], geometry=Geometry(2, key=7, value=19))
switch = Function("gateway6", table)
switch.do("table_add route6 route_to ::/0 =>", OUT, NEXT_HOP_6)
tap.run(moves, no_checksum, mapped, families, unknown, keyless, lengths, long,
        before=switch.outcomes)
