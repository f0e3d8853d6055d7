#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""nat_packets.py KNOWN INTERFACE PROTOCOL COUNT [SCENE]

SCENE is answers, errors, expired, oversized, fragments or hairpin.

Sends the first packet of each of COUNT flows into INTERFACE, as hosts inside do, takes the packets
that come back translated, and compares each byte with a packet that is built anew for the new ends.
With "answers" the other ends answer each one, and the answers must arrive at the hosts inside.
With "errors" a router outside, and then each host inside, sends an ICMP error about a packet.
With "expired" the packets may pass no router, so their senders get the ICMP error that says so.
With "oversized" they are longer than 1000 bytes, which is the MTU of their route, so the senders of
packets that must not be fragmented get the ICMP error that says so.
With "fragments" each flow, of UDP, has a packet in two parts, of which the second is sent first.
With "hairpin" the first host sends to the port outside of the second one, which answers.
The ports outside are kept in the file KNOWN: they must be the same in each run, and no two equal.
PROTOCOL is tcp, udp or icmp.  Exits with 1 and says why if a packet is missing or differs.  Ends at
SIGTERM, when it keeps the ports of the packets that came back.
"""

import json
import select
import signal
import socket
import struct
import sys
import time

SWITCH, INSIDE, OUTSIDE = (bytes([2, 0, 0, 0, 0, last]) for last in (1, 0xa, 0xb))
PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17}
POOL = ("203.0.113.0", "203.0.113.1", "203.0.113.2", "203.0.113.3")
ROUTER = "192.0.2.77"
PATIENCE_S = 60
WINDOW = 64  # packets that are on their way at once


def host(number):
    return f"10.0.{number // 250}.{number % 250 + 1}"


def remote(number):
    return f"198.51.100.{number % 200 + 1}"


def checksum(data):
    """RFC 1071, of all bytes."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data[:len(data) // 2 * 2]))
    total += data[-1] << 8 if len(data) % 2 else 0
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def transport(protocol, sport, dport, payload, addresses, back):
    """The header and payload; its checksum is at AT."""
    if protocol == "udp":
        data, at = struct.pack("!4H", sport, dport, 8 + len(payload), 0) + payload, 6
    elif protocol == "tcp":
        data, at = struct.pack("!HHIIBBHHHBBH", sport, dport, 7, 8, 6 << 4, 0x12 if back else 2,
                               8192, 0, 0, 2, 4, 1460) + payload, 16
    else:
        data, at = struct.pack("!BBHHH", 0 if back else 8, 0, 0, dport if back else sport,
                               7) + payload, 2
    pseudo = b"" if protocol == "icmp" else \
        addresses + struct.pack("!HH", PROTOCOLS[protocol], len(data))
    value = checksum(pseudo + data)
    if protocol == "udp":
        value = value or 0xffff
    return data[:at] + struct.pack("!H", value) + data[at + 2:]


def build(macs, ends, protocol, payload, ttl, back=False, word=0, before=b""):
    (source, sport), (destination, dport) = ends
    addresses = socket.inet_aton(source) + socket.inet_aton(destination)
    data = transport(protocol, sport, dport, before + b"%08d!" % payload, addresses, back)
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(data), payload % 65536, word, ttl,
                         PROTOCOLS[protocol], 0) + addresses
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    return macs[1] + macs[0] + b"\x08\x00" + header + data


def build_error(macs, source, destination, code, quoted, ttl):
    """An ICMP error that says that the destination is unreachable, about the packet of a frame."""
    data = struct.pack("!BBHHH", 3, code, 0, 0, 1400) + quoted[14:]
    data = data[:2] + struct.pack("!H", checksum(data)) + data[4:]
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(data), 7, 0, ttl, 1, 0) + \
        socket.inet_aton(source) + socket.inet_aton(destination)
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    return macs[1] + macs[0] + b"\x08\x00" + header + data


def payload_of(frame):
    """The number that the test wrote into the packet; None: not its packet."""
    return int(frame[-9:-1]) if frame[-1:] == b"!" and frame[-9:-1].isdigit() else None


def source_of(frame, protocol):
    """The source of a packet, or the identifier of an echo, as [ADDRESS, PORT]."""
    at = 38 if protocol == "icmp" else 34
    return [socket.inet_ntoa(frame[26:30]), *struct.unpack("!H", frame[at:at + 2])]


class Wire:
    def __init__(self, interface):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.socket.bind((interface, 0))
        self.is_ended = False
        signal.signal(signal.SIGTERM, self.end)

    def end(self, *_):
        self.is_ended = True

    def exchange(self, frames):
        """Sends {number: frame}; returns {number: frame that came for it}, not all if ended."""
        came, waiting = {}, list(frames.items())
        end = time.monotonic() + PATIENCE_S
        sent = 0
        while len(came) < len(frames) and not self.is_ended and time.monotonic() < end:
            while waiting and sent - len(came) < WINDOW:
                self.socket.send(waiting.pop()[1])
                sent += 1
            if not select.select([self.socket], [], [], 1)[0]:
                continue
            frame, address = self.socket.recvfrom(2048)
            number = payload_of(frame)
            if number in frames and address[2] != socket.PACKET_OUTGOING:
                if number in came:
                    sys.exit(f"packet {number} came twice")
                came[number] = frame
        missing = sorted(set(frames) - set(came))
        if missing and not self.is_ended:
            sys.exit(f"{len(missing)} of {len(frames)} packets are missing, such as {missing[:5]}")
        return came


def same(number, got, wanted):
    if got != wanted:
        sys.exit(f"packet {number} is {got.hex()}, and not {wanted.hex()}")


def check_port(known, protocol, inside, outside):
    """The end outside of an end inside stays, and is no other's."""
    name = f"{protocol} {inside[0]}:{inside[1]}"
    if known.setdefault(name, outside) != outside:
        sys.exit(f"{name} had {known[name]}, and now {outside}")
    if outside[0] not in POOL or not 2000 <= outside[1] <= 65000:
        sys.exit(f"{name} has {outside}, which is not in the pool")


def flows_of(protocol, count):
    """Ends of flows: each host has several, with two or more others."""
    for i in range(count):
        number = i // 8
        yield i, (host(number), 4000 + i % 8 // 2 * 3), (remote(i), 0 if protocol == "icmp" else 53)


def out(wire, known, protocol, flows):
    """Sends from inside, and returns the ends outside."""
    outsides = {}
    frames = {i: build((INSIDE, SWITCH), (inside, other), protocol, i, 64)
              for i, inside, other in flows}
    for i, frame in wire.exchange(frames).items():
        _, inside, other = flows[i]
        outside = source_of(frame, protocol)
        check_port(known, protocol, inside, outside)
        if protocol != "icmp" and outside[1] % 2 != inside[1] % 2:
            sys.exit(f"port {outside[1]} has not the parity of {inside[1]}")
        same(i, frame, build((SWITCH, OUTSIDE), (outside, other), protocol, i, 63))
        outsides[i] = outside
    return outsides


def back(wire, protocol, flows, outsides):
    frames = {i: build((OUTSIDE, SWITCH), (other, outsides[i]), protocol, i, 64, True)
              for i, inside, other in flows}
    for i, frame in wire.exchange(frames).items():
        _, inside, other = flows[i]
        same(i, frame, build((SWITCH, INSIDE), (other, inside), protocol, i, 63, True))


def errors(wire, protocol, flows, outsides):
    """Of a router outside that has a smaller MTU, and of hosts inside that refuse answers."""
    macs = (OUTSIDE, SWITCH)
    frames = {i: build_error(macs, ROUTER, outsides[i][0], 4,
                             build(macs, (outsides[i], other), protocol, i, 50), 64)
              for i, inside, other in flows}
    for i, frame in wire.exchange(frames).items():
        _, inside, other = flows[i]
        same(i, frame, build_error((SWITCH, INSIDE), ROUTER, inside[0], 4,
                                   build(macs, (inside, other), protocol, i, 50), 63))
    frames = {i: build_error((INSIDE, SWITCH), inside[0], other[0], 3,
                             build(macs, (other, inside), protocol, i, 50, True), 64)
              for i, inside, other in flows}
    for i, frame in wire.exchange(frames).items():
        _, inside, other = flows[i]
        same(i, frame, build_error((SWITCH, OUTSIDE), outsides[i][0], other[0], 3,
                                   build(macs, (other, outsides[i]), protocol, i, 50, True), 63))


def build_own_error(inside, start, quoted):
    """An ICMP error of the switch to a host inside, which begins with these 8 bytes."""
    data = start + quoted[14:14 + 548]
    data = data[:2] + struct.pack("!H", checksum(data)) + data[4:]
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(data), 0, 0x4000, 64, 1, 0) + \
        socket.inet_aton(POOL[0]) + socket.inet_aton(inside[0])
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    return INSIDE + SWITCH + b"\x08\x00" + header + data


def expired(wire, protocol, flows):
    frames = {i: build((INSIDE, SWITCH), (inside, other), protocol, i, 1)
              for i, inside, other in flows}
    for i, frame in wire.exchange(frames).items():
        same(i, frame, build_own_error(flows[i][1], b"\x0b" + bytes(7), frames[i]))


def oversized(wire, protocol, flows):
    """Of UDP; the part of a packet that is quoted ends with its number, too."""
    frames = []
    for word in (0, 0x4000):
        frames.append({i: build((INSIDE, SWITCH), (inside, other), protocol, i, 64, word=word,
                                before=b"-" * 7 + b"%08d!" % i * 120)
                       for i, inside, other in flows})
    for frame in frames[0].values():
        wire.socket.send(frame)
    for i, frame in wire.exchange(frames[1]).items():
        same(i, frame, build_own_error(flows[i][1], struct.pack("!BBHHH", 3, 4, 0, 0, 1000),
                                       frames[1][i]))


def build_fragments(macs, ends, number, ttl, back=False):
    """Parts of a datagram, which end with the numbers 2 * @number and one more."""
    (source, sport), (destination, dport) = ends
    addresses = socket.inet_aton(source) + socket.inet_aton(destination)
    data = transport("udp", sport, dport, b"%08d!" % (2 * number) * 8 + b"%08d!" % (2 * number + 1),
                     addresses, back)
    frames = {}
    for which, (part, word) in enumerate(((data[:80], 0x2000), (data[80:], 10))):
        header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(part), number, word, ttl, 17, 0) + \
            addresses
        header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
        frames[2 * number + which] = macs[1] + macs[0] + b"\x08\x00" + header + part
    return frames


def fragments(wire, known, flows):
    """Both ways."""
    frames = {}
    for i, inside, other in flows:
        frames |= build_fragments((INSIDE, SWITCH), (inside, other), i, 64)
    came = wire.exchange(frames)
    frames = {}
    for i, inside, other in flows:
        outside = known[f"udp {inside[0]}:{inside[1]}"]
        for number, frame in build_fragments((SWITCH, OUTSIDE), (outside, other), i, 63).items():
            same(number, came[number], frame)
        frames |= build_fragments((OUTSIDE, SWITCH), (other, outside), i, 64)
    came = wire.exchange(frames)
    for i, inside, other in flows:
        for number, frame in build_fragments((SWITCH, INSIDE), (other, inside), i, 63).items():
            same(number, came[number], frame)


def hairpin(wire, known, protocol):
    """Two hosts inside talk by the port outside of the second."""
    one, two = (host(0), 4000), (host(1), 4000)
    mine, other = (known[f"{protocol} {end[0]}:{end[1]}"] for end in (one, two))
    there = build((INSIDE, SWITCH), (one, other), protocol, 1, 64)
    # The second host answers the address that it sees.
    answer = build((INSIDE, SWITCH), (two, mine), protocol, 2, 64)
    # The first packet is from a host that the second has no flow with, until it sends itself.
    wire.socket.send(answer)
    same(1, wire.exchange({1: there})[1],
         build((SWITCH, INSIDE), (mine, two), protocol, 1, 63))
    same(2, wire.exchange({2: answer})[2],
         build((SWITCH, INSIDE), (other, one), protocol, 2, 63))


def main():
    path, interface, protocol, count = sys.argv[1:5]
    try:
        with open(path, encoding="ascii") as file:
            known = json.load(file)
    except FileNotFoundError:
        known = {}
    wire = Wire(interface)
    flows = list(flows_of(protocol, int(count)))
    if sys.argv[5:] == ["hairpin"]:
        hairpin(wire, known, protocol)
        return
    if sys.argv[5:] == ["expired"]:
        expired(wire, protocol, flows)
        return
    if sys.argv[5:] == ["oversized"]:
        oversized(wire, protocol, flows)
        return
    if sys.argv[5:] == ["fragments"]:
        fragments(wire, known, flows)
        return
    outsides = out(wire, known, protocol, flows)
    if sys.argv[5:] == ["answers"] and not wire.is_ended:
        back(wire, protocol, flows, outsides)
    if sys.argv[5:] == ["errors"]:
        errors(wire, protocol, flows, outsides)
    taken = [(name.split()[0], *outside) for name, outside in known.items()]
    if len(set(taken)) != len(taken):
        sys.exit("two mappings have the same port")
    with open(path, "w", encoding="ascii") as file:
        json.dump(known, file)
    if wire.is_ended:
        sys.exit("ended by SIGTERM")


main()
