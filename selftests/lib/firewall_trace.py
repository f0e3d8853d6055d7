#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""firewall_trace.py PORT INSIDE OUTSIDE INSIDE_MAC OUTSIDE_MAC

Sends the same packets through two firewalls between 10.0.0.2 and 198.51.100.2, and compares which
of them pass: dart-flows at PORT, and a router whose interfaces, with these Ethernet addresses, are
at the other ends of INSIDE and OUTSIDE.  Both let hosts inside begin flows.  Each scenario has
ports of its own.  After each packet follows one that both let pass, so that nothing is waited for
that does not come.  Exits with 1 if a packet that DIFFERENCES does not name is judged differently,
or a named one alike.
"""

import select
import socket
import struct
import sys
import time

HOSTS = (socket.inet_aton("10.0.0.2"), socket.inet_aton("198.51.100.2"))
MACS = (bytes.fromhex("02000000000a"), bytes.fromhex("02000000000b"))
PATIENCE_S = 30
MARKER = 9  # the port of packets that pass

# (scenario, number of the packet): why dart-flows, first, judges differently
DIFFERENCES = {
    ("a RST beyond the window", 3):
        "passes: the switch passes most segments, so no window is known; the host compares",
    ("data beyond the window", 3): "passes: likewise",
    ("fragments", 0): "passes: nothing joins fragments, the second one follows the first",
    ("a timestamp request", 0): "dropped: only echoes make pseudo-connections of ICMP",
}


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ip(back, protocol, data, number, fragment=0):
    addresses = HOSTS[back] + HOSTS[not back]
    at = {6: 16, 17: 6, 1: 2}[protocol]
    if not fragment:
        pseudo = b"" if protocol == 1 else addresses + struct.pack("!HH", protocol, len(data))
        data = data[:at] + struct.pack("!H", checksum(pseudo + data)) + data[at + 2:]
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(data), number, fragment, 64, protocol,
                         0) + addresses
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + data


class Scenario:
    """The packets of it: functions of the number that a packet has in its header."""

    def __init__(self, name, port):
        self.name, self.port, self.packets = name, port, []

    def add(self, back, make):
        self.packets.append((back, make))
        return self

    def tcp(self, back, flags, sequence, acknowledgement=0, data=b"", offset=5, damage=0):
        value = sum({"F": 1, "S": 2, "R": 4, "P": 8, "A": 16, "U": 32}[flag] for flag in flags)
        ports = (80, self.port) if back else (self.port, 80)
        header = struct.pack("!HHIIBBHHH", *ports, sequence, acknowledgement, offset << 4, value,
                             8192, 0, 0)

        def make(number):
            packet = bytearray(ip(back, 6, header + data, number))
            packet[36] ^= damage
            return bytes(packet)

        return self.add(back, make)

    def handshake(self):
        return self.tcp(0, "S", 100).tcp(1, "SA", 700, 101).tcp(0, "A", 101, 701)

    def udp(self, back, port=53):
        ports = (port, self.port) if back else (self.port, port)
        data = struct.pack("!4H", *ports, 12, 0) + b"data"
        return self.add(back, lambda number: ip(back, 17, data, number))

    def echo(self, back, kind, identifier=None):
        data = struct.pack("!BBHHH", kind, 0, 0, identifier or self.port, 1)
        return self.add(back, lambda number: ip(back, 1, data, number))

    def error(self, kind, code, port=None):
        """About a datagram from inside."""
        quoted = ip(0, 17, struct.pack("!4H", port or self.port, 53, 12, 0) + b"data", 1)
        data = struct.pack("!BBHI", kind, code, 0, 0) + quoted[:28]
        return self.add(1, lambda number: ip(1, 1, data, number))

    def fragments(self):
        data = struct.pack("!4H", self.port, 53, 24, 0) + b"0123456789abcdef"
        self.add(0, lambda number: ip(0, 17, data[:16], 7, 0x2000))
        return self.add(0, lambda number: ip(0, 17, data[16:], 7, 0x0002))


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
    yield new("a datagram from outside").udp(1)
    yield new("an answer of another port").udp(0).udp(1, 54)
    yield new("an echo").echo(0, 8).echo(1, 0)
    yield new("an echo from outside").echo(1, 8)
    yield new("a reply without a request").echo(1, 0)
    yield new("a reply to another request").echo(0, 8).echo(1, 0, 7)
    yield new("an error about a flow").udp(0).error(3, 3).error(11, 0).error(3, 4)
    yield new("an error about no flow").error(3, 3, 1999)
    yield new("a timestamp request").echo(0, 13).echo(1, 13)
    yield new("fragments").fragments()


class Firewall:
    def __init__(self, interfaces, macs):
        self.sockets = []
        for name in interfaces:
            one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
            one.bind((name, 0))
            self.sockets.append(one)
        self.macs = macs
        self.number = 100

    def send(self, back, make):
        self.number += 1
        packet = make(self.number)
        self.sockets[back % len(self.sockets)].send(
            self.macs[back] + MACS[back] + b"\x08\0" + packet)
        return packet

    def passes(self, back, make):
        """Does the packet arrive at the other side before the marker that follows it?"""
        wanted = self.send(back, make)
        marker = self.send(0, lambda number: ip(0, 17, struct.pack("!4H", MARKER, MARKER, 8, 0),
                                                number))
        there = self.sockets[(not back) % len(self.sockets)], self.sockets[-1]
        end = time.monotonic() + PATIENCE_S
        seen = set()
        while time.monotonic() < end:
            for ready in select.select(set(there), [], [], 1)[0]:
                frame, address = ready.recvfrom(2048)
                if address[2] == socket.PACKET_OUTGOING:
                    continue
                # All but time to live and checksum of the header.
                seen.add(frame[14:22] + frame[23:24] + frame[26:])
            if marker[:8] + marker[9:10] + marker[12:] in seen and \
                    not select.select(set(there), [], [], 0)[0]:
                return wanted[:8] + wanted[9:10] + wanted[12:] in seen
        sys.exit("a packet that should pass is missing")


def main():
    port, inside, outside, *macs = sys.argv[1:]
    ours = Firewall((port,), (bytes.fromhex("020000000001"),) * 2)
    other = Firewall((inside, outside), [bytes.fromhex(mac.replace(":", "")) for mac in macs])
    wrong = passed = judged = 0
    for scenario in scenarios():
        for number, (back, make) in enumerate(scenario.packets):
            mine, its = ours.passes(back, make), other.passes(back, make)
            judged += 1
            passed += mine
            if (mine != its) != ((scenario.name, number) in DIFFERENCES):
                print(f"{scenario.name}, packet {number}: dart-flows {mine}, conntrack {its}")
                wrong += 1
    print(f"{judged} packets, {passed} passed, {len(DIFFERENCES)} differences are known")
    sys.exit(1 if wrong else 0)


main()
