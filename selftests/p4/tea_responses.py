#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A response that is not exactly the right one is counted, and no packet leaves."""

import random
import struct
import zlib

import needs  # before all others

import generate
import packets
import tap
from functions import OUT, SERVERS, Function, for_switch, routed
from lookups import (ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, NAK_ACCESS,
                     NAK_SEQUENCE, PSNS, READ_RESPONSE, Geometry, Server,
                     tag_of)
from switch import SILENCE

KEY = generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 17)
VALUE = bytes([192, 0, 2, 1, 0x1F, 0x90, 0])
NEW = {"dst": "192.0.2.1", "dport": 8080}
PACKET = for_switch(KEY)
READ = 1  # the PSN of the READ
CHANGES = 1500  # random changes


def begin(first=0):
    """One lookup is outstanding."""
    switch.renew(server, first)
    got = switch.send(PACKET)
    tap.same(got[server.port], server.lookup(first, PACKET, KEY))
    tap.same(switch.outcomes(), {"sent": 1})


def good(psn=READ, **changes):
    return server.found(psn, PACKET, KEY, VALUE, **changes)


def finish(psn=READ, what=""):
    """The right response still counts, but only once."""
    tap.same(switch.respond(server, good(psn)),
             {**SILENCE, OUT: [routed(PACKET, **NEW)]}, what)
    tap.same(switch.outcomes(), {"found": 1}, what)
    tap.same(switch.respond(server, good(psn)), SILENCE, what)
    tap.same(switch.outcomes(), {"stale": 1}, what)
    tap.same(switch.get("outstanding", server), 0)


def refused(response, outcome, what=""):
    tap.same(switch.respond(server, response), SILENCE, (outcome, what))
    tap.same(switch.outcomes(), {outcome: 1}, what)


def again(frame, behind=None):
    """@frame with a right ICRC, lengths and IPv4 checksum."""
    body = bytearray(frame[14:-4] if behind is None else
                     frame[14:54] + behind)
    struct.pack_into(">H", body, 2, len(body) + 4)
    struct.pack_into(">H", body, 24, len(body) + 4 - 20)
    body[10:12] = bytes(2)
    struct.pack_into(">H", body, 10, generate.inverse_sum(bytes(body[:20])))
    masked = bytearray(b"\xff" * 8 + body)
    for offset in (8 + 1, 8 + 8, 8 + 10, 8 + 11, 8 + 26, 8 + 27, 8 + 32):
        masked[offset] = 0xFF
    return frame[:14] + bytes(body) + struct.pack("<I", zlib.crc32(masked))


def right():
    """the right response gives entry and packet, once"""
    tap.same(again(good()), good())
    for first in (0, PSNS - 1, PSNS - 2, PSNS - 3):
        begin(first)
        finish((first + 1) % PSNS, first)


def icrc():
    """a wrong ICRC"""
    begin()
    for bit in range(32):
        refused(good(damage=1 << bit), "ICRC", bit)
    frame = bytearray(good())
    for at in range(54, len(frame), 23):
        frame[at] ^= 1
        refused(bytes(frame), "ICRC", at)
        frame[at] ^= 1
    finish()


def psns():
    """a PSN that is not outstanding, or is a WRITE's"""
    begin()
    for psn in (READ + 1, READ + 2, READ - 2, READ + 2**23, READ + 99):
        refused(good(psn % PSNS), "stale", psn)
    refused(good(0, tag=tag_of(0, PACKET, 1, KEY, server.epoch)), "tag",
            "that of the WRITE")
    finish()


def tags():
    """a tag with another PSN: the WRITE was not carried out"""
    begin()
    for psn in (1, 2, PSNS - 2, 2**24, 2**31):
        refused(good(tag=tag_of(psn, PACKET, 1, KEY, server.epoch)), "tag",
                psn)
    finish()


def epochs():
    """a row with another epoch: it belongs to another table"""
    begin()
    for epoch in (0, 1, server.epoch ^ 1, 0xFFFFFF):
        row = server.geometry.row_of(
            {0: server.geometry.cell_of(KEY, VALUE)}, epoch)
        refused(good(row=row), "epoch", epoch)
    finish()


def checks():
    """a tag whose check is wrong for length, port, tries, epoch or key"""
    begin()
    tag = tag_of(0, PACKET, 1, KEY, server.epoch)
    for wrong in (tag_of(0, PACKET, 2, KEY, server.epoch)[:8] + tag[8:],
                  tag_of(0, PACKET, 1, KEY, server.epoch, 1)[:8] + tag[8:],
                  tag_of(0, PACKET, 1, KEY, server.epoch ^ 1),
                  tag_of(0, PACKET, 1, KEY[:-1] + b"\x06", server.epoch),
                  tag[:8] + bytes(4)):
        refused(good(tag=wrong), "check", wrong.hex())
    for packet in (for_switch(KEY[:12] + b"\x06"), bytes(len(PACKET)),
                   PACKET[:30] + b"\x01" + PACKET[31:],
                   for_switch(KEY, flags="MF")):
        response = server.found(
            READ, packet, KEY, VALUE,
            tag=tag_of(0, packet, 1, KEY, server.epoch))
        refused(response, "check", packet.hex())
    finish()


def lengths():
    """a length in the tag that differs from the response's, or that the table does not allow"""
    begin()
    row = server.geometry.row_of({0: server.geometry.cell_of(KEY, VALUE)},
                                 server.epoch)
    for length in (0, 1, 13, len(PACKET) - 1, len(PACKET) + 1,
                   len(PACKET) + 4, 1514, 4096, 0xFFFF):
        tag = tag_of(0, bytes(length), 1, KEY, server.epoch)
        refused(good(tag=tag), "length", length)
    packet = for_switch(KEY, bytes(1473))
    refused(server.found(READ, packet, KEY, VALUE), "length", len(packet))
    for length in (0, 13, 41):
        short = PACKET[:length]
        tag = tag_of(0, short, 1, KEY, server.epoch)
        refused(server.response(READ, row + tag + short), "malformed", length)
    finish()


def truncated():
    """a response that ends anywhere, even with the right ICRC and lengths"""
    begin()
    frame = good()
    cut = [frame[:length] for length in range(54, len(frame), 7)]
    tap.same(switch.respond(server, *cut), SILENCE)
    tap.note(switch.outcomes())
    cut = [again(frame, frame[54:length])
           for length in range(54, len(frame) - 4)]
    tap.same(switch.respond(server, *cut), SILENCE)
    outcomes = switch.outcomes()
    tap.note(outcomes)
    tap.same(sum(outcomes.values()), len(cut))
    assert outcomes.keys() <= {"malformed", "length"}, outcomes
    cut = [again(frame, frame[54:-4] + bytes(more)) for more in range(1, 9)]
    tap.same(switch.respond(server, *cut), SILENCE)
    tap.same(switch.outcomes(), {"length": len(cut)})
    finish()


def ip_lengths():
    """lengths of IP and UDP that differ from the frame's"""
    begin()
    frame = good()
    for at in (16, 38):
        for change in (-4, -1, 1, 4):
            wrong = bytearray(frame[:-4])
            length, = struct.unpack_from(">H", wrong, at)
            struct.pack_into(">H", wrong, at, length + change)
            masked = bytearray(b"\xff" * 8 + wrong[14:])
            for offset in (9, 16, 18, 19, 34, 35, 40):
                masked[offset] = 0xFF
            wrong += struct.pack("<I", zlib.crc32(masked))
            refused(bytes(wrong), "malformed", (at, change))
    refused(frame + b"\0", "ICRC")
    finish()


def opcodes():
    """another opcode, or a NAK in the AETH"""
    begin()
    frame = good()
    for opcode in range(256):
        if opcode == READ_RESPONSE:
            continue
        wrong = again(frame[:42] + bytes([opcode]) + frame[43:])
        tap.same(switch.respond(server, wrong), SILENCE, opcode)
        tap.same(switch.outcomes(), {
            "acknowledged" if opcode == ACKNOWLEDGE else "malformed": 1},
            opcode)
        if opcode == ACKNOWLEDGE:  # of the READ: all outstanding PSNs are free
            tap.same(switch.get("outstanding", server), 0)
            begin()
    for syndrome in (0x20, 0x60, 0x61, 0x7F, 0x80, 0xFF):
        refused(good(syndrome=syndrome), "malformed", syndrome)
    refused(server.respond(ATOMIC_ACKNOWLEDGE, READ, bytes(12)), "malformed")
    finish()


def sources():
    """another source; another destination or queue pair is no response to this switch"""
    begin()
    for ip in ("10.0.1.2", "10.1.0.2", "10.0.0.2", "0.0.0.0"):
        refused(good(source=(server.mac, ip)), "source", ip)
    refused(good(to="10.0.0.3"), "keyless")
    refused(good(qpn=0x746562), "keyless")
    finish()


def foreign():
    """a response for another switch is forwarded unchanged"""
    begin()
    to = bytes.fromhex(packets.host(OUT).replace(":", ""))
    frames = [to + good(to=ip)[6:] for ip in ("10.0.0.3", "10.9.9.9")]
    tap.same(switch.respond(server, *frames), {**SILENCE, OUT: frames})
    tap.same(switch.outcomes(), {"other": len(frames)})
    finish()


def acknowledgements():
    """a NAK of a PSN that is not outstanding, and a NAK of an unknown kind"""
    begin()
    for syndrome in (NAK_SEQUENCE, NAK_ACCESS):
        for psn in (2, 3, PSNS - 1, 2**23):
            refused(server.acknowledge(psn, syndrome), "NAK stale", psn)
    for syndrome in (0x20, 0x40, 0x80, 0xE0):
        refused(server.acknowledge(READ, syndrome), "malformed", syndrome)
    finish()


def random_bytes():
    """random changes with the right ICRC never let a packet leave to an address of no entry"""
    dice = random.Random(18)
    for number in range(CHANGES):
        if number % 4 == 0:  # each of the last responses may use it up
            switch.renew(server, 0)
            switch.send(PACKET)
        frame = bytearray(good())
        for _ in range(dice.randrange(1, 6)):
            frame[dice.randrange(42, len(frame) - 4)] = dice.randrange(256)
        left = switch.respond(server, again(bytes(frame)))
        for port, there in left.items():
            for packet in there:
                if port == server.port:
                    continue  # sent again
                tap.same(port, OUT, number)
                tap.same(packet[30:34], VALUE[:4], number)
                tap.same(packet[36:38], VALUE[4:6], number)
    outcomes = switch.outcomes()
    tap.note(outcomes)
    assert outcomes["check"] and outcomes["found"], outcomes


def random_frames():
    """random bytes from the BTH on never let a packet leave"""
    dice = random.Random(19)
    begin()
    frame = good()
    wrong = []
    for _ in range(CHANGES):
        length = dice.randrange(600)
        bth = bytes([dice.choice((READ_RESPONSE, ACKNOWLEDGE,
                                  dice.randrange(256))), 0x40, 255, 255,
                     0]) + b"tea" + bytes([0, 0, 0, dice.randrange(4)])
        behind = bth + dice.randbytes(length)
        wrong.append(again(frame[:42] + behind + bytes(4)))
    tap.same({**switch.respond(server, *wrong), server.port: []}, SILENCE)
    tap.note(switch.outcomes())


server = Server(port=SERVERS[0], geometry=Geometry(2))
server.add(KEY, VALUE)
switch = Function("nat", server)
tap.run(right, icrc, psns, tags, epochs, checks, lengths, truncated,
        ip_lengths, opcodes, sources, foreign, acknowledgements, random_bytes,
        random_frames, before=switch.outcomes)
