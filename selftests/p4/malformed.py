#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Packets that are damaged, with malformed INT, or without INT, are forwarded unchanged."""

import random
import struct

import needs  # before all others

import generate
import packets
import tap
from scapy.layers.inet import IPOption_NOP
from switch import COLLECTORS, SILENCE, Switch, entry_of

DESTINATION = 2
PATH = [1, 0, 2, 0]  # as hops of 2 words: 1, 2
FLOWS = {name: generate.flow(*addresses, 1, 2, protocol)
         for name, addresses, protocol in (
             ("UDP by IPv4", ("10.0.0.1", "10.0.0.2"), 17),
             ("TCP by IPv4", ("10.0.0.1", "10.0.0.2"), 6),
             ("UDP by IPv6", ("2001:db8::1", "2001:db8::2"), 17),
             ("TCP by IPv6", ("2001:db8::1", "2001:db8::2"), 6))}
SHIM_AND_MD = 16
STACK = 16
PORTS = 4

# A name, the counter, and bytes that replace bytes of a UDP frame at an offset; the
# checksum of IPv4 is right for the changed header.
FLAWS = (
    ("another port", "other", 36, "0035"),
    ("TCP to this port", "other", 23, "06"),
    ("ARP", "other", 12, "0806"),
    ("a fragment", "other", 20, "2000"),
    ("a later fragment", "other", 20, "0009"),
    ("IP version 6 behind an IPv4 type", "other", 14, "65"),
    ("an IP header of 16 bytes", "other", 14, "44"),
    ("UDP of 7 bytes", "malformed", 38, "0007"),
    ("UDP of 0 bytes", "malformed", 38, "0000"),
    ("UDP shorter than INT", "malformed", 38, "001f"),
    ("UDP one byte shorter than INT", "malformed", 38, "0027"),
    ("INT-MX", "malformed", 42, "34"),
    ("type 0", "malformed", 42, "04"),
    ("NPT 0", "malformed", 42, "10"),
    ("NPT 3", "malformed", 42, "1c"),
    ("INT without an MD header", "malformed", 43, "02"),
    ("INT of 0 words", "malformed", 43, "00"),
    ("INT longer than UDP", "malformed", 43, "ff"),
    ("version 0", "malformed", 46, "00"),
    ("version 1", "malformed", 46, "10"),
    ("version 15", "malformed", 46, "f0"),
    ("hops of 0 words", "malformed", 48, "00"),
    ("a stack of a hop and a third", "malformed", 48, "03"),
    ("a stack shorter than a hop", "malformed", 48, "05"),
    ("a hop of 31 words", "malformed", 48, "1f"),
)

# Well-formed INT without a path: the switch removes it.
NO_PATHS = (
    ("hops exceeded", "incomplete", {"flags": packets.HOPS_EXCEEDED}),
    ("MTU exceeded", "incomplete", {"flags": packets.MTU_EXCEEDED}),
    ("no node IDs", "anonymous", {"instructions": 0x4000}),
    ("an empty stack", "anonymous", {"nodes": []}),
    ("an empty stack without node IDs", "anonymous",
     {"nodes": [], "instructions": 0x4000}),
)


def good(key, nodes=(1, 2), hop_words=2, **telemetry):
    return packets.with_int(packets.packet(key), nodes, hop_words=hop_words,
                            **telemetry)


def check_left(frames, outcome):
    """The frames are forwarded unchanged, without reports, and counted."""
    tap.same(switch.send(*frames), {**SILENCE, DESTINATION: frames}, outcome)
    tap.same(switch.outcomes(), {outcome: len(frames)})


def check_good():
    for name, key in FLOWS.items():
        got = switch.send(good(key))
        tap.same(got[DESTINATION], [packets.packet(key)], name)
        tap.same(len(got[COLLECTORS]), 1, name)


def lengths():
    """a frame cut anywhere up to the end of INT is forwarded unchanged and counted"""
    for key in FLOWS.values():
        frame = good(key)
        begin = packets.behind_ip(frame) + 8
        end = begin + SHIM_AND_MD + STACK
        if key[-1] != 17:
            end += PORTS
        check_left([frame[:n] for n in range(14, begin)], "other")
        check_left([frame[:n] for n in range(begin, end)], "truncated")


def payload_cut():
    """a frame that ends anywhere in its payload is reported and restored"""
    for key in FLOWS.values():
        frame, plain = good(key), packets.packet(key)
        shorter = len(frame) - len(plain)
        end = len(plain) - len(packets.PAYLOAD)
        for n in (end, end + 1, end + 17):
            got = switch.send(frame[:n + shorter])
            tap.same(got[DESTINATION], [plain[:n]])
            tap.same(len(got[COLLECTORS]), 1)


def flaws():
    """a frame with any one wrong field is forwarded unchanged and counted by its flaw"""
    for what, outcome, at, digits in FLAWS:
        frame, change = good(FLOWS["UDP by IPv4"]), bytes.fromhex(digits)
        frame = packets.with_ip_checksum(
            frame[:at] + change + frame[at + len(change):])
        tap.same(switch.send(frame), {**SILENCE, DESTINATION: [frame]}, what)
        tap.same(switch.outcomes(), {outcome: 1}, what)


def ip_lengths():
    """a frame whose IP length ends before INT is forwarded unchanged and counted as malformed"""
    for key in FLOWS.values():
        frame = good(key)
        at = 16 if len(key) == 13 else 18
        right = int.from_bytes(frame[at:at + 2], "big")
        check_left([packets.with_ip_checksum(
            frame[:at] + length.to_bytes(2, "big") + frame[at + 2:])
                    for length in (20, 28, right - 1)], "malformed")


def hops():
    """a stack that is not a whole number of hops, short or long, is counted as malformed"""
    frames = []
    for words in range(1, 25):
        for hop_words in range(words + 1):
            if hop_words and words % hop_words == 0:
                continue
            if words < 20 and hop_words < words - 1 and hop_words > 2:
                continue  # only the shortest and the longest hops
            frame = bytearray(good(FLOWS["UDP by IPv6"], [9] * words,
                                   hop_words=1))
            frame[54 + 8 + 4 + 2] = hop_words
            frames.append(bytes(frame))
    check_left(frames, "malformed")


def damages():
    """an IPv4 packet with one wrong bit in its header is forwarded unchanged and counted as damaged"""
    for name in ("UDP by IPv4", "TCP by IPv4"):
        for options in ([], [IPOption_NOP()] * 4):
            plain = packets.packet(FLOWS[name], options=options)
            for frame in (packets.with_int(plain, [1, 2]), plain):
                check_damages(frame)


def damages_of_postcards():
    """a damaged IPv4 packet gets no postcard"""
    switch.do("table_set_default dart_postcard dart_report_hop", 1)
    try:
        check_damages(packets.packet(FLOWS["UDP by IPv4"]))
    finally:
        switch.do("table_reset_default dart_postcard")


def check_damages(frame):
    # In the first byte and the length, bytes 2 and 3, some make it malformed.
    wrong = [(int.from_bytes(frame, "big") ^
              1 << 8 * len(frame) - 1 - bit).to_bytes(len(frame), "big")
             for bit in range(8 * 14, 8 * packets.behind_ip(frame))]
    check_left(wrong[8:16] + wrong[32:], "damaged")
    others = wrong[:8] + wrong[16:32]
    tap.same(switch.send(*others), {**SILENCE, DESTINATION: others})
    outcomes = switch.outcomes()
    tap.same(outcomes["damaged"] + outcomes["other"], len(others))


def zeros():
    """an IPv4 packet whose checksum is 0 or 0xffff, both of which are right, is reported"""
    key = FLOWS["UDP by IPv4"]
    plain = packets.packet(key)
    shorter = good(key)
    first, = struct.unpack(">H", shorter[24:26])
    identification, = struct.unpack(">H", shorter[18:20])
    # The identification takes the whole checksum.
    frame = packets.with_ip_checksum(
        shorter[:18] + struct.pack(">H", packets.add(identification, first)) +
        shorter[20:])
    tap.same(frame[24:26], b"\0\0")
    for checksum in (b"\0\0", b"\xff\xff"):
        got = switch.send(frame[:24] + checksum + frame[26:])
        tap.same(len(got[DESTINATION]), 1)
        tap.same(len(got[DESTINATION][0]), len(plain))
        tap.same(len(got[COLLECTORS]), 1)
    tap.same(switch.outcomes(), {"report": 2})


def no_paths():
    """INT without a path is removed and not reported"""
    for what, outcome, telemetry in NO_PATHS:
        for key in FLOWS.values():
            got = switch.send(good(key, **telemetry))
            tap.same(got, {**SILENCE, DESTINATION: [packets.packet(key)]},
                     what)
        tap.same(switch.outcomes(), {outcome: len(FLOWS)}, what)


def not_ip():
    """frames without IP, or with an incomplete IP header, are forwarded unchanged"""
    destination = good(FLOWS["UDP by IPv4"])[:12]
    check_left([destination + bytes.fromhex(rest) for rest in (
        "0800", "0800ff", "86dd", "86dd60", "0000", "ffff",
        "0806" + "00" * 28, "88cc" + "ff" * 100)], "other")


def tagged():
    """frames with three VLAN tags are forwarded unchanged, and counted as tagged"""
    for key in FLOWS.values():
        for digits in ("88a800088100000581000006", "930000089300000893000008"):
            check_left([packets.with_tags(good(key), digits)], "tagged")


def cut_in_tags():
    """frames that end in the second VLAN tag are forwarded unchanged"""
    frame = packets.with_tags(good(FLOWS["UDP by IPv4"]), "88a8000881000005")
    # The kernel drops frames that end sooner.
    check_left([frame[:length] for length in (20, 21)], "other")


def extensions():
    """a fifth extension header of IPv6 is counted, one beyond the packet or its length is not read"""
    for name in ("UDP by IPv6", "TCP by IPv6"):
        frame = good(FLOWS[name])
        check_left([packets.with_extensions(frame, *[(60, 1)] * 5)],
                   "extensions")
        longer = packets.with_extensions(frame, (60, 2), (43, 2))
        check_left([longer[:length] for length in range(54, 54 + 48)],
                   "other")
        length = int.from_bytes(longer[18:20], "big")
        check_left([longer[:18] + short.to_bytes(2, "big") + longer[20:]
                    for short in (0, 7, 24, 47)], "other")
        check_left([longer[:18] + short.to_bytes(2, "big") + longer[20:]
                    for short in (48, 56, 60, length - 1)], "malformed")


def random_flaws():
    """with random bytes anywhere, a packet that is not reported is forwarded unchanged"""
    dice = random.Random(5)
    frames = []
    for _ in range(500):
        frame = bytearray(good(dice.choice(list(FLOWS.values()))))
        for _ in range(dice.randrange(1, 4)):
            frame[dice.randrange(12, 12 + 80)] = dice.randrange(256)
        frames.append(bytes(frame))
    got = switch.send(*frames)
    outcomes = switch.outcomes()
    tap.note(outcomes)
    tap.same(len(got[DESTINATION]), len(frames))
    tap.same(sum(outcomes.values()), len(frames))
    reported = outcomes["report"]
    taken = outcomes.get("incomplete", 0) + outcomes.get("anonymous", 0)
    left = len(frames) - reported - taken
    tap.same(sum(frame in frames for frame in got[DESTINATION]), left)
    tap.same(len(got[COLLECTORS]), reported)
    check_good()


switch = Switch()
switch.collect({0: entry_of()}, {share: 0 for share in range(1024)})
check_good()
tap.run(lengths, payload_cut, flaws, ip_lengths, damages, damages_of_postcards,
        zeros, hops, no_paths, not_ip, tagged, cut_in_tags, extensions,
        random_flaws,
        before=switch.outcomes)
