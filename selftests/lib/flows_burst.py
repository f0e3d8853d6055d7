#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""flows_burst.py INTERFACE MAC COUNT: sends so many datagrams of one flow, 10.0.0.1:4000 to
198.51.100.1:53, to this Ethernet address, as fast as the interface takes them.

MAC is an address, or "all": then each frame goes to all hosts.
"""

import socket
import struct
import sys

INTERFACE, MAC, COUNT = sys.argv[1:]
DATA = bytes(1000)


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


mac = b"\xff" * 6 if MAC == "all" else bytes.fromhex(MAC.replace(":", ""))
ends = socket.inet_aton("10.0.0.1") + socket.inet_aton("198.51.100.1")
udp = struct.pack("!HHHH", 4000, 53, 8 + len(DATA), 0) + DATA
ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 1, 0, 64, socket.IPPROTO_UDP, 0) + ends
ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
port.bind((INTERFACE, 0))
for _ in range(int(COUNT)):
    port.send(mac + b"\2\0\0\0\0\x0a\x08\0" + ip + udp)
