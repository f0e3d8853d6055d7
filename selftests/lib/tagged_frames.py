#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""tagged_frames.py save FILE | send INTERFACE ANSWERS REPORTS [KIND...]

Frames with INT-MD and tags of VLANs, made by scapy, one for each kind of tags; see KINDS.
"save" writes them to FILE, a capture.  "send" sends all frames, or the frames of each KIND,
through INTERFACE, waits until REPORTS frames with reports have arrived at the interface
ANSWERS, 20 s at most, and prints the tags of each as JSON.
"""

import json
import socket
import struct
import sys
import time

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

INT_PORT = 5000
ROCE_PORT = 4791
PACKET_AUXDATA = 8
SOL_PACKET = 263
VLAN_VALID = 1 << 4

# The shim, the MD header with node IDs alone, and two hops.
INT = struct.pack("!BBHBBBBHHHHII", 1 << 4 | 1 << 2, 5, 80, 2 << 4, 0, 1, 3,
                  0x8000, 0, 0, 0, 22, 11)


def untyped(outer, inner, kind):
    """Two tags; scapy does not know the type of the outer tag."""
    return bytes(outer)[:12] + struct.pack("!HH", kind, 8) + bytes(inner)[12:]


def kinds():
    ether = Ether(src="02:00:00:00:00:02", dst="02:00:00:00:00:01")
    packet = IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=7, dport=INT_PORT) / Raw(INT)
    packet6 = IPv6(src="fd00::1", dst="fd00::2") / UDP(sport=7, dport=INT_PORT) / Raw(INT)
    tag = Dot1Q(vlan=5)
    return {
        "none": ether / packet,
        "single": ether / tag / packet,
        "single6": ether / tag / packet6,
        "priority": ether / Dot1Q(prio=5, vlan=0) / packet,
        "8021ad": ether / Dot1AD(vlan=8) / tag / packet,
        "twice": ether / Dot1Q(vlan=8) / tag / packet,
        "9100": Ether(untyped(ether, ether / tag / packet, 0x9100)),
        "three": ether / Dot1AD(vlan=8) / tag / tag / packet,
        "arp": ether / tag / ARP(),
    }


def tags_of(frame, ancillary):
    """The types of the tags of a frame, including tags that the driver removed."""
    tags = []
    for level, kind, data in ancillary:
        if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
            status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", data[:20])
            if status & VLAN_VALID:
                tags.append(f"{tpid:04x}")
    while frame[12:14] in (b"\x81\x00", b"\x88\xa8", b"\x91\x00"):
        tags.append(frame[12:14].hex())
        frame = frame[:12] + frame[16:]
    return tags, frame


def send(interface, answers, reports, chosen):
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    wire.bind((answers, 0))
    wire.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    out.bind((interface, 0))
    for kind, frame in kinds().items():
        if not chosen or kind in chosen:
            out.send(bytes(frame))
    end = time.monotonic() + 20
    found = []
    while len(found) < reports and time.monotonic() < end:
        wire.settimeout(max(end - time.monotonic(), 0.001))
        try:
            frame, ancillary, _, address = wire.recvmsg(2048, 256)
        except TimeoutError:
            break
        if address[2] == socket.PACKET_OUTGOING:
            continue
        tags, frame = tags_of(frame, ancillary)
        if frame[12:14] == b"\x08\x00" and frame[36:38] == struct.pack("!H", ROCE_PORT):
            found.append(tags)
    print(json.dumps(found))


if sys.argv[1] == "save":
    wrpcap(sys.argv[2], list(kinds().values()))
else:
    send(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:])
