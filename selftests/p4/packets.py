# SPDX-License-Identifier: GPL-2.0-only
"""Packets, and the same packets after INT gathered a path.

"In-band Network Telemetry (INT) Dataplane Specification", version 2.1, sections 5.7 and
5.8.  Scapy builds the packets; this file builds INT and its checksums.
"""

import ipaddress
import struct

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

import generate

INT_PORT = 5000
BEHIND_UDP, BEFORE_L4 = 1, 2
DISCARD, HOPS_EXCEEDED, MTU_EXCEEDED = 8, 4, 2
WITH_PORTS = (6, 17, 33, 132, 136)
PAYLOAD = b"A payload that switches do not interpret"


def host(port):
    """The Ethernet address of the host at a port."""
    return f"02:00:00:00:00:{port:02x}"


def flow_of(key):
    """Source, destination, source port, destination port, protocol."""
    half = 4 if len(key) == 13 else 16
    return (ipaddress.ip_address(key[:half]),
            ipaddress.ip_address(key[half:2 * half]),
            *struct.unpack(">HHB", key[2 * half:]))


def packet(key, payload=PAYLOAD, to=2, udp=None, **ip):
    """A packet of a flow, to the host @to; @udp and @ip are fields for scapy."""
    source, destination, sport, dport, protocol = flow_of(key)
    if len(key) == 13:
        network = IP(src=str(source), dst=str(destination), proto=protocol,
                     **ip)
    else:
        network = IPv6(src=str(source), dst=str(destination), nh=protocol,
                       **ip)
    if protocol == 17:
        transport = UDP(sport=sport, dport=dport, **(udp or {}))
    elif protocol == 6:
        transport = TCP(sport=sport, dport=dport, seq=4711, flags="PA")
    elif protocol == 1:
        transport = ICMP()
    elif protocol in WITH_PORTS:
        transport = Raw(struct.pack(">HHQ", sport, dport, 0))
    else:
        transport = Raw(b"")
    return bytes(Ether(src=host(1), dst=host(to)) / network / transport /
                 Raw(payload))


def behind_ip(frame):
    """The offset after the IP header."""
    return 14 + (frame[14] & 15) * 4 if frame[14] >> 4 == 4 else 54


def with_extensions(frame, *extensions):
    """A frame of IPv6 with extension headers: their protocols and their words after the first."""
    chain, following = b"", frame[20]
    for protocol, words in reversed(extensions):
        chain = bytes([following, words]) + bytes(6 + 8 * words) + chain
        following = protocol
    length, = struct.unpack(">H", frame[18:20])
    return (frame[:18] + struct.pack(">HB", length + len(chain), following) +
            frame[21:54] + chain + frame[54:])


def with_tags(frame, digits):
    """The frame with VLAN tags, which are hexadecimal digits."""
    return frame[:12] + bytes.fromhex(digits) + frame[12:]


def add(*numbers):
    """The one's complement sum."""
    total = sum(numbers)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def with_ip_checksum(frame):
    """The frame with the right checksum of IPv4; other frames are the same."""
    if frame[12:14] != b"\x08\x00" or frame[14] >> 4 != 4:
        return frame
    at = behind_ip(frame)
    ip = frame[14:24] + b"\0\0" + frame[26:at]
    return (frame[:24] + struct.pack(">H", generate.inverse_sum(ip)) +
            frame[26:])


def again(checksum, right_before, right):
    """The new checksum, as wrong as the old one: switches keep the error."""
    if checksum == right_before:
        return right
    return add(right, checksum, ~right_before & 0xFFFF)


def udp_sum(ip, datagram):
    """The right checksum of UDP, whatever the checksum in @datagram."""
    addresses = ip[12:20] if ip[0] >> 4 == 4 else ip[8:40]
    data = datagram[:6] + b"\0\0" + datagram[8:] + bytes(len(datagram) % 2)
    return generate.inverse_sum(
        addresses + struct.pack(">HH", 17, len(datagram)) + data) or 0xFFFF


def ip_with(ip, protocol, longer):
    """The IP header with a length that is @longer, and another protocol."""
    if ip[0] >> 4 == 6:
        length, = struct.unpack(">H", ip[4:6])
        return (ip[:4] + struct.pack(">HB", length + longer, protocol) +
                ip[7:])
    length, = struct.unpack(">H", ip[2:4])
    result = (ip[:2] + struct.pack(">H", length + longer) + ip[4:9] +
              bytes([protocol, 0, 0]) + ip[12:])
    checksum = again(int.from_bytes(ip[10:12], "big"),
                     generate.inverse_sum(ip[:10] + b"\0\0" + ip[12:]),
                     generate.inverse_sum(result))
    return result[:10] + struct.pack(">H", checksum) + result[12:]


def stack_of(nodes, hop_words):
    return b"".join(struct.pack(">I", node) + b"\xee" * 4 * (hop_words - 1)
                    for node in nodes)


def with_int(frame, nodes, npt=None, hop_words=1, flags=0,
             instructions=0x8000):
    """The frame when it arrives at the sink, the last node first.

    By default INT follows the UDP header of the packet (NPT 1), or a UDP header
    that is put in front of any other protocol (NPT 2).
    """
    at = behind_ip(frame)
    ip, rest = frame[14:at], frame[at:]
    protocol = ip[9] if ip[0] >> 4 == 4 else ip[6]
    npt = npt or (BEHIND_UDP if protocol == 17 else BEFORE_L4)
    telemetry = struct.pack(">BBBBHHHH", 2 << 4 | flags, 0, hop_words, 7,
                            instructions, 0, 0, 0)
    telemetry += stack_of(nodes, hop_words)
    words = len(telemetry) // 4

    if npt == BEFORE_L4:
        shim = struct.pack(">BBH", 1 << 4 | npt << 2, words, protocol)
        payload = shim + telemetry + rest
        udp = struct.pack(">HHHH", 0xBEEF, INT_PORT, 8 + len(payload), 0)
        ip = ip_with(ip, 17, len(udp + shim + telemetry))
        checksum = udp_sum(ip, udp + payload)
        return (frame[:14] + ip + udp[:6] + struct.pack(">H", checksum) +
                payload)

    source, destination, length, checksum = struct.unpack(">4H", rest[:8])
    shim = struct.pack(">BBH", 1 << 4 | npt << 2, words, destination)
    longer = len(shim + telemetry)
    udp = struct.pack(">HHHH", source, INT_PORT, length + longer, 0)
    payload = shim + telemetry + rest[8:]
    if checksum:
        checksum = again(checksum, udp_sum(ip, rest),
                         udp_sum(ip, udp + payload))
    return (frame[:14] + ip_with(ip, 17, longer) + udp[:6] +
            struct.pack(">H", checksum) + payload)


def value_of(nodes):
    """The value of a report for a path: five hops, 0 for unused hops."""
    return struct.pack(">5I", *(list(nodes) + [0] * 5)[:5])
