#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Packets without an entry in the switch become the right WRITE and READ."""

import json
import random

from needs import TREE  # before all others

from scapy.layers.inet import IPOption_LSRR, IPOption_NOP, IPOption_SSRR

import generate
import packets
import tap
from functions import OUT, Function, for_switch
from lookups import PSNS, Geometry, Server
from switch import SILENCE, SOURCE

UDP = generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 17)
TCP = generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 6)
HEADERS = {UDP: 42, TCP: 54}
SERVER = 3  # a port
LONGEST = 1514
ELSEWHERE = 4  # a port of the control plane


def requests(*frames, **outcomes):
    """The requests for frames, all with the same outcome."""
    got = switch.send(*frames)
    tap.same({**got, SERVER: []}, SILENCE)
    tap.same(switch.outcomes(), outcomes)
    return got[SERVER]


def check(server, psn, packet, key, **tag):
    tap.same(requests(packet, sent=1), server.lookup(psn, packet, key, **tag),
             f"{len(packet)} bytes")


def renew(**changes):
    """Other numbers of the server's entry."""
    for name, value in changes.items():
        setattr(server, name, value)
    switch.add(server)


def lengths():
    """a packet of any length is written with its pad, and read back with its row"""
    for key, begin in HEADERS.items():
        for length in (*range(begin, begin + 9), 511, 512, 513,
                       *range(LONGEST - 5, LONGEST + 1)):
            renew()
            check(server, 0, for_switch(key, bytes(length - begin)), key)


def numbers():
    """all numbers of the server's entry go into the requests"""
    for changes in ({"qpn": 0xFFFFFF, "rkey": 0xFFFFFFFF,
                     "base": 0xFFFFFFFFF0000000, "mac": "fe:ff:ff:ff:ff:ff",
                     "epoch": 0xFFFFFF},
                    {"qpn": 2, "rkey": 0, "base": 0, "epoch": 1}):
        renew(**changes)
        check(server, 0, for_switch(UDP), UDP)
    for rows_log2 in (0, 1, 5, 20, 28):
        renew(geometry=Geometry(rows_log2))
        check(server, 0, for_switch(TCP), TCP)
    renew(geometry=Geometry(), **ENTRY)


def keys():
    """the row follows from the key"""
    dice = random.Random(18)
    for _ in range(40):
        key = generate.flow(dice.randbytes(4), dice.randbytes(4),
                            dice.randrange(2**16), dice.randrange(2**16),
                            dice.choice((6, 17)))
        renew()
        check(server, 0, for_switch(key), key)


def wrap():
    """PSNs wrap"""
    for first in (PSNS - 1, PSNS - 2, PSNS - 3):
        server.first_psn = first
        renew()
        for n in range(4):
            check(server, first + 2 * n, for_switch(UDP), UDP)
        tap.same(switch.get("psn", server), (first + 8) % PSNS)
        tap.same(switch.get("outstanding", server), 8)
    server.first_psn = 0


def tagged():
    """a packet with one VLAN tag or two is looked up with them; after three, no key is read"""
    renew()
    for number, digits in enumerate(("81000005", "8100a000", "88a80008",
                                     "88a8000881000005", "91000008",
                                     "9200000893000005")):
        check(server, 2 * number, packets.with_tags(for_switch(UDP), digits),
              UDP)
    for digits in ("88a800088100000581000006", "86dd", "0806"):
        packet = packets.with_tags(for_switch(UDP), digits)
        tap.same(requests(packet, keyless=1), [], digits)


def too_long():
    """a packet longer than the table allows is not sent, but counted"""
    renew()
    packet = for_switch(UDP, bytes(LONGEST - 41))
    tap.same(requests(packet, long=1), [])
    switch.limit(packet_length=99)
    tap.same(requests(for_switch(UDP, bytes(58)), long=1), [])
    check(server, 0, for_switch(UDP, bytes(57)), UDP)
    switch.limit()
    tap.same(switch.get("outstanding", server), 2)


def not_sent():
    """packets without a key, or with a wrong IPv4 header, are not sent, but counted"""
    renew()
    good = for_switch(UDP)
    for outcome, at, digits in (
            ("invalid", 24, "0000"), ("invalid", 14, "55"),
            ("invalid", 14, "44"), ("invalid", 16, "ffff"),
            ("keyless", 12, "0806"), ("keyless", 12, "86dd")):
        change = bytes.fromhex(digits)
        packet = good[:at] + change + good[at + len(change):]
        tap.same(requests(packet, **{outcome: 1}), [], digits)
    for packet in (for_switch(UDP, ttl=1), for_switch(UDP, ttl=0),
                   good[:40], for_switch(TCP)[:53]):
        tap.same(requests(packet, invalid=1), [])
    for packet in (for_switch(UDP, flags="MF"), for_switch(UDP, frag=3),
                   for_switch(UDP[:-1] + b"\x01"),
                   for_switch(generate.flow("10.1.0.2", "10.0.0.2", 1, 4791,
                                            17))):
        tap.same(requests(packet, keyless=1), [])


def with_options():
    """a packet with a source route, or with any other option of IPv4, has no key"""
    renew()
    for key in UDP, TCP:
        for options in ([IPOption_LSRR(routers=["10.0.0.9"])],
                        [IPOption_SSRR(routers=["10.0.0.9"])],
                        [IPOption_NOP()] * 4, [IPOption_NOP()] * 40):
            tap.same(requests(for_switch(key, options=options), keyless=1), [], options)


def behind_the_end():
    """ports beyond the end of the IPv4 packet, in its padding, are not read"""
    renew()
    for key, least in ((UDP, 28), (TCP, 40)):
        for length in (20, 24, least - 1):
            packet = for_switch(key, len=length)
            tap.same(requests(packet, invalid=1), [], length)
    for psn, (key, least) in enumerate(((UDP, 28), (TCP, 40))):
        check(server, 2 * psn, for_switch(key, len=least), key)
    options = for_switch(UDP, options=[IPOption_NOP()] * 4, len=28)
    tap.same(requests(options, keyless=1), [])


def invalid_elsewhere():
    """an invalid packet leaves as it arrived where the operator wants it"""
    good = for_switch(UDP)
    packets_ = [for_switch(UDP, ttl=1), good[:24] + b"\0\0" + good[26:],
                good[:40], for_switch(UDP, len=27)]
    switch.otherwise("invalid", ELSEWHERE)
    tap.same(switch.send(*packets_), {**SILENCE, ELSEWHERE: packets_})
    tap.same(switch.outcomes(), {"invalid": len(packets_)})
    switch.do("table_clear tea_otherwise")


def zeros():
    """a packet whose IPv4 checksum is 0 or 0xffff, both of which are right, is sent"""
    good = for_switch(UDP)
    first, identification = (int.from_bytes(good[at:at + 2], "big")
                             for at in (24, 18))
    # The identification takes the whole checksum.
    taken = packets.add(identification, first).to_bytes(2, "big")
    frame = packets.with_ip_checksum(good[:18] + taken + good[20:])
    tap.same(frame[24:26], b"\0\0")
    renew()
    for n, checksum in enumerate((b"\0\0", b"\xff\xff")):
        check(server, 2 * n, frame[:24] + checksum + frame[26:], UDP)


def other():
    """a packet that is not for the MAC of the switch is forwarded unchanged"""
    frames = [packets.packet(key, ttl=ttl) for key in HEADERS
              for ttl in (0, 64)]
    frames += [packets.packet(UDP, bytes(5000)), packets.packet(UDP)[:30]]
    tap.same(switch.send(*frames), {**SILENCE, OUT: frames})
    tap.same(switch.outcomes(), {"other": len(frames)})


def arrival():
    """the tag contains the port of arrival"""
    renew()
    packet = for_switch(UDP)
    got = switch.send(packet, source=4)
    tap.same(got[SERVER], server.lookup(0, packet, UDP, port=4))
    tap.same(switch.outcomes(), {"sent": 1})


def vectors():
    """the requests that this test expects equal the golden vectors"""
    with open(TREE / "selftests/vectors/tables.json",
              encoding="utf-8") as file:
        exchanges = [vector for vector in json.load(file)
                     if vector["exchange"]]
    assert exchanges
    for vector in exchanges:
        exchange, sizes = vector["exchange"], vector["geometry"]
        numbers_ = exchange["server"]
        there = Server(
            geometry=Geometry(sizes["rows_log2"], sizes["cells"],
                              sizes["key_length"], sizes["value_length"],
                              sizes["packet_length"]),
            **{**numbers_, "base": int(numbers_["base"], 16)},
            epoch=vector["epoch"],
            switch=(exchange["switch"]["mac"], exchange["switch"]["ip"]))
        requests_ = there.lookup(
            exchange["psn"], bytes.fromhex(exchange["packet"]),
            bytes.fromhex(vector["key"]), port=exchange["port"])
        tap.same([request.hex() for request in requests_],
                 [exchange["write"], exchange["read"]])


server = Server(port=SERVER)
ENTRY = {name: getattr(server, name)
         for name in ("qpn", "rkey", "base", "mac", "epoch")}
switch = Function("nat", server)
assert SOURCE not in (SERVER, OUT)
tap.run(vectors, lengths, numbers, keys, wrap, tagged, too_long, not_sent,
        with_options, behind_the_end, invalid_elsewhere, zeros, other, arrival,
        before=switch.outcomes)
