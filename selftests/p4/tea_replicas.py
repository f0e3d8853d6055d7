#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Each packet goes to the server of its share, or to the replica if that is better."""

import random
import time

import needs  # before all others

import generate
import tap
from functions import OUT, SERVERS, SILENT, UP, Function, for_switch, routed
from lookups import PAST, Geometry, Server, share_of
from switch import SILENCE

KEY = generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 17)
VALUE = bytes([192, 0, 2, 1, 0x1F, 0x90, 0])
NEW = {"dst": "192.0.2.1", "dport": 8080}
PACKET = for_switch(KEY)
LEFT = {**SILENCE, OUT: [routed(PACKET, **NEW)]}


def assign(*numbers):
    """All shares: the first server and its replica."""
    switch.do("table_clear tea_share")
    for share in range(1024):
        switch.assign(share, *(servers[number] for number in numbers))


def begin():
    for server in servers:
        switch.renew(server, 0)
        switch.do("register_write tea_port_down", server.port, 0)
    switch.do("register_reset tea_port_window")
    switch.limit()
    switch.outcomes()


def requests(*frames):
    """The number of lookups that each server gets."""
    got = switch.send(*frames)
    counts = [len(got[server.port]) for server in servers]
    assert all(count % 2 == 0 for count in counts), counts
    return [count // 2 for count in counts]


def shares():
    """each packet goes to the server of its share, and gets the entry from there"""
    dice = random.Random(18)
    halves = [0, 0]
    for _ in range(40):
        key = generate.flow(dice.randbytes(4), dice.randbytes(4), 1, 2, 6)
        half = share_of(key) // 512
        halves[half] += 1
        servers[half].add(key, VALUE)
        servers[1 - half].add(key, bytes(7))
        packet = for_switch(key)
        tap.same(requests(packet), [1 - half, half])
        begin()
        tap.same(switch.exchange(packet)[OUT], [routed(packet, **NEW)])
        tap.same(switch.outcomes(), {"sent": 1, "found": 1})
        for server in servers:
            server.set_row(server.geometry.home(key), {})
    assert min(halves) > 10, halves
    for server in servers:
        server.add(KEY, VALUE)


def link_down():
    """a server whose link is down is not used"""
    assign(0, 1)
    switch.do("register_write tea_port_down", servers[0].port, 1)
    tap.same(requests(PACKET, PACKET), [0, 2])
    switch.do("register_write tea_port_down", servers[1].port, 1)
    tap.same(requests(PACKET), [0, 0])
    tap.same(switch.outcomes(), {"sent": 2, "silent": 1})
    switch.do("register_write tea_port_down", servers[0].port, 0)
    tap.same(requests(PACKET), [1, 0])


def less_used():
    """the server whose port sent fewer bytes of late is used"""
    assign(0, 1)
    # Within one window, or with one change of windows.
    counts = requests(*[PACKET] * 12)
    tap.same(sum(counts), 12)
    assert abs(counts[0] - counts[1]) <= 4, counts


def limit():
    """when no READ more may wait at one server, the replica is used, then packets are dropped"""
    assign(0, 1)
    tap.same(requests(*[PACKET] * 40), [16, 16])
    tap.same(switch.outcomes(), {"sent": 32, "limit": 8})


def take_over():
    """the replica takes over from a silent server, which is probed, and used again when it answers"""
    assign(0, 1)
    first, second = servers
    switch.do("register_write tea_port_down", second.port, 1)
    tap.same(requests(PACKET), [1, 0])
    switch.do("register_write tea_port_down", second.port, 0)
    switch.limit(timeout=1)
    # This packet finds the first server silent, and goes to the other.
    got = switch.send(PACKET)
    switch.limit()
    tap.same(got, {**SILENCE, first.port: [first.probe(-PAST)],
                   second.port: second.lookup(0, PACKET, KEY)})
    tap.same(switch.get("state", first), SILENT)
    tap.same(switch.outcomes(), {"sent": 2})
    response = [there for request in got[second.port]
                for there in second.handle(request)]
    tap.same(switch.respond(second, *response), LEFT)
    tap.same(requests(*[PACKET] * 5), [0, 5])
    tap.same(switch.respond(first, first.acknowledge(0xFFFFFF)),
             {**SILENCE, first.port: [first.probe(0)]})
    tap.same(switch.get("state", first), SILENT)
    tap.same(switch.respond(first, first.acknowledge(0)), SILENCE)
    tap.same(switch.get("state", first), UP)
    tap.same([switch.get("psn", first), switch.get("outstanding", first)],
             [1, 0])
    counts = requests(*[PACKET] * 9)
    assert counts[0] > 0, counts


def within_a_second():
    """of a steady stream, packets pass again within a second after a server is gone"""
    assign(0, 1)
    switch.limit(timeout=300000)
    first, second = servers
    # The switch uses only the first of the two as long as it works.
    switch.do("register_write tea_port_down", second.port, 1)
    tap.same(switch.exchange(PACKET), LEFT)
    switch.do("register_write tea_port_down", second.port, 0)
    gone = time.monotonic()
    waiting = []  # seconds until a packet passed
    slowest = 0  # seconds from a packet to the next one
    before = gone
    while before - gone < 3:
        got = switch.send(PACKET)
        responses = [response for request in got[second.port]
                     for response in second.handle(request)]
        if responses:
            tap.same(switch.respond(second, *responses)[OUT], LEFT[OUT])
            waiting.append(time.monotonic() - gone)
        now = time.monotonic()
        slowest = max(slowest, now - before)
        before = now
    outcomes = switch.outcomes()
    last = max(after - before for before, after in
               zip([0] + waiting, waiting + [3]))
    tap.note(f"{outcomes}, no packet passed for {last:.3f} s at most, "
             f"a packet took {slowest:.3f} s")
    # On a busy machine, this process and not the switch delays the next packet.
    assert last < 1 + 3 * slowest, last
    tap.same(switch.get("state", first), SILENT)
    # At most the packets that may wait are lost, and the first packet after the time-out.
    assert outcomes["sent"] - outcomes["found"] <= 16, outcomes
    assert not outcomes.keys() & {"limit", "silent"}, outcomes


def both_silent():
    """when both are silent, packets are dropped and counted, and both get probes"""
    assign(0, 1)
    requests(*[PACKET] * 12)
    switch.outcomes()
    switch.limit(timeout=1)
    got = switch.send(*[PACKET] * 4)
    switch.limit()
    tap.same(switch.outcomes(), {"silent": 4})
    for server in servers:
        tap.same({*got[server.port]}, {server.probe(-PAST)})


def one_server():
    """without a replica, packets for a silent server are dropped and counted"""
    assign(0, 0)
    tap.same(requests(PACKET), [1, 0])
    switch.limit(timeout=1)
    tap.same(switch.send(PACKET),
             {**SILENCE, servers[0].port: [servers[0].probe(-PAST)]})
    tap.same(switch.outcomes(), {"sent": 1, "silent": 1})


servers = [Server(number, port, Geometry(2))
           for number, port in enumerate(SERVERS)]
switch = Function("nat", *servers)
tap.run(shares, link_down, less_used, limit, take_over,
        within_a_second, both_silent,
        one_server, before=begin)
