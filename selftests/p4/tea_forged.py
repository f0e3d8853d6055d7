#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Responses that an attacker sends, with right ICRCs, do not end the lookups at a server.

DART_FORGED: the number of responses from each port.
"""

import os
import random

import needs  # before all others

import generate
import tap
from functions import (OUT, SERVERS, SILENT, UP, Function, for_switch,
                       routed)
from lookups import NAK_ACCESS, NAK_SEQUENCE, PSNS, Geometry, Server
from switch import SILENCE

KEY = generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 17)
VALUE = bytes([192, 0, 2, 1, 0x1F, 0x90, 0])
NEW = {"dst": "192.0.2.1", "dport": 8080}
PACKET = for_switch(KEY)
LEFT = {**SILENCE, OUT: [routed(PACKET, **NEW)]}
CLIENT = 4  # a port without a server
FORGED = int(os.environ.get("DART_FORGED", "1600"))
AT_ONCE = 16
FIRST = 100  # PSN of an exchange that has proven everything before 102
MOST_BEHIND, MOST_AHEAD = 40, 32  # PSNs that the switch believes
PACKETS = 5  # after each of which the time-out ends: enough to settle a PSN


def ack(psn):
    return server.acknowledge(psn)


def nak(psn):
    return server.acknowledge(psn, NAK_SEQUENCE)


def fatal(psn):
    return server.acknowledge(psn, NAK_ACCESS)


def data(psn):
    """Data without the right tag."""
    return server.response(psn, bytes(server.geometry.row + 12) + PACKET)


def answer(*requests):
    return [response for request in requests
            for response in server.handle(request)]


def lookups(count=1):
    """The requests of packets, on their way."""
    return switch.send(*[PACKET] * count)[server.port]


def responds(*responses):
    """The packets that leave when responses come, with all that follows."""
    left, got = switch.respond(server, *responses), []
    while any(left.values()):
        got += left[OUT]
        left = switch.respond(server, *answer(*left[server.port]))
    return got


def begin():
    """One lookup has succeeded."""
    switch.renew(server, FIRST)
    server.acknowledged = FIRST - 1
    tap.same(switch.exchange(PACKET), LEFT)


def falls_silent():
    """The first probe, on its way, after the time-out."""
    switch.limit(timeout=1)
    probe, = lookups()
    switch.limit()
    tap.same(switch.get("state", server), SILENT)
    return probe


def settles(what):
    """Few packets settle the PSN, whatever it is now."""
    switch.limit(timeout=1)
    for _ in range(PACKETS):
        left = switch.exchange(PACKET)
        tap.same({**left, OUT: []}, SILENCE, what)
    switch.limit()
    tap.same(left, LEFT, what)
    tap.same([switch.get(name, server)
              for name in ("psn", "outstanding", "state")],
             [server.expected, 0, UP], what)


def other_port():
    """a response from another port than the server's counts for nothing, even the right one"""
    begin()
    late = answer(*lookups())
    for psn in range(FIRST, FIRST + 8):
        for forge in (ack, nak, fatal, data):
            tap.same(switch.send(forge(psn), source=CLIENT), SILENCE)
    tap.same(switch.send(*late, source=CLIENT), SILENCE)
    tap.same(switch.outcomes(), {"sent": 2, "found": 1, "source": 33})
    tap.same(responds(*late), LEFT[OUT])
    # An acknowledgement far ahead, after silence.
    lookups()
    probe = falls_silent()
    tap.same(switch.send(ack(FIRST + 0x345678), source=CLIENT), SILENCE)
    tap.same(switch.respond(server, ack(FIRST + 0x345678)), SILENCE)
    responds(*answer(probe))
    for _ in range(20):
        tap.same(switch.exchange(PACKET), LEFT)


def flood(port):
    """Lookups that fail while FORGED responses with random PSNs arrive, and PSNs that hit."""
    dice = random.Random(port)
    begin()
    failed = hits = 0
    for number in range(FORGED // AT_ONCE):
        is_silent = number % 8 == 7
        requests = lookups(4)
        first = switch.get("psn", server) - len(requests)
        if is_silent:
            answer(*requests)  # the responses are lost
            requests = [falls_silent()]
        psns = [dice.randrange(PSNS) for _ in range(AT_ONCE)]
        hits += sum((psn - first + MOST_BEHIND) % PSNS <=
                    MOST_BEHIND + MOST_AHEAD for psn in psns)
        switch.send(*[dice.choice((ack, nak, fatal, data))(psn)
                      for psn in psns], source=port)
        got = responds(*answer(*requests))
        if len(got) < 4 and not is_silent:
            failed += 4 - len(got)
            settles(number)
    outcomes = switch.outcomes()
    tap.note(f"{failed} failed, {hits} hit: {outcomes}")
    return failed, hits, outcomes


def flood_elsewhere():
    """random PSNs from another port change nothing"""
    failed, _, outcomes = flood(CLIENT)
    tap.same(failed, 0)
    tap.same(outcomes["source"], FORGED // AT_ONCE * AT_ONCE)


def flood_there():
    """random PSNs from the server's port cost at most the lookups in flight when they hit"""
    failed, hits, _ = flood(server.port)
    assert failed <= 4 * hits, (failed, hits)


def guessed():
    """a PSN guessed while lookups wait costs no more than these"""
    for forge in (ack, nak, fatal, data):
        for psn in range(FIRST + 2, FIRST + 6):
            begin()
            late = answer(*lookups(2))
            tap.same(responds(forge(psn)), [])
            assert len(responds(*late)) <= 2
            settles((forge.__name__, psn))


def guessed_before_the_server():
    """a PSN guessed before any of the requests arrives is settled as well"""
    for forge in (ack, nak, fatal, data):
        for psn in range(FIRST + 2, FIRST + 10):
            for lost in range(5):
                begin()
                requests = lookups(4)
                responds(forge(psn))
                responds(*answer(*requests[lost:]))
                settles((forge.__name__, psn, lost))


def guessed_in_silence():
    """a PSN guessed while the server is silent, before or after its first answer, is settled"""
    first = FIRST + 2
    for forge in (ack, nak):
        for psn in range(first - MOST_BEHIND - 2, first + MOST_AHEAD + 3):
            for is_first in (True, False):
                begin()
                write, _ = lookups()
                if psn % 2:
                    answer(write)
                acknowledgement, = answer(falls_silent())
                if is_first:
                    responds(forge(psn), acknowledgement)
                else:
                    probes = switch.respond(server, acknowledgement)
                    responds(forge(psn), *answer(*probes[server.port]))
                settles((forge.__name__, psn, is_first))


def out_of_reach():
    """a PSN that is far off stays so, and the server silent, until it gets a new queue pair"""
    begin()
    switch.set("psn", server, FIRST + 0x345678)
    switch.limit(timeout=1)
    for _ in range(PACKETS):
        switch.exchange(PACKET)
        responds(ack(FIRST + 1), nak(FIRST + 2))
    switch.limit()
    tap.same(switch.get("state", server), SILENT)
    begin()
    settles("renewed")


server = Server(port=SERVERS[0], geometry=Geometry(2))
server.add(KEY, VALUE)
switch = Function("nat", server)
tap.run(other_port, flood_elsewhere, flood_there, guessed,
        guessed_before_the_server, guessed_in_silence, out_of_reach,
        before=switch.outcomes)
