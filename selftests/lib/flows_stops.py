#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""flows_stops.py INTERFACE RECORDS [JOURNAL]

Opens and resets one connection through dart-flows, a NAT, until its journal has RECORDS records
more, one for each packet, and until JOURNAL is another file.  Meanwhile datagrams of another flow
go the same way, each when the one before has come.  Prints as JSON how many came, and the longest
time that one took.
"""

import json
import os
import select
import socket
import struct
import sys
import time

INTERFACE, RECORDS, JOURNAL = sys.argv[1], int(sys.argv[2]), (*sys.argv, None)[3]
SO_RCVBUFFORCE, SOL_PACKET, PACKET_IGNORE_OUTGOING = 33, 263, 23
SWITCH, INSIDE = b"\2\0\0\0\0\1", b"\2\0\0\0\0\x0a"
SYN, RST = 2, 4
TURN = 32  # packets of the connection for each datagram
PATIENCE_S = 120


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def frame(protocol, transport, at):
    """@at: the place of the checksum in the transport"""
    ends = socket.inet_aton("10.0.0.1") + socket.inet_aton("198.51.100.1")
    value = checksum(ends + struct.pack("!HH", protocol, len(transport)) + transport)
    transport = transport[:at] + struct.pack("!H", value) + transport[at + 2:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(transport), 1, 0, 64, protocol, 0) + ends
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return SWITCH + INSIDE + b"\x08\0" + ip + transport


def segment(flags):
    return frame(socket.IPPROTO_TCP, struct.pack("!HHIIBBHHH", 4000, 80, 7, 0, 5 << 4, flags, 8192,
                                                 0, 0), 16)


def datagram(number):
    return frame(socket.IPPROTO_UDP, struct.pack("!HHHHQ", 4000, 53, 16, 0, number), 6)


port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
port.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 23)
port.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
port.bind((INTERFACE, 0))
turn = [segment(SYN), segment(RST)] * (TURN // 2)
file_before = os.stat(JOURNAL).st_ino if JOURNAL else None
longest = number = 0
while number * TURN < RECORDS or (JOURNAL and os.stat(JOURNAL).st_ino == file_before):
    begun = time.monotonic()
    port.send(datagram(number))
    for packet in turn:
        port.send(packet)
    while True:
        if not select.select([port], [], [], PATIENCE_S)[0]:
            sys.exit(f"datagram {number} did not come")
        packet, address = port.recvfrom(2048)
        if address[2] != socket.PACKET_OUTGOING and packet[23] == socket.IPPROTO_UDP and \
                packet[-8:] == struct.pack("!Q", number):
            break
    number += 1
    longest = max(longest, time.monotonic() - begun)
print(json.dumps({"came": number, "longest_ms": round(1000 * longest, 1)}))
