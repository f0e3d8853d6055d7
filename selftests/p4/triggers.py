#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""The packets that become reports, and the contents of the reports."""

import needs  # before all others

import generate
import packets
import tap
from scapy.layers.inet import IPOption_NOP
from switch import (COLLECTORS, PORTS, SILENCE, SOURCE, Switch, entry_of,
                    report, share_of)

DESTINATION, ELSEWHERE = 2, 4
DROPPED, GROUP = 254, 255  # a host to drop for, all hosts
SWITCHES = [0x0A030101, 0x0A030301, 0x0A040102, 0x0A010301, 0x0A010001]
IPV4_UDP = generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 17)
IPV4_TCP = generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 6)
IPV6_UDP = generate.flow("2001:db8::1", "2001:db8:ffff::2", 1024, 53, 17)
IPV6_TCP = generate.flow("2001:db8::1", "2001:db8:ffff::2", 1024, 53, 6)
IPV4_ICMP = generate.flow("10.1.0.2", "10.3.1.3", 0, 0, 1)
FLOWS = (IPV4_UDP, IPV4_TCP, IPV6_UDP, IPV6_TCP, IPV4_ICMP,
         generate.flow("10.1.0.2", "10.3.1.3", 7, 8, 132),
         generate.flow("10.1.0.2", "10.3.1.3", 7, 8, 33),
         generate.flow("2001:db8::1", "2001:db8::2", 7, 8, 136),
         generate.flow("2001:db8::1", "2001:db8::2", 0, 0, 58))
COLLECTOR = entry_of(redundancy=1)


def collect(*keys):
    """Assigns only the shares of these keys to one collector."""
    switch.collect({5: COLLECTOR}, {share_of(key): 5 for key in keys})
    switch.outcomes()


def path_reports(*keys_and_paths):
    """A report of each, with PSNs from 0."""
    return [report(COLLECTOR, key, packets.value_of(nodes), number=number)
            for number, (key, nodes) in enumerate(keys_and_paths)]


def each_packet():
    """every packet with INT is reported and forwarded without it"""
    collect(*FLOWS)
    switch.sink("all")
    for key in FLOWS:
        packet = packets.packet(key)
        switch.set_psn(5, 0)
        got = switch.send(*[packets.with_int(packet, SWITCHES)] * 3)
        tap.same(got[COLLECTORS], path_reports(*[(key, SWITCHES)] * 3))
        tap.same(got[DESTINATION], [packet] * 3)


def udp_after_int():
    """a UDP packet after INT is reported"""
    collect(IPV4_UDP, IPV6_UDP)
    for key in (IPV4_UDP, IPV6_UDP):
        packet = packets.packet(key)
        switch.set_psn(5, 0)
        got = switch.send(packets.with_int(packet, SWITCHES,
                                           packets.BEFORE_L4))
        tap.same(got[COLLECTORS], path_reports((key, SWITCHES)))
        tap.same(got[DESTINATION], [packet])


def options():
    """a packet with options of IPv4 is reported"""
    collect(IPV4_UDP, IPV4_TCP)
    for key in (IPV4_UDP, IPV4_TCP):
        packet = packets.packet(key, options=[IPOption_NOP()] * 8)
        switch.set_psn(5, 0)
        got = switch.send(packets.with_int(packet, SWITCHES))
        tap.same(got[COLLECTORS], path_reports((key, SWITCHES)))
        tap.same(got[DESTINATION], [packet])


def tags():
    """a packet with one VLAN tag or two is reported, and keeps them without INT"""
    for key in (IPV4_UDP, IPV4_TCP, IPV6_UDP, IPV6_TCP):
        collect(key)
        for digits in ("81000005", "8100a000", "88a80008", "88a8000881000005",
                       "9100000881000005", "9200000881000005", "93000008"):
            packet = packets.packet(key)
            switch.set_psn(5, 0)
            got = switch.send(packets.with_tags(
                packets.with_int(packet, SWITCHES), digits))
            tap.same(got[COLLECTORS], path_reports((key, SWITCHES)), digits)
            tap.same(got[DESTINATION], [packets.with_tags(packet, digits)])


def extensions():
    """a packet with up to four extension headers of IPv6 is reported, and keeps them without INT"""
    for key in (IPV6_UDP, IPV6_TCP):
        collect(key)
        for chain in ([(0, 0)], [(43, 2)], [(60, 1)], [(60, 255)],
                      [(0, 0), (60, 3), (43, 2), (60, 0)]):
            packet = packets.packet(key)
            switch.set_psn(5, 0)
            got = switch.send(packets.with_extensions(
                packets.with_int(packet, SWITCHES), *chain))
            tap.same(got[COLLECTORS], path_reports((key, SWITCHES)), chain)
            tap.same(got[DESTINATION],
                     [packets.with_extensions(packet, *chain)], chain)


def lengths():
    """the first five hops are reported, whatever the number of words of a hop"""
    collect(IPV4_UDP)
    for hop_words in (1, 2, 3, 9, 31):
        for hops in (1, 2, 4, 5, 6, 7):
            nodes = list(range(1000, 1000 + hops))
            packet = packets.packet(IPV4_UDP)
            switch.set_psn(5, 0)
            got = switch.send(packets.with_int(packet, nodes,
                                               hop_words=hop_words))
            what = f"{hops} hops of {hop_words} words"
            tap.same(got[COLLECTORS], path_reports((IPV4_UDP, nodes)), what)
            tap.same(got[DESTINATION], [packet], what)


def longest():
    """a packet with the longest stack of INT, 252 hops, is reported"""
    collect(IPV4_UDP)
    nodes = list(range(2000, 2252))
    packet = packets.packet(IPV4_UDP)
    got = switch.send(packets.with_int(packet, nodes))
    tap.same(got[COLLECTORS], path_reports((IPV4_UDP, nodes)))
    tap.same(got[DESTINATION], [packet])


def without_int():
    """packets without INT are forwarded and not reported"""
    collect(*FLOWS)
    frames = [packets.packet(key) for key in FLOWS]
    got = switch.send(*frames)
    tap.same(got[COLLECTORS], [])
    tap.same(got[DESTINATION], frames)
    tap.same(switch.outcomes(), {"other": len(FLOWS)})


def changes_only():
    """with dart_sink_changes a path is reported if it differs from the last path of its flow"""
    switch.sink("changes")
    for key in (IPV4_UDP, IPV6_TCP):
        other = key[:-1] + bytes([132])
        collect(key, other)
        rounds = [(key, SWITCHES), (key, SWITCHES), (key, SWITCHES[:4]),
                  (key, SWITCHES[:4]), (key, SWITCHES), (other, SWITCHES),
                  (key, SWITCHES)]
        plain = [packets.packet(flow) for flow, _ in rounds]
        got = switch.send(*(packets.with_int(packet, nodes) for
                            packet, (_, nodes) in zip(plain, rounds)))
        tap.same(got[COLLECTORS],
                 path_reports(*(rounds[n] for n in (0, 2, 4, 5))))
        tap.same(got[DESTINATION], plain)
        tap.same(switch.outcomes(), {"report": 4, "unchanged": 3})
    switch.sink("all")


def transit():
    """a switch that is not the last forwards INT unchanged"""
    collect(*FLOWS)
    switch.sink("none")
    frames = [packets.with_int(packets.packet(key), SWITCHES)
              for key in FLOWS]
    got = switch.send(*frames)
    tap.same(got[DESTINATION], frames)
    tap.same(got[COLLECTORS], [])
    tap.same(switch.outcomes(), {"other": len(FLOWS)})
    switch.sink("all")


def by_port():
    """a switch can be the last for one port and not for another"""
    collect(IPV4_UDP)
    switch.sink("none", ELSEWHERE)
    packet = packets.packet(IPV4_UDP)
    there = packets.with_int(packets.packet(IPV4_UDP, to=ELSEWHERE),
                             SWITCHES)
    got = switch.send(packets.with_int(packet, SWITCHES), there)
    tap.same(got[DESTINATION], [packet])
    tap.same(got[ELSEWHERE], [there])
    tap.same(got[COLLECTORS], path_reports((IPV4_UDP, SWITCHES)))
    switch.do("table_clear dart_sink")


def discarded():
    """a packet with the discard flag is reported and not forwarded"""
    collect(IPV4_UDP)
    probe = packets.with_int(packets.packet(IPV4_UDP), SWITCHES,
                             flags=packets.DISCARD)
    got = switch.send(probe)
    tap.same(got[COLLECTORS], path_reports((IPV4_UDP, SWITCHES)))
    tap.same(got[DESTINATION], [])
    switch.sink("none")
    tap.same(switch.send(probe)[DESTINATION], [probe])
    switch.sink("all")


def dropped():
    """a packet that the switch drops is not reported"""
    collect(IPV4_UDP)
    switch.do("table_add forward forward_drop", packets.host(DROPPED), "=>")
    tap.same(switch.send(packets.with_int(packets.packet(IPV4_UDP, to=DROPPED),
                                          SWITCHES)), SILENCE)


def flood():
    """a packet to all hosts is reported once and delivered without INT to each other port"""
    switch.sink("none", 0)
    switch.do("mc_mgrp_create 1")
    switch.do("mc_node_create 1", *PORTS)
    switch.do("mc_node_associate 1 0")
    switch.do("table_add forward forward_flood", packets.host(GROUP), "=> 1")
    collect(IPV4_UDP)
    packet = packets.packet(IPV4_UDP, to=GROUP)
    got = switch.send(packets.with_int(packet, SWITCHES))
    reports = path_reports((IPV4_UDP, SWITCHES))
    tap.same(sorted(got.pop(COLLECTORS)), sorted([packet] + reports))
    tap.same(got, {SOURCE: [], DESTINATION: [packet], ELSEWHERE: [packet]})


switch = Switch()
tap.run(each_packet, udp_after_int, options, tags, extensions, lengths, longest, without_int,
        changes_only, transit, by_port, discarded, dropped, flood)
