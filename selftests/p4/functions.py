# SPDX-License-Identifier: GPL-2.0-only
"""A network function with lookup tables in simple_switch, and its table servers.

This file contains its control plane, which sets the tables that Documentation/p4.md lists.
"""

import json
import re
from socket import inet_aton

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.layers.vxlan import VXLAN

import packets
from lookups import POLYNOMIALS, SWITCH_IP, SWITCH_MAC, share_of
from switch import PORTS, SOURCE, Running, polynomials

OUT = 2  # the port that routes lead to
SERVERS = (3, 4)  # ports
TIMEOUT = 2**31  # microseconds; a test that wants probes sets another value
NEXT_HOP = packets.host(OUT)

# shared/tea/outcome.p4
OUTCOMES = ("other", "keyless", "invalid", "cache", "stash", "unassigned",
            "limit", "long", "silent", "sent", "found", "again", "changing",
            "stashed", "absent", "malformed", "source", "ICRC", "stale",
            "length", "tag", "epoch", "check", "acknowledged", "probed", "NAK",
            "NAK stale", "NAK fatal")
NUMBERS = {outcome: number for number, outcome in enumerate(OUTCOMES)}

FIELDS = {"tea_row0": "row 0", "tea_row1": "row 1", "tea_check": "check",
          "tea_share": "share"}
UP, SILENT, STOPPED = 0, 1, 2


def polynomial(field):
    """The polynomial of the CRC in a field."""
    found = re.search(r"(?:^|[._])(tea_(?:row0|row1|check|share))(?:_\d+)?$",
                      field)
    return POLYNOMIALS[FIELDS[found[1]]]


def for_switch(key, payload=packets.PAYLOAD, **fields):
    """A packet that is to be looked up."""
    frame = packets.packet(key, payload, **fields)
    return bytes.fromhex(SWITCH_MAC.replace(":", "")) + frame[6:]


def tunnel_port(port, source, machine):
    """The port that the gateway chooses, by CRC-16/ARC of the flow inside."""
    crc = 0
    for byte in port.to_bytes(2, "big") + inet_aton(source) + inet_aton(machine) + b"\x11":
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0xa001 if crc & 1 else crc >> 1
    return 0xc000 | crc & 0x3fff


def tunnelled(vni, machine, payload=packets.PAYLOAD, checksum=None,
              to=SWITCH_IP, ttl=64, mac=SWITCH_MAC, flags=8, source="172.16.0.1"):
    """A packet of a host to a machine, in a tunnel; @checksum of UDP: None for the right value.

    @flags: of VXLAN; 8: the VNI is valid.  A packet to another tunnel has another source port.
    """
    port = 49152 if mac == SWITCH_MAC else tunnel_port(49152, source, machine)
    inner = (Ether(src="02:11:00:00:00:01", dst="02:11:00:00:00:02") /
             IP(src=source, dst=machine) / UDP(sport=5, dport=6) /
             payload)
    return bytes(Ether(src=packets.host(1) if mac == SWITCH_MAC else
                       SWITCH_MAC, dst=mac) /
                 IP(src="198.51.100.1", dst=to, ttl=ttl) /
                 UDP(sport=port, dport=4789, chksum=checksum) /
                 VXLAN(vni=vni, flags=flags) / inner)


def routed(frame, **fields):
    """@frame as it leaves by the route, with other @fields of IP, and of TCP or UDP.

    Scapy computes all checksums again.
    """
    packet = Ether(frame)
    packet.src, packet.dst = SWITCH_MAC, NEXT_HOP
    packet[IP].ttl -= 1
    transport = packet[TCP] if TCP in packet else packet[UDP]
    for name, value in fields.items():
        setattr(packet[IP] if name in ("src", "dst") else transport, name,
                value)
    del packet[IP].chksum
    if TCP in packet or transport.chksum:
        del transport.chksum
    return bytes(packet)


class Function(Running):
    """Server @servers[0] holds the lower half of shares, and so on."""

    def __init__(self, name, *servers, replica=False, **limits):
        super().__init__(name)
        with open(self.program, encoding="utf-8") as file:
            for calculation, low in polynomials(json.load(file),
                                                polynomial).items():
                self.set_crc(calculation, low)
        for port in SERVERS:
            self.do("mc_mgrp_create", port + 1)
            for rid in (1, 2):
                answer = self.do("mc_node_create", rid, port)
                handle = re.search(r"handle (\d+)", answer)[1]
                self.do("mc_node_associate", port + 1, handle)
        self.handles = {}  # of entries of servers
        self.do("table_add route route_to 0.0.0.0/0 =>", OUT, NEXT_HOP)
        self.servers = servers
        self.limit(**limits)
        for server in servers:
            self.add(server)
        for share in range(1024 if servers else 0):
            first = servers[share * len(servers) // 1024]
            self.assign(share, *(servers if replica else (first, first)))
        self.outcomes()

    def add(self, server):
        """An entry for a server; replaces the entry with its number."""
        self.set("state", server, STOPPED)
        for table in ("tea_from", "tea_server"):
            for handle in self.handles.pop((table, server.number), []):
                self.do("table_delete", table, handle)
        for table, action, key, *values in (
                ("tea_from", "tea_response_of", server.ip, server.number,
                 server.port, server.epoch),
                ("tea_server", "tea_send_to", server.number, server.mac,
                 server.ip, server.qpn, server.rkey, server.base,
                 2**server.geometry.rows_log2 - 1, server.geometry.row_log2,
                 server.epoch)):
            answer = self.do("table_add", table, action, key, "=>", *values)
            self.handles[table, server.number] = [
                re.search(r"handle (\d+)", answer)[1]]
        self.renew(server)

    def assign(self, share, first, second):
        self.do("table_add tea_share tea_assign", share, "=>", first.number,
                first.port, second.number, second.port)

    def limit(self, packet_length=1514, outstanding=16, timeout=TIMEOUT,
              tries=3):
        self.do("table_set_default tea_switch tea_switch_is", SWITCH_MAC,
                SWITCH_IP, packet_length, outstanding, timeout, tries)

    def renew(self, server, first_psn=None):
        """A new queue pair."""
        if first_psn is not None:
            server.first_psn = server.expected = first_psn
            server.nak_sent = False
        for register, value in (("state", STOPPED), ("psn", server.first_psn),
                                ("proven", server.first_psn),
                                ("outstanding", 0), ("state", UP)):
            self.set(register, server, value)

    def set(self, register, server, value):
        self.do("register_write", f"tea_{register}", server.number, value)

    def get(self, register, server):
        """The entry of a server, or of a number."""
        number = server if isinstance(server, int) else server.number
        answer = self.do("register_read", f"tea_{register}", number)
        return int(re.search(r"= *(\d+)", answer)[1])

    def outcomes(self):
        """Counts of packets since the last call, by outcome."""
        return self.changes("tea_packets", OUTCOMES)

    def otherwise(self, outcome, port):
        """Sends packets with this outcome to a port instead of dropping them."""
        self.do("table_add tea_otherwise tea_to_port", NUMBERS[outcome], "=>",
                port)

    def respond(self, server, *frames):
        """The frames that leave when frames come from a server."""
        return self.send(*frames, source=server.port)

    def exchange(self, *frames, source=SOURCE):
        """The frames that leave, except requests, when servers answer these."""
        got = {port: [] for port in PORTS}
        left = self.send(*frames, source=source)
        while True:
            for port, there in left.items():
                got[port] += there
            answers = {server: [] for server in self.servers}
            for server in self.servers:
                for request in got[server.port]:
                    answers[server] += server.handle(request)
                got[server.port] = []
            if not any(answers.values()):
                return got
            left = {port: [] for port in PORTS}
            for server, there in answers.items():
                for port, more in self.respond(server, *there).items():
                    left[port] += more


def share_in(half, keys):
    """The first of @keys whose share lies in a half, 0 or 1, of all shares."""
    return next(key for key in keys if share_of(key) // 512 == half)
