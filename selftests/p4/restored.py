#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""The last switch restores a packet to its state before INT."""

import random

import needs  # before all others

import generate
import packets
import tap
from scapy.layers.inet import IPOption_NOP, IPOption_Router_Alert
from switch import COLLECTORS, SILENCE, Switch, entry_of

DESTINATION = 2
SWITCHES = [0x0A030101, 0x0A030301, 0x0A040102]
IPV4 = "10.1.0.2", "10.3.1.3", 49152, 443
IPV6 = "2001:db8::1", "2001:db8:ffff::2", 1024, 53


def check(*frames, **telemetry):
    """@telemetry: arguments of packets.with_int()."""
    got = switch.send(*(packets.with_int(frame, SWITCHES, **telemetry)
                        for frame in frames))
    for frame, restored in zip(frames, got[DESTINATION]):
        tap.same(restored, frame)
    tap.same(len(got[DESTINATION]), len(frames))
    tap.same(len(got[COLLECTORS]), len(frames), "reports")


def of(addresses, protocol, **fields):
    return packets.packet(generate.flow(*addresses, protocol), **fields)


def udp():
    """a UDP packet with INT after its UDP header is restored, with IPv4 and IPv6"""
    check(of(IPV4, 17), of(IPV6, 17))
    check(of(IPV4, 17), of(IPV6, 17), hop_words=4)


def udp_after_int():
    """a UDP packet with INT in front of its UDP header is restored"""
    check(of(IPV4, 17), of(IPV6, 17), npt=packets.BEFORE_L4)


def no_checksum():
    """a UDP packet without a checksum is restored"""
    check(of(IPV4, 17, udp={"chksum": 0}), of(IPV6, 17, udp={"chksum": 0}))


def other_protocols():
    """packets of TCP, ICMP, SCTP and unknown protocols are restored"""
    check(*(of(addresses, protocol) for protocol in (6, 132, 33, 136)
            for addresses in (IPV4, IPV6)))
    check(of(IPV4[:2] + (0, 0), 1), of(IPV6[:2] + (0, 0), 58),
          of(IPV4[:2] + (0, 0), 253))


def options():
    """packets with few and with many options of IPv4 are restored"""
    for count in (1, 4, 40):
        check(*(of(IPV4, protocol, options=[IPOption_NOP()] * count)
                for protocol in (6, 17)))
    check(of(IPV4, 17, options=[IPOption_Router_Alert()]))


def fields():
    """fields of IP that INT does not use are restored"""
    check(of(IPV4, 17, tos=0xB9, id=0xABCD, ttl=1, flags="DF"),
          of(IPV4, 6, tos=0x03, id=1, ttl=255, flags="evil"),
          of(IPV6, 17, tc=0xB9, fl=0xABCDE, hlim=1),
          of(IPV6, 6, tc=0x03, fl=1, hlim=255))


def payloads():
    """packets with empty, odd and long payloads are restored"""
    check(*(of(addresses, protocol, payload=bytes(range(256))[:length] * 4)
            for length in (0, 1, 2, 3, 255)
            for addresses in (IPV4, IPV6) for protocol in (6, 17)))
    check(*(of(IPV4, 17, payload=bytes([255]) * length)
            for length in range(8)))


def sums_of(frame):
    """The checksums of IPv4 and of UDP."""
    at = packets.behind_ip(frame)
    return (int.from_bytes(frame[24:26], "big"),
            int.from_bytes(frame[at + 6:at + 8], "big"))


def sum_of_int(frame):
    """The one's complement sum of the bytes that INT adds."""
    at = packets.behind_ip(frame) + 8
    longer = packets.with_int(frame, SWITCHES)
    return ~generate.inverse_sum(
        longer[at:at + len(longer) - len(frame)]) & 0xFFFF


def ends_of_sums():
    """checksums that are or become 0 or 0xffff on the way are restored"""
    # The start of a payload, or the identification, sets a checksum to any
    # value: here 0 and its neighbours.
    around = range(-2, 3)
    for flow, protocol in ((IPV4, 6), (IPV4[:2] + (0, 0), 253)):
        first, _ = sums_of(of(flow, protocol, id=0))
        check(*(of(flow, protocol, id=(first + n) % 65535) for n in around))
    # The checksum of UDP is near 0 after INT is removed, or before.
    for ports in ((49152, 443), (443, 65000)):
        flow = IPV4[:2] + ports
        _, first = sums_of(of(flow, 17, payload=bytes(2)))
        for middle in (0, sum_of_int(of(flow, 17))):
            words = ((first - middle + n) % 65535 for n in around)
            check(*(of(flow, 17, payload=word.to_bytes(2, "big"))
                    for word in words))


def damaged():
    """a wrong UDP checksum stays wrong by the same amount; after a wrong IPv4 checksum INT stays"""
    check(*(of(IPV4, 17, udp={"chksum": wrong})
            for wrong in (1, 0x1234, 0xFFFE)))
    check(*(of(IPV6, 17, udp={"chksum": wrong})
            for wrong in (1, 0x1234, 0xFFFE)))
    frames = [packets.with_int(of(IPV4, protocol, chksum=wrong), SWITCHES)
              for protocol in (6, 17) for wrong in (1, 0x1234, 0xFFFE)]
    tap.same(switch.send(*frames), {**SILENCE, DESTINATION: frames})
    # The payload was damaged in an earlier switch.
    frame = of(IPV4, 17)
    damage = packets.with_int(frame, SWITCHES)[:-1] + b"\0"
    got = switch.send(damage)
    tap.same(got[DESTINATION], [frame[:-1] + b"\0"])


def anything():
    """packets with random flows, stacks and payloads are restored"""
    dice = random.Random(1)
    for _ in range(12):
        frames = []
        for _ in range(16):
            length = dice.choice((13, 37))
            key = dice.randbytes(length - 1) + bytes([dice.choice((6, 17))])
            frames.append(packets.packet(
                key, payload=dice.randbytes(dice.randrange(200))))
        SWITCHES[:] = (dice.randrange(2**32)
                       for _ in range(dice.randrange(1, 9)))
        check(*frames, hop_words=dice.randrange(1, 7))


switch = Switch()
switch.collect({0: entry_of()}, {share: 0 for share in range(1024)})
tap.run(udp, udp_after_int, no_checksum, other_protocols, options, fields,
        payloads, ends_of_sums, damaged, anything)
