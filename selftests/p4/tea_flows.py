# SPDX-License-Identifier: GPL-2.0-only
"""Packets of many flows, and their translations by NAT, without scapy.

Scapy takes longer for a packet than a lookup does.
"""

import random
import select
import struct
import time

import generate
from functions import NEXT_HOP, for_switch
from lookups import SWITCH_MAC, mac

IP, L4 = 14, 34  # where these headers begin
TCP, UDP = 6, 17
CHECKSUMS = {TCP: L4 + 16, UDP: L4 + 6}
HEADERS = {TCP: 54, UDP: 42}  # bytes, from the Ethernet header on
ROUTED = mac(NEXT_HOP) + mac(SWITCH_MAC)
NUMBER = 8  # bytes at the end of each packet that number it


def random_flow(dice):
    return dice.randbytes(12) + bytes([dice.choice((TCP, UDP))])


def random_value(dice):
    """An address, a port, and which end of the flow gets them."""
    return dice.randbytes(6) + bytes([dice.randrange(2)])


def random_entries(dice, count):
    """Values by key."""
    found = {}
    while len(found) < count:
        found[random_flow(dice)] = random_value(dice)
    return found


def table_file(entries):
    """The text that dartctl imports."""
    return "key,value\n" + "".join(f"{key.hex()},{value.hex()}\n"
                                   for key, value in entries.items())


def _sum(data):
    return generate.inverse_sum(data + bytes(len(data) % 2))


def l4_sum(frame):
    """The right checksum of TCP or UDP in @frame."""
    at = CHECKSUMS[frame[23]]
    total = _sum(frame[26:34] + struct.pack(">HH", frame[23],
                                            len(frame) - L4) +
                 frame[L4:at] + frame[at + 2:])
    return total or (0xFFFF if frame[23] == UDP else 0)


def ip_sum(frame):
    return _sum(frame[IP:24] + frame[26:L4])


def with_sums(frame):
    """@frame, a bytearray, with the right checksums."""
    struct.pack_into(">H", frame, 24, ip_sum(frame))
    struct.pack_into(">H", frame, CHECKSUMS[frame[23]], l4_sum(frame))
    return bytes(frame)


def are_sums_right(frame):
    return (frame[24:26] == ip_sum(frame).to_bytes(2, "big") and
            frame[CHECKSUMS[frame[23]]:][:2] == l4_sum(frame).to_bytes(
                2, "big"))


TEMPLATES = {protocol: for_switch(bytes(12) + bytes([protocol]), b"")
             for protocol in (TCP, UDP)}


def packet_of(key, payload):
    """A packet of a flow to the switch, as for_switch() makes it."""
    frame = bytearray(TEMPLATES[key[12]] + payload)
    struct.pack_into(">H", frame, 16, len(frame) - IP)
    frame[26:L4 + 4] = key[:12]
    if key[12] == UDP:
        struct.pack_into(">H", frame, L4 + 4, len(frame) - L4)
    return with_sums(frame)


def flow_in(frame):
    """Addresses, ports and protocol: a key."""
    return frame[26:L4 + 4] + frame[23:24]


def new_flow(key, value):
    """The translation of a flow by NAT."""
    if value[6] & 1:
        return value[:4] + key[4:8] + value[4:6] + key[10:]
    return key[:4] + value[:4] + key[8:10] + value[4:6] + key[12:]


def translated(packet, value):
    """@packet as it leaves, as routed() makes it."""
    frame = bytearray(ROUTED + packet[12:])
    frame[22] -= 1
    frame[26:L4 + 4] = new_flow(flow_in(packet), value)[:12]
    return with_sums(frame)


def number_in(frame):
    return int.from_bytes(frame[-NUMBER:], "big")


class Stream:
    """Packets of random flows at a steady rate, and the frames that hosts get meanwhile.

    @sent: key, packet and time of each.  @got: time, port and frame.  @number: of the
    stream; it precedes 32 bits in the number of each packet.
    """

    def __init__(self, switch, source, ports, number):
        self.dice = random.Random(number)
        self.first = number << 32
        self.source = switch.hosts[source]
        self.receivers = {switch.hosts[port]: port for port in ports}
        self.sent, self.got = [], []
        self.begin = time.monotonic()

    def now(self):
        return time.monotonic() - self.begin

    def send(self, keys, rate, seconds, longest=1400):
        """Runs for the given seconds."""
        first = self.now()
        for number in range(int(rate * seconds)):
            self.receive(first + number / rate)
            key = self.dice.choice(keys)
            payload = self.dice.randbytes(self.dice.randrange(longest))
            packet = packet_of(key, payload +
                               (self.first + len(self.sent)).to_bytes(
                                   NUMBER, "big"))
            self.sent.append((key, packet, self.now()))
            self.source.send(packet)

    def receive(self, until):
        """Receives until this time."""
        while (left := until - self.now()) > 0:
            ready, _, _ = select.select([*self.receivers], [], [], left)
            for receiver in ready:
                self.got.append((self.now(), self.receivers[receiver],
                                 receiver.recv(65536)))
