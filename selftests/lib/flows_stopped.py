#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""flows_stopped.py INTERFACE PID TIMEOUT

Flows of UDP begin through dart-flows, a NAT with this process ID and this time-out in seconds.  It
is stopped for longer than the time-out, and each flow has a packet meanwhile.  Prints as JSON how
many flows there are, and how many of them have another port then.
"""

import json
import os
import select
import signal
import socket
import struct
import sys
import time

INTERFACE, PID, TIMEOUT = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
SO_RCVBUFFORCE, SOL_PACKET, PACKET_IGNORE_OUTGOING = 33, 263, 23
SWITCH, INSIDE = b"\2\0\0\0\0\1", b"\2\0\0\0\0\x0a"
FLOWS = 1000
PATIENCE_S = 120


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def datagram(number):
    ends = socket.inet_aton(f"10.0.{number // 250}.{number % 250 + 1}") + \
        socket.inet_aton("198.51.100.1")
    udp = struct.pack("!HHHHQ", 4000, 53, 16, 0, number)
    value = checksum(ends + struct.pack("!HH", socket.IPPROTO_UDP, len(udp)) + udp)
    udp = udp[:6] + struct.pack("!H", value) + udp[8:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 1, 0, 64, socket.IPPROTO_UDP, 0) + ends
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return SWITCH + INSIDE + b"\x08\0" + ip + udp


def send():
    for number in range(FLOWS):
        port.send(datagram(number))


def ports_of_all():
    """The port outside of each flow, of one packet each"""
    found = {}
    while len(found) < FLOWS:
        if not select.select([port], [], [], PATIENCE_S)[0]:
            sys.exit(f"{FLOWS - len(found)} packets did not come")
        packet, address = port.recvfrom(2048)
        if address[2] != socket.PACKET_OUTGOING and packet[23] == socket.IPPROTO_UDP:
            found[struct.unpack("!Q", packet[-8:])[0]] = packet[34:36]
    return found


port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
port.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 23)
port.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
port.bind((INTERFACE, 0))
send()
before = ports_of_all()
os.kill(PID, signal.SIGSTOP)
time.sleep(TIMEOUT / 2)
send()
time.sleep(TIMEOUT)
os.kill(PID, signal.SIGCONT)
after = ports_of_all()
print(json.dumps({"flows": FLOWS, "moved": sum(before[i] != after[i] for i in before)}))
