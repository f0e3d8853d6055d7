#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Packets with INT-MD become the frames of golden vectors.

A switch cannot produce a vector whose value is not a path of five hops, or whose key is
not a flow or contains ports for a protocol without ports.
"""

import json

from needs import TREE

import generate
import packets
import tap
from switch import COLLECTORS, Switch

VECTORS = TREE / "selftests/vectors/reports.json"
IPV4, IPV6 = 13, 37
KINDS = ((IPV4, False), (IPV6, True))  # length of the key, is it UDP


def is_flow(key):
    if len(key) not in (IPV4, IPV6):
        return False
    *_, sport, dport, protocol = packets.flow_of(key)
    return protocol in packets.WITH_PORTS or sport == dport == 0


def is_possible(vector):
    return (is_flow(bytes.fromhex(vector["key"])) and
            vector["collector"]["value_length"] == 20)


def kind_of(vector):
    key = bytes.fromhex(vector["key"])
    return len(key), key[-1] == 17


def packet_of(vector):
    value = bytes.fromhex(vector["value"]).rstrip(b"\0")
    nodes = [int.from_bytes(value[i:i + 4].ljust(4, b"\0"), "big")
             for i in range(0, len(value), 4)] or [0]
    return packets.with_int(packets.packet(bytes.fromhex(vector["key"])),
                            nodes)


def send_reliably(vector):
    """The first frame of all copies is a probe, which takes the place of a report."""
    entry = {**vector["collector"], "transport": "rc",
             "first_psn": (vector["psn"] - vector["copy"] - 1) % 2**24}
    switch.collect({0: entry}, {vector["share"]: 0}, True)
    frames = switch.send(packet_of(vector))[COLLECTORS]
    probe = generate.probe(entry, vector["source_mac"], entry["first_psn"])
    tap.same(frames[0].hex(), probe.hex(), "the probe")
    reports = [frame for frame in frames if len(frame) > len(probe)]
    tap.same(len(reports), entry["redundancy"], "reports")
    tap.same(reports[vector["copy"]].hex(), vector["frame_rc"],
             f"of collector {entry}, key {vector['key']}")


def send(vector, all_copies):
    """Compares the reports of one packet; the last one must be the vector's frame."""
    entry = vector["collector"]
    if not all_copies:
        entry = {**entry, "redundancy": 1}
    sent_before = vector["copy"] if all_copies else 0
    switch.collect({0: {**entry, "first_psn":
                        (vector["psn"] - sent_before) % 2**24}},
                   {vector["share"]: 0}, all_copies)
    reports = switch.send(packet_of(vector))[COLLECTORS]
    tap.same(len(reports), entry["redundancy"], "reports")
    tap.same(reports[sent_before].hex(), vector["frame"],
             f"of collector {entry}, key {vector['key']}")


def check_all(kind):
    chosen = [vector for vector in possible if kind_of(vector) == kind]
    assert chosen, "no vector is of this kind"
    tap.note(f"{len(chosen)} vectors")
    for vector in chosen:
        send(vector, True)
        if vector["copy"] == 0:
            send(vector, False)


def ipv4_without_udp():
    """IPv4 packets with INT in front of their protocol become golden frames"""
    check_all(KINDS[0])


def ipv6_with_udp():
    """IPv6 packets with INT after their UDP header become golden frames"""
    check_all(KINDS[1])


def reliable():
    """over a reliable connection the same packets become the golden frames of that connection"""
    for vector in possible:
        send_reliably(vector)


def no_checksum_is_0():
    """a checksum that would be 0 is 1 in a report"""
    for bits, port in ((8, 340), (16, 24297)):
        key = generate.flow("10.1.0.2", "10.3.1.3", 0, port, 17)
        tap.same(generate.crc(generate.CHECKSUMS[0], key) % 2**bits, 0)
        send(generate.vector(key, bytes(range(1, 21)), checksum_bits=bits),
             True)


with open(VECTORS, encoding="utf-8") as file:
    vectors = json.load(file)
switch = Switch()
possible = list(filter(is_possible, vectors))
tap.same({*map(kind_of, possible)}, {*KINDS}, "kinds of vectors")
of_flows = [vector for vector in vectors
            if len(vector["key"]) in (2 * IPV4, 2 * IPV6)]
tap.note(f"{len(possible)} of {len(vectors)} vectors: "
         f"{len(vectors) - len(of_flows)} have keys of other lengths, "
         f"{len(of_flows) - len(possible)} values of other lengths "
         "or impossible ports")
tap.run(ipv4_without_udp, ipv6_with_udp, reliable, no_checksum_is_0)
