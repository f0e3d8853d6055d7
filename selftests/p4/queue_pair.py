#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Each kind of request of a queue pair that a switch drives, and its response.

The program is queue_pair.p4.
"""

import random
import re
import struct

import needs  # before all others

import tap
from lookups import (ACK, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, COMPARE_SWAP,
                     FETCH_ADD, NAK_ACCESS, NAK_SEQUENCE, PAST, PSNS, READ,
                     SWITCH_IP, SWITCH_MAC, WRITE, Server, rdma)
from switch import SILENCE, SOURCE, Running

UC_WRITE = 0x2A
SERVER = 3  # a port
HEADER = bytes(12) + b"\x88\xb6"
(DATA, STALE, ACKNOWLEDGED, PROBED, SEQUENCE, NAK_STALE, FATAL,
 OTHER) = range(8)
NO_ROOM = 255
REQUEST = 0x80  # of an acknowledgement


def command(opcode, address=0, length=0, operand=0, compare=0, data=b""):
    return HEADER + struct.pack(">BBHIQQQ", opcode, 0, 0, length, address,
                                operand, compare) + data


def request(opcode, psn, behind, pad=0, acknowledge=REQUEST):
    return rdma((SWITCH_MAC, SWITCH_IP), (server.mac, server.ip), server.qpn,
                opcode, psn % PSNS, behind, pad, acknowledge)


def reth(address, length):
    return struct.pack(">QII", address, server.rkey, length)


def sent(frame, expected):
    tap.same(switch.send(frame), {**SILENCE, SERVER: [expected]})


def get(register):
    answer = switch.do("register_read", f"rdma_{register}", 0)
    return int(re.search(r"= *(\d+)", answer)[1])


def begin(first=0):
    for register, value in (("psn", first), ("proven", first),
                            ("outstanding", 0), ("state", 0)):
        switch.do("register_write", f"rdma_{register}", 0, value)


def told(response, verdict, original=0):
    """The commander learns the verdict on a response."""
    got = switch.send(response, source=SERVER)
    tap.same({**got, SOURCE: []}, SILENCE)
    frame, = got[SOURCE]
    tap.same((frame[15], frame[22 + 8:22 + 16]),
             (verdict, original.to_bytes(8, "big")))


def writes():
    """a WRITE may be of any length, on a reliable and on an unreliable connection"""
    begin(PSNS - 4)
    psn = PSNS - 4
    for opcode, acknowledge in ((WRITE, REQUEST), (UC_WRITE, 0)):
        for length in range(9):
            data = bytes(range(1, 1 + length))
            address = 0xFEDCBA9876543210 + length
            sent(command(opcode, address, length, data=data),
                 request(opcode, psn, reth(address, length) + data +
                         bytes(-length % 4), -length % 4, acknowledge))
            psn += 1
            begin(psn % PSNS)


def reads():
    """a READ may be of any length, and carries no data"""
    begin()
    for psn, length in enumerate((0, 1, 4, 4096, 2**32 - 1)):
        sent(command(READ, 77, length),
             request(READ, psn, reth(77, length), acknowledge=0))


def atomics():
    """Fetch&Add and Compare&Swap carry their operands, and bring the value before"""
    begin()
    dice = random.Random(18)
    for psn, opcode in enumerate((FETCH_ADD, COMPARE_SWAP) * 5):
        address, operand, compare, original = (
            dice.getrandbits(64) for _ in range(4))
        sent(command(opcode, address, 0, operand, compare),
             request(opcode, psn, struct.pack(
                 ">QIQQ", address, server.rkey, operand, compare)))
        tap.same(get("outstanding"), 1)
        response = server.respond(
            ATOMIC_ACKNOWLEDGE, psn,
            struct.pack(">IQ", ACK << 24, original))
        told(response, DATA, original)
        tap.same(get("outstanding"), 0)
        told(response, STALE, original)


def acknowledgements():
    """an acknowledgement frees the PSNs that it acknowledges"""
    begin()
    for psn in range(5):
        sent(command(WRITE, 0, 0), request(WRITE, psn, reth(0, 0)))
    tap.same(get("outstanding"), 5)
    told(server.acknowledge(1), ACKNOWLEDGED)
    tap.same(get("outstanding"), 3)
    told(server.acknowledge(1), ACKNOWLEDGED)
    told(server.acknowledge(5), ACKNOWLEDGED)
    tap.same(get("outstanding"), 3)
    told(server.acknowledge(3, NAK_SEQUENCE), SEQUENCE)
    tap.same([get("psn"), get("outstanding")], [3, 0])
    told(server.acknowledge(3, NAK_SEQUENCE), NAK_STALE)
    sent(command(WRITE, 0, 0), request(WRITE, 3, reth(0, 0)))
    told(server.acknowledge(3, NAK_ACCESS), FATAL)
    probe = request(WRITE, 3 - PAST, reth(0, 0))
    # The switch may be younger than the time-out.
    while (got := switch.send(command(WRITE, 0, 0)))[SERVER] != [probe]:
        tap.same((got[SERVER], got[SOURCE][0][15]), ([], NO_ROOM))
    refused = switch.send(command(WRITE, 0, 0))
    tap.same(refused[SOURCE][0][15], NO_ROOM)
    for syndrome in (0x20, 0x40, 0x80):
        told(server.acknowledge(3, syndrome), OTHER)


def limit():
    """no more requests wait than the program allows"""
    begin(PSNS - 3)
    for psn in range(PSNS - 3, PSNS + 13):
        sent(command(READ, 0, 4),
             request(READ, psn, reth(0, 4), acknowledge=0))
    got = switch.send(command(READ, 0, 4))
    tap.same(got[SOURCE][0][15], NO_ROOM)
    told(server.respond(ATOMIC_ACKNOWLEDGE, 0,
                        struct.pack(">IQ", ACK << 24, 7)), DATA, 7)
    tap.same(get("outstanding"), 12)


def damage():
    """a response with a wrong ICRC is ignored"""
    begin()
    sent(command(WRITE, 0, 0), request(WRITE, 0, reth(0, 0)))
    tap.same(switch.send(server.acknowledge(0, damage=1), source=SERVER),
             SILENCE)
    tap.same(get("outstanding"), 1)
    told(server.acknowledge(0), ACKNOWLEDGED)


server = Server(port=SERVER)
switch = Running("queue_pair")
switch.do("table_set_default server send_to", server.mac, server.ip,
          server.qpn, server.rkey)
tap.run(writes, reads, atomics, acknowledgements, limit, damage)
