#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A packet gets its entry from its row, or from the cache or the stash of the switch.

The entries are those of NAT.
"""

import random

import needs  # before all others

import generate
import tap
from functions import OUT, SERVERS, Function, for_switch, routed
from lookups import Geometry, Server
from switch import SILENCE

UDP = generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 17)
TCP = generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 6)
VALUE = generate.flow("192.0.2.1", "192.0.2.1", 0, 80, 0)[:4] + b"\x1f\x90\0"
OTHER = bytes([198, 51, 100, 7, 0, 7, 0])
NEW = {"dst": "192.0.2.1", "dport": 8080}
ELSEWHERE = 4  # a port of the control plane


def check(frame, left, **outcomes):
    """The frames that leave when the server answers."""
    tap.same(switch.exchange(frame), {**SILENCE, OUT: left}, outcomes)
    tap.same(switch.outcomes(), outcomes)
    tap.same(switch.get("outstanding", server), 0)


def row(cells, key=UDP, **fields):
    server.set_row(server.geometry.home(key), cells, **fields)


def cell(key=UDP, value=VALUE, **changes):
    return server.geometry.cell_of(key, value, **changes)


def torn(key=UDP):
    """A cell with the key, whose value changed after its check was written."""
    return server.geometry.cell_of(key, OTHER,
                                   check=int.from_bytes(cell()[:4], "big"))


def cells():
    """an entry in any cell is found"""
    for key in (UDP, TCP):
        packet = for_switch(key)
        for number in range(2 * server.geometry.cells):
            row({number: cell(key)}, key)
            check(packet, [routed(packet, **NEW)], sent=1, found=1)


def full_row():
    """an entry is found among others"""
    dice = random.Random(1)
    others = {number: cell(dice.randbytes(13)) for number in range(16)}
    packet = for_switch(UDP)
    for number in range(16):
        row({**others, number: cell()})
        check(packet, [routed(packet, **NEW)], sent=1, found=1)
    row(others)
    check(packet, [], sent=1, absent=1)


def half_written():
    """a half-written cell is not an entry; its other copy is found before it and after it"""
    packet = for_switch(UDP)
    for cells_ in ({0: torn(), 9: cell()}, {0: cell(), 9: torn()},
                   {7: torn(), 8: cell()}, {14: cell(), 15: torn()}):
        row(cells_)
        check(packet, [routed(packet, **NEW)], sent=1, found=1)
        row(cells_, sequence=3, end=2)
        check(packet, [routed(packet, **NEW)], sent=1, found=1)
    row({3: torn()})
    check(packet, [], sent=1, absent=1)
    row({3: cell(check=0)})
    check(packet, [], sent=1, absent=1)


def zeros():
    """a free cell is not an entry of the key of zeros"""
    key = bytes(12) + b"\x06"
    packet = for_switch(key)
    row({}, key)
    check(packet, [], sent=1, absent=1)
    row({4: cell(key)}, key)
    check(packet, [routed(packet, **NEW)], sent=1, found=1)


def changing():
    """a packet is sent again while its row changes, as often as is allowed"""
    packet = for_switch(UDP)
    for sequence, end in ((2, 3), (3, 2), (3, 3), (2**32 - 1, 0)):
        row({}, sequence=sequence, end=end, stashed=1)
        check(packet, [], sent=1, again=3, changing=1)
    switch.limit(tries=0)
    check(packet, [], sent=1, changing=1)
    switch.limit(tries=15)
    check(packet, [], sent=1, again=15, changing=1)
    switch.limit()


def changing_without_link():
    """a packet is not sent again through a port without a link"""
    packet = for_switch(UDP)
    row({}, sequence=1)
    write, read = switch.send(packet)[server.port]
    switch.do("register_write tea_port_down", server.port, 1)
    responses = server.handle(write) + server.handle(read)
    tap.same(switch.respond(server, *responses), SILENCE)
    tap.same(switch.outcomes(), {"sent": 1, "changing": 1})
    tap.same(switch.get("outstanding", server), 0)
    switch.do("register_write tea_port_down", server.port, 0)
    check(packet, [], sent=1, again=3, changing=1)


def changed():
    """a packet that is sent again is as it was, and gets the new entry"""
    row({}, sequence=1)
    for packet in (for_switch(UDP), for_switch(TCP, bytes(1460)),
                   for_switch(UDP, b"odd")):
        key = TCP if packet[23] == 6 else UDP
        row({}, key, sequence=1)
        psn = switch.get("psn", server)
        pair = switch.send(packet)[server.port]
        server.handle(pair[0])
        response, = server.handle(pair[1])
        again = switch.respond(server, response)
        tap.same(again, {**SILENCE, server.port: server.lookup(
            psn + 2, packet, key, tries=1)})
        row({5: cell(key)}, key, sequence=2)
        server.handle(again[server.port][0])
        response, = server.handle(again[server.port][1])
        tap.same(switch.respond(server, response),
                 {**SILENCE, OUT: [routed(packet, **NEW)]})
        tap.same(switch.outcomes(), {"sent": 1, "again": 1, "found": 1})


def absent():
    """a packet without an entry is dropped, or leaves as it arrived where the operator wants it"""
    cases = (({"stashed": 1}, "stashed"), ({"stashed": 255}, "stashed"),
             ({}, "absent"))
    packet = for_switch(UDP, b"some payload")
    for fields, outcome in cases:
        row({}, **fields)
        check(packet, [], sent=1, **{outcome: 1})
    for outcome in ("stashed", "absent"):
        switch.otherwise(outcome, ELSEWHERE)
    for fields, outcome in cases:
        row({}, **fields)
        tap.same(switch.exchange(packet), {**SILENCE, ELSEWHERE: [packet]})
        tap.same(switch.outcomes(), {"sent": 1, outcome: 1})
    switch.do("table_clear tea_otherwise")


def held():
    """an entry in the cache or the stash of the switch is used without a request"""
    packet = for_switch(UDP)
    key, value = f"0x{UDP.hex()}", f"0x{VALUE.hex()}"
    row({})
    row({}, TCP)
    for table, action, outcome in (("tea_cache", "tea_cached", "cache"),
                                   ("tea_stash", "tea_stashed", "stash")):
        switch.do("table_add", table, action, key, "=>", value)
        check(packet, [routed(packet, **NEW)], **{outcome: 1})
        check(for_switch(TCP), [], sent=1, absent=1)
        switch.do("table_clear", table)


def unassigned():
    """a packet whose share belongs to no server is dropped and counted"""
    switch.do("table_clear tea_share")
    check(for_switch(UDP), [], unassigned=1)
    for share in range(1024):
        switch.assign(share, server, server)


def translations():
    """NAT gives either end any address and port, with the right checksums"""
    dice = random.Random(18)
    for number in range(60):
        key = generate.flow(dice.randbytes(4), dice.randbytes(4),
                            dice.randrange(2**16), dice.randrange(2**16),
                            dice.choice((6, 17)))
        value = dice.randbytes(6) + bytes([dice.randrange(256)])
        packet = for_switch(key, dice.randbytes(dice.randrange(600)),
                            ttl=dice.randrange(2, 256), tos=number)
        server.add(key, value, dice.randrange(16))
        side = ("src", "sport") if value[6] & 1 else ("dst", "dport")
        new = dict(zip(side, (".".join(map(str, value[:4])),
                              int.from_bytes(value[4:6], "big"))))
        check(packet, [routed(packet, **new)], sent=1, found=1)


def no_checksum():
    """NAT leaves a UDP checksum of 0, and makes none"""
    packet = for_switch(UDP, udp={"chksum": 0})
    row({2: cell()})
    check(packet, [routed(packet, **NEW)], sent=1, found=1)


def damaged():
    """a wrong checksum of UDP or TCP stays wrong"""
    for key, at in ((UDP, 40), (TCP, 50)):
        packet = bytearray(for_switch(key))
        packet[at] ^= 0x55
        row({2: cell(key)}, key)
        got, = switch.exchange(bytes(packet))[OUT]
        right = routed(bytes(packet), **NEW)
        tap.same(got[:at] + got[at + 2:], right[:at] + right[at + 2:])
        assert got[at:at + 2] != right[at:at + 2]
    tap.same(switch.outcomes(), {"sent": 2, "found": 2})


server = Server(port=SERVERS[0], geometry=Geometry(2))
switch = Function("nat", server)
tap.run(cells, full_row, half_written, zeros, changing,
        changing_without_link, changed, absent, held,
        unassigned, translations, no_checksum, damaged,
        before=switch.outcomes)
