#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Postcards: measurements of each packet by the switch (schemas/postcard.yaml)."""

import re
import struct

import needs  # before all others

import generate
import packets
import tap
from switch import (COLLECTORS, SILENCE, SOURCE, Switch, entry_of, report,
                    share_of)

DESTINATION = 2
SWITCH_ID = 0x0A010203
SWITCHES = [7, 8, 9]
FLOWS = (
    generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 17),
    generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 6),
    generate.flow("10.1.0.2", "10.3.1.3", 0, 0, 1),
    generate.flow("2001:db8::1", "2001:db8:ffff::2", 1024, 53, 17),
    generate.flow("2001:db8::1", "2001:db8:ffff::2", 1024, 53, 6),
    generate.flow("2001:db8::1", "2001:db8:ffff::2", 0, 0, 58),
)
COLLECTOR = entry_of(redundancy=1, checksum_bits=64)


def key_of(flow):
    return flow + struct.pack(">I", SWITCH_ID)


def clock():
    """The clock of the switch, in nanoseconds."""
    answer = switch.do("get_time_elapsed")
    return int(re.search(r"\d+", answer)[0]) * 1000


def value_in(frame):
    """The value in a report with a checksum of 64 bits."""
    return frame[14 + 20 + 8 + 12 + 16 + 8:-4]


def send(flow, frame):
    """The postcard of one packet, which must be forwarded unchanged."""
    switch.set_psn(5, 0)
    got = switch.send(frame)
    tap.same(got[DESTINATION], [frame])
    postcard, = got[COLLECTORS]
    tap.same(postcard, report(COLLECTOR, key_of(flow), value_in(postcard)))
    return struct.unpack(">HHIIQ", value_in(postcard))


def setup():
    switch.collect({5: COLLECTOR},
                   {share_of(key_of(flow)): 5 for flow in FLOWS})
    switch.do("table_set_default dart_postcard dart_report_hop", SWITCH_ID)
    switch.sink("none")


def keys():
    """the key of a postcard is the flow and the ID of the switch"""
    for flow in FLOWS:
        send(flow, packets.packet(flow))


def int_flows():
    """the postcard of a packet with INT shows the flow of the packet without INT"""
    for flow in FLOWS:
        send(flow, packets.with_int(packets.packet(flow), SWITCHES))


def ports():
    """a postcard shows the ingress and egress port of the packet"""
    for flow in FLOWS:
        tap.same(send(flow, packets.packet(flow))[:2], (SOURCE, DESTINATION))


def times():
    """a postcard shows the egress time of its packet, a plausible latency and queue 0"""
    before = clock()
    for flow in FLOWS:
        *_, latency, queue, time = send(flow, packets.packet(flow))
        now = clock()
        assert before <= time <= now, (before, time, now)
        assert latency <= now - before, (latency, now - before)
        tap.same(queue >> 24, 0, "number of the queue")
        before = time


def neighbours():
    """a packet without a flow gets no postcard"""
    arp = (bytes.fromhex(packets.host(DESTINATION).replace(":", "")) +
           bytes(6) + b"\x08\x06" + bytes(28))
    check_none(arp)


def check_none(*frames):
    """The frames are forwarded without a postcard, whatever their key."""
    switch.collect({5: COLLECTOR}, {share: 5 for share in range(1024)})
    tap.same(switch.send(*frames), {**SILENCE, DESTINATION: list(frames)})


def contradictions():
    """a packet with a contradictory or incomplete header gets no postcard"""
    packet = packets.packet(FLOWS[0])
    shim = packets.behind_ip(packet) + 8
    telemetry = packets.with_int(packet, SWITCHES)
    check_none(packet[:14] + b"\x65" + packet[15:],
               packet[:14] + b"\x44" + packet[15:],
               packet[:packets.behind_ip(packet) + 3],
               telemetry[:shim] + b"\x10" + telemetry[shim + 1:],
               telemetry[:shim + 20])


def reports():
    """a report, with or without INT, gets no postcard"""
    report_flow = generate.flow("10.1.0.2", "10.3.1.3", 49152, 4791, 17)
    packet = packets.packet(report_flow)
    check_none(packet, packets.with_int(packet, SWITCHES),
               packets.with_int(packet, SWITCHES, packets.BEFORE_L4))


switch = Switch()
setup()
tap.run(keys, int_flows, ports, times, neighbours, contradictions, reports)
