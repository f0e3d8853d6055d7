# SPDX-License-Identifier: GPL-2.0-only
"""The same packets through two boxes between hosts inside and outside, and a verdict about each.

A box is dart-flows at one port, or a router with two interfaces.  Each scenario is a list of
packets, whose ports no other scenario uses.  After each packet follows one that both boxes let
pass, so that nothing is waited for that does not come.
"""

import select
import socket
import struct
import sys
import time
from typing import Callable, NamedTuple

INSIDE, INSIDE_2 = "10.0.0.2", "10.0.0.3"
OUTSIDE, OUTSIDE_2, ROUTER = "198.51.100.2", "198.51.100.3", "198.51.100.9"
MACS = (bytes.fromhex("02000000000a"), bytes.fromhex("02000000000b"))
PATIENCE_S = 30
MARKER = 9  # the port of packets that pass
TCP, UDP, ICMP = 6, 17, 1
FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, "A": 16, "U": 32}

PASSES, DROPPED = "passes", "dropped"
OTHER_PORT = "passes by another port than to the other host"
TAKEN_PORT = "passes by the port of another host"


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


# ---- packets, from (ADDRESS, PORT) to (ADDRESS, PORT)


def ip(ends, protocol, data, number, fragment=0):
    addresses = b"".join(socket.inet_aton(address) for address, _ in ends)
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(data), number, fragment, 64, protocol,
                         0) + addresses
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + data


def transport(ends, protocol, data, at):
    """Data whose checksum, at this place, is right."""
    addresses = b"".join(socket.inet_aton(address) for address, _ in ends)
    pseudo = b"" if protocol == ICMP else addresses + struct.pack("!HH", protocol, len(data))
    return data[:at] + struct.pack("!H", checksum(pseudo + data)) + data[at + 2:]


def datagram(ends, payload=b"data"):
    header = struct.pack("!4H", *(port for _, port in ends), 8 + len(payload), 0)
    return transport(ends, UDP, header + payload, 6)


class Packet(NamedTuple):
    """From @source to @destination, as hosts inside know themselves; @build makes its bytes from
    its number, and from both ends as a host knows them.  @protocol is that of the flow, also of an
    error about the flow."""
    source: tuple
    destination: tuple
    protocol: int
    is_error: bool
    build: Callable


class Scenario:
    """Packets of two ends.  The other end of a packet is outside, unless it says otherwise."""

    def __init__(self, name, port):
        self.name, self.port, self.packets = name, port, []

    def add(self, back, protocol, build, ends, is_error=False):
        inside, outside = ends
        pair = (outside, inside) if back else (inside, outside)
        self.packets.append(Packet(*pair, protocol, is_error, build))
        return self

    def tcp(self, back, flags, sequence, acknowledgement=0, data=b"", offset=5, damage=0):
        def build(number, *ends):
            header = struct.pack("!HHIIBBHHH", *(port for _, port in ends), sequence,
                                 acknowledgement, offset << 4, sum(FLAGS[f] for f in flags), 8192,
                                 0, 0)
            packet = bytearray(ip(ends, TCP, transport(ends, TCP, header + data, 16), number))
            packet[35] ^= damage  # the window
            return bytes(packet)

        return self.add(back, TCP, build, ((INSIDE, self.port), (OUTSIDE, 80)))

    def handshake(self):
        return self.tcp(0, "S", 100).tcp(1, "SA", 700, 101).tcp(0, "A", 101, 701)

    def udp(self, back, port=53, host=INSIDE, remote=OUTSIDE, has_checksum=True, damage=0):
        def build(number, *ends):
            data = bytearray(datagram(ends))
            data[-1] ^= damage
            if not has_checksum:
                data[6:8] = bytes(2)
            return ip(ends, UDP, bytes(data), number)

        return self.add(back, UDP, build, ((host, self.port), (remote, port)))

    def hairpin(self, host, other):
        """From a host inside to the end outside of another one."""
        return self.add(0, UDP, lambda number, *ends: ip(ends, UDP, datagram(ends), number),
                        ((host, self.port), (other, self.port)))

    def echo(self, back, kind, identifier=None):
        def build(number, source, destination):
            data = struct.pack("!BBHHH", kind, 0, 0, (destination if back else source)[1], 1)
            ends = source, destination
            return ip(ends, ICMP, transport(ends, ICMP, data, 2), number)

        return self.add(back, ICMP, build, ((INSIDE, identifier or self.port), (OUTSIDE, 0)))

    def error(self, back, kind, code, port=None, by=None):
        """About a datagram that its sender wrote, which another host may tell."""
        def build(number, source, destination):
            quoted = (destination, (OUTSIDE, 53) if back else source)
            data = struct.pack("!BBHI", kind, code, 0, 0) + \
                ip(quoted, UDP, datagram(quoted), 1)[:28]
            ends = source, destination
            return ip(ends, ICMP, transport(ends, ICMP, data, 2), number)

        return self.add(back, UDP, build, ((INSIDE, port or self.port), (by or OUTSIDE, 53)),
                        is_error=True)

    def fragments(self):
        for word, part in ((0x2000, slice(16)), (0x0002, slice(16, None))):
            def build(_, *ends, word=word, part=part):
                return ip(ends, UDP, datagram(ends, b"0123456789abcdef")[part], 7, word)

            self.add(0, UDP, build, ((INSIDE, self.port), (OUTSIDE, 53)))
        return self


def scenarios():
    ports = iter(range(2000, 3000))

    def new(name):
        return Scenario(name, next(ports))

    yield new("data both ways").handshake().tcp(0, "PA", 101, 701, b"question") \
        .tcp(1, "PA", 701, 109, b"answer").tcp(0, "A", 109, 707)
    yield new("closed by FIN").handshake().tcp(0, "FA", 101, 701).tcp(1, "FA", 701, 102) \
        .tcp(0, "A", 102, 702)
    yield new("half closed").handshake().tcp(0, "FA", 101, 701).tcp(1, "A", 701, 102) \
        .tcp(1, "PA", 701, 102, b"rest").tcp(0, "A", 102, 705)
    yield new("refused by RST").tcp(0, "S", 100).tcp(1, "RA", 0, 101)
    yield new("both ends open").tcp(0, "S", 100).tcp(1, "S", 700).tcp(0, "SA", 100, 701) \
        .tcp(1, "SA", 700, 101).tcp(0, "A", 101, 701)
    yield new("SYN twice").tcp(0, "S", 100).tcp(0, "S", 100).tcp(1, "SA", 700, 101) \
        .tcp(1, "SA", 700, 101).tcp(0, "A", 101, 701)
    yield new("the same ports after FIN").handshake().tcp(0, "FA", 101, 701) \
        .tcp(1, "FA", 701, 102).tcp(0, "A", 102, 702).tcp(0, "S", 9000).tcp(1, "SA", 7000, 9001)
    for flags in ("S", "SA", "A", "F", "FA", "FPU", "", "R", "RA", "SF", "SR"):
        yield new(f"{flags or 'no flag'} from outside").tcp(1, flags, 1, 1)
        if flags != "S":
            yield new(f"{flags or 'no flag'} from inside").tcp(0, flags, 1, 1)
    yield new("SYN and ACK with a wrong number").tcp(0, "S", 100).tcp(1, "SA", 700, 103)
    yield new("RST with a wrong number").tcp(0, "S", 100).tcp(1, "RA", 0, 103)
    yield new("a RST in the window").handshake().tcp(1, "R", 701)
    yield new("a RST beyond the window").handshake().tcp(1, "R", 700000)
    yield new("data beyond the window").handshake().tcp(1, "PA", 700000, 101, b"data")
    yield new("SYN in a connection, from inside").handshake().tcp(0, "S", 5000)
    yield new("a damaged SYN").tcp(0, "S", 100, damage=1)
    yield new("a header of 16 bytes").tcp(0, "S", 100, offset=4)
    yield new("datagrams").udp(0).udp(1).udp(0).udp(1)
    yield new("a damaged datagram").udp(0, damage=1)
    yield new("a damaged answer").udp(0).udp(1, damage=1)
    yield new("datagrams without a checksum").udp(0, has_checksum=False) \
        .udp(1, has_checksum=False)
    yield new("a datagram from outside").udp(1)
    yield new("an answer of another port").udp(0).udp(1, 54)
    yield new("an answer of another host").udp(0).udp(1, remote=OUTSIDE_2)
    yield new("two hosts outside").udp(0).udp(0, remote=OUTSIDE_2).udp(1) \
        .udp(1, remote=OUTSIDE_2)
    yield new("two hosts inside with the same port").udp(0).udp(0, host=INSIDE_2) \
        .udp(0, host=INSIDE_2, remote=OUTSIDE_2).udp(1).udp(1, host=INSIDE_2) \
        .udp(1, host=INSIDE_2, remote=OUTSIDE_2)
    yield new("an echo").echo(0, 8).echo(1, 0)
    yield new("an echo from outside").echo(1, 8)
    yield new("a reply without a request").echo(1, 0)
    yield new("a reply to another request").echo(0, 8).echo(1, 0, 7)
    yield new("an error about a flow").udp(0).error(1, 3, 3).error(1, 11, 0).error(1, 3, 4)
    yield new("an error of a router outside").udp(0).error(1, 11, 0, by=ROUTER)
    yield new("an error from inside about an answer").udp(0).udp(1).error(0, 3, 3)
    yield new("an error about no flow").error(1, 3, 3, 1999)
    yield new("an error from inside about no flow").error(0, 3, 3)
    yield new("a timestamp request").echo(0, 13).echo(1, 13)
    yield new("fragments").fragments()
    yield new("a host inside by its end outside").udp(0).udp(0, host=INSIDE_2) \
        .hairpin(INSIDE_2, INSIDE).hairpin(INSIDE, INSIDE_2)


# ---- boxes


def is_inside(end):
    return end[0].startswith("10.")


class Box:
    """@pool: the address that hosts inside have outside; None: their own."""

    def __init__(self, interfaces, macs, pool=None):
        self.sockets = []
        for name in interfaces:
            one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
            one.bind((name, 0))
            self.sockets.append(one)
        self.macs, self.pool = macs, pool
        self.number = 100
        self.given = {}  # {(protocol, end inside): {end of the other host: end outside}}

    def end_outside(self, protocol, end, other):
        """What hosts outside know an end inside by; before they know it, they guess."""
        if not self.pool or not is_inside(end):
            return end
        given = self.given.get((protocol, end), {})
        return given.get(other) or next(iter(given.values()), (self.pool, end[1]))

    def send(self, packet):
        self.number += 1
        back = not is_inside(packet.source)
        data = packet.build(self.number, packet.source, self.end_outside(
            packet.protocol, packet.destination, packet.source))
        self.sockets[back % len(self.sockets)].send(
            self.macs[back] + MACS[back] + b"\x08\0" + data)
        return data

    def arrived(self, packet):
        """The packet at the other side, if it is there before the marker that follows; None."""
        sent = self.send(packet)
        marker = self.send(Packet((INSIDE, MARKER), (OUTSIDE, MARKER), UDP, False,
                                  lambda number, *ends: ip(ends, UDP, datagram(ends), number)))
        there = self.sockets[(not is_inside(packet.destination)) % len(self.sockets)]
        sockets = {there, self.sockets[-1]}
        end = time.monotonic() + PATIENCE_S
        frames = {}
        while time.monotonic() < end:
            for ready in select.select(sockets, [], [], 1)[0]:
                frame, address = ready.recvfrom(2048)
                if address[2] != socket.PACKET_OUTGOING:
                    # The number and the place in a datagram say which packet it is.
                    frames[ready, frame[18:22]] = frame[14:]
            if (self.sockets[-1], marker[4:8]) in frames and \
                    not select.select(sockets, [], [], 0)[0]:
                return self.number - 1, frames.get((there, sent[4:8]))
        sys.exit("a packet that should pass is missing")

    def learn(self, packet, data):
        """The end outside that the packet came from; what is wrong about it."""
        port = struct.unpack("!H", data[24:26] if packet.protocol == ICMP else data[20:22])[0]
        outside = socket.inet_ntoa(data[12:16]), port
        taken = [end for end, given in self.given.items()
                 if given.get(packet.destination) == outside and end[0] == packet.protocol and
                 end[1] != packet.source]
        given = self.given.setdefault((packet.protocol, packet.source), {})
        others = set(given.values()) - {outside}
        given[packet.destination] = outside
        if outside[0] != self.pool:
            return f"passes by {outside[0]}"
        return TAKEN_PORT if taken else OTHER_PORT if others else PASSES

    def judge(self, packet):
        number, data = self.arrived(packet)
        if data is None:
            return DROPPED
        verdict = PASSES
        # A fragment but the first has no port.
        if self.pool and is_inside(packet.source) and not packet.is_error and \
                not struct.unpack("!H", data[6:8])[0] & 0x1fff:
            verdict = self.learn(packet, data)
        wanted = packet.build(number, self.end_outside(packet.protocol, packet.source,
                                                       packet.destination), packet.destination)

        def compared(bytes_):
            """All but the time to live and the checksum of the header."""
            return bytes_[:8] + bytes_[9:10] + bytes_[12:]

        if compared(data) != compared(wanted):
            return f"arrives as {data.hex()}, not {wanted.hex()}"
        return verdict


def compare(differences, pool=None):
    """Of the boxes that the command line names.  @differences: {(scenario, number of the packet):
    (verdict of dart-flows, verdict of the kernel, reason)}; exits with 1 at any other one, and
    where one of these is not found."""
    port, inside, outside, *macs = sys.argv[1:]
    ours = Box((port,), (bytes.fromhex("020000000001"),) * 2, pool)
    other = Box((inside, outside), [bytes.fromhex(mac.replace(":", "")) for mac in macs], pool)
    wrong = passed = judged = 0
    known = dict(differences)
    for scenario in scenarios():
        for number, packet in enumerate(scenario.packets):
            verdicts = ours.judge(packet), other.judge(packet)
            judged += 1
            passed += verdicts[0] == PASSES
            difference = known.pop((scenario.name, number), None)
            if verdicts != (difference[:2] if difference else (verdicts[0],) * 2) or \
                    verdicts[0].startswith("arrives"):
                print(f"{scenario.name}, packet {number}: dart-flows {verdicts[0]}, "
                      f"conntrack {verdicts[1]}")
                wrong += 1
    for scenario, number in known:
        print(f"{scenario}, packet {number}: there is no such packet")
        wrong += 1
    print(f"{judged} packets, {passed} passed, {len(differences)} differences are known")
    sys.exit(1 if wrong else 0)
