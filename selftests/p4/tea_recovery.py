#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Lost and late requests and responses: PSNs, outstanding requests, and probes."""

import random

import needs  # before all others

import generate
import tap
from functions import (OUT, SERVERS, SILENT, STOPPED, UP, Function,
                       for_switch, routed)
from lookups import (NAK_ACCESS, NAK_SEQUENCE, PAST, PSNS, Geometry,
                     Server)
from switch import SILENCE

KEY = generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 17)
VALUE = bytes([192, 0, 2, 1, 0x1F, 0x90, 0])
NEW = {"dst": "192.0.2.1", "dport": 8080}
PACKET = for_switch(KEY)
LEFT = {**SILENCE, OUT: [routed(PACKET, **NEW)]}
FIRSTS = (0, PSNS - 1, PSNS - 2, PSNS - 3)


def lookup(psn, packet=PACKET):
    """Sends a packet; returns its WRITE and READ, with this PSN and the next."""
    got = switch.send(packet)
    tap.same(got, {**SILENCE,
                   server.port: server.lookup(psn, packet, KEY)})
    tap.same(switch.outcomes(), {"sent": 1})
    return got[server.port]


def answer(*requests):
    return [response for request in requests
            for response in server.handle(request)]


def delivered(*responses, left=LEFT, **outcomes):
    tap.same(switch.respond(server, *responses), left, outcomes)
    tap.same(switch.outcomes(), outcomes)


def state(psn, outstanding, state_=UP):
    tap.same([switch.get(name, server)
              for name in ("psn", "outstanding", "state")],
             [psn % PSNS, outstanding, state_], "next PSN, outstanding, state")


def works(psn):
    """A packet passes now."""
    delivered(*answer(*lookup(psn % PSNS)), found=1)
    state(psn + 2, 0)


def begin(first):
    switch.renew(server, first)
    server.acknowledged = (first - 1) % PSNS


def limit():
    """no more READs wait than may; the next packet is dropped and counted"""
    for outstanding, most in ((1, 1), (5, 5), (16, 16), (17, 16), (255, 16)):
        begin(PSNS - 9)
        switch.limit(outstanding=outstanding)
        got = switch.send(*[PACKET] * 20)
        tap.same(len(got[server.port]), 2 * most)
        tap.same(switch.outcomes(), {"sent": most, "limit": 20 - most})
        state(PSNS - 9 + 2 * most, 2 * most)
        responses = answer(*got[server.port])
        tap.same(len(switch.respond(server, responses[0])[OUT]), 1)
        state(PSNS - 9 + 2 * most, 2 * most - 2)
        tap.same(len(switch.send(PACKET)[server.port]), 2)
        switch.outcomes()
    begin(0)
    switch.limit(outstanding=0)
    tap.same(switch.send(PACKET), SILENCE)
    tap.same(switch.outcomes(), {"limit": 1})
    switch.limit()


def limit_elsewhere():
    """beyond the limit a packet leaves where the operator wants it"""
    begin(0)
    switch.otherwise("limit", 4)
    switch.send(*[PACKET] * 16)
    tap.same(switch.send(PACKET), {**SILENCE, 4: [PACKET]})
    switch.do("table_clear tea_otherwise")


def request_lost():
    """after a NAK of a lost WRITE or READ the next request carries the server's expected PSN"""
    for first in FIRSTS:
        begin(first)
        _, read = lookup(first)
        delivered(*answer(read), left=SILENCE, NAK=1)  # the WRITE is lost
        state(first, 0)
        works(first)
        begin(first)
        write, _ = lookup(first)
        tap.same(answer(write), [])
        later = lookup((first + 2) % PSNS)  # the READ is lost
        delivered(*answer(*later), left=SILENCE, NAK=1)
        state(first + 1, 0)
        works(first + 1)


def response_lost():
    """a lost response is free when a later one comes"""
    for first in FIRSTS:
        begin(first)
        answer(*lookup(first))
        responses = answer(*lookup((first + 2) % PSNS))
        state(first + 4, 4)
        delivered(*responses, found=1)
        state(first + 4, 0)


def reordered():
    """a response that a later one overtook is stale"""
    begin(0)
    one = answer(*lookup(0))
    # It reads the packet of its own WRITE, which is the same here.
    two = answer(*lookup(2))
    delivered(*two, found=1)
    delivered(*one, left=SILENCE, stale=1)
    state(4, 0)
    works(4)


def overwritten():
    """a READ that finds the packet of a later WRITE gives nothing"""
    begin(0)
    one = lookup(0)
    two = lookup(2)
    answer(one[0])
    server.expected = 2
    answer(two[0])
    server.expected = 1
    late = answer(one[1])
    server.expected = 3
    delivered(*late, left=SILENCE, tag=1)
    delivered(*answer(two[1]), found=1)
    state(4, 0)


def silent(first, outstanding=2):
    """A packet after the time-out: the server is silent, and gets a probe."""
    switch.limit(timeout=1)
    got = switch.send(PACKET)
    switch.limit()
    tap.same(switch.outcomes(), {"silent": 1})
    tap.same(got, {**SILENCE, server.port: [server.probe(first - PAST)]})
    state(first + outstanding, outstanding, SILENT)
    return got[server.port]


def settle(probe, *psns):
    """The answer to a probe leads to probes with these PSNs, of which the last is carried out."""
    acknowledgement, = answer(probe)
    for psn in psns:
        delivered(acknowledgement, probed=1, left={
            **SILENCE, server.port: [server.probe(psn)]})
        acknowledgement, = answer(server.probe(psn))
    delivered(acknowledgement, left=SILENCE, probed=1)
    state(psns[-1] + 1, 0)
    tap.same(server.expected, (psns[-1] + 1) % PSNS)


def probes():
    """probes after the time-out find the PSN that the server expects, whatever was lost"""
    for first in FIRSTS:
        for lost in ("both", "WRITE", "READ", "response"):
            begin(first)
            write, read = lookup(first)
            if lost not in ("both", "WRITE"):
                answer(write)
            if lost in ("WRITE", "response"):
                answer(read)  # a NAK or a response that is lost
            tries = {"READ": [1], "response": [1, 2]}.get(lost, [0])
            settle(*silent(first), *((first + n) % PSNS for n in tries))
            works(server.expected)


def probes_count_reads():
    """a server whose acknowledgements count READs recovers as well"""
    for first in FIRSTS:
        begin(first)
        answer(*lookup(first))
        silent(first)
        delivered(server.acknowledge((first + 1) % PSNS), probed=1, left={
            **SILENCE, server.port: [server.probe(first + 2)]})
        delivered(*answer(server.probe(first + 2)), left=SILENCE, probed=1)
        works(first + 3)


def probe_lost():
    """a lost probe is sent again after the time-out, and nothing else meanwhile"""
    begin(7)
    lookup(7)
    silent(7)
    for _ in range(3):
        tap.same(switch.send(PACKET), SILENCE)
        tap.same(switch.outcomes(), {"silent": 1})
    probe, = silent(7)
    delivered(*answer(probe), probed=1, left={
        **SILENCE, server.port: [server.probe(7)]})
    # The second probe is lost, too: it all begins again.
    tap.same(switch.send(PACKET), SILENCE)
    tap.same(switch.outcomes(), {"silent": 1})
    settle(*silent(7), 7)
    works(8)


def first_requests_lost():
    """a server that has carried out no WRITE yet, and acknowledges 0xffffff, is found"""
    for first in (5, 2**23):
        begin(first)
        server.acknowledged = PSNS - 1
        lookup(first)
        settle(*silent(first), first)
        works(first + 1)
    # Where that could be the PSN of a WRITE, a NAK answers the next probe.
    begin(PSNS - 1)
    lookup(PSNS - 1)
    server.acknowledged = PSNS - 1
    delivered(*answer(*silent(PSNS - 1)), probed=1, left={
        **SILENCE, server.port: [server.probe(0)]})
    delivered(*answer(server.probe(0)), left=SILENCE, NAK=1)
    works(PSNS - 1)


def one_short():
    """one packet in each time-out is enough, even if only READs get the expected PSN"""
    for ahead in (1, 3, 5):
        begin(60)
        works(60)
        switch.set("psn", server, 62 - ahead)
        lookup(62 - ahead)
        settle(*silent(62 - ahead), *range(61, 63))
        works(63)
        # The same with READs that the server carries out without their WRITEs.
        begin(60)
        works(60)
        switch.set("psn", server, 61)
        answer(*lookup(61))
        settle(*silent(61), 61, 62, 63)
        works(64)


def late_response():
    """a response that comes while the server is silent still counts"""
    begin(0)
    late = answer(*lookup(0))
    probe, = silent(0)
    delivered(*late, found=1)
    state(2, 0, SILENT)
    settle(probe, 2)
    works(3)


def old_acknowledgements():
    """an acknowledgement whose PSN no answer to a probe can have changes nothing"""
    begin(100)
    lookup(100)
    silent(100)
    for psn in (0, 99 - PAST - 1, 100 + 32, 98 + 2**23, 2**23 + 1000):
        delivered(server.acknowledge(psn), left=SILENCE, acknowledged=1)
        state(102, 2, SILENT)
    delivered(server.acknowledge(99), probed=1, left={
        **SILENCE, server.port: [server.probe(100)]})


def far_ahead():
    """a server that is ahead of all requests is found by a probe"""
    begin(10)
    _, read = lookup(10)
    nak, = answer(read)
    delivered(nak, left=SILENCE, NAK=1)
    # It gets these, but its responses are lost, and the NAK comes once more.
    for psn in range(10, 40, 2):
        answer(*lookup(psn))
    delivered(nak, left=SILENCE, NAK=1)
    state(10, 0)
    for psn in (10, 12):
        lookup(psn)
    probe, = silent(10, 4)
    settle(probe, 39, 40)
    works(41)


def naks():
    """a NAK moves the next PSN only to an outstanding one"""
    begin(50)
    lookup(50)
    lookup(52)
    for psn in (49, 54, 55, 0, 2**23):
        delivered(server.acknowledge(psn, NAK_SEQUENCE), left=SILENCE,
                  **{"NAK stale": 1})
        state(54, 4)
    delivered(server.acknowledge(52, NAK_SEQUENCE), left=SILENCE, NAK=1)
    state(52, 0)
    delivered(server.acknowledge(51, NAK_SEQUENCE), left=SILENCE,
              **{"NAK stale": 1})
    state(52, 0)


def naks_while_silent():
    """while the server is silent, a NAK of any PSN that it can expect is believed"""
    for first in (50, PSNS - 7):
        for psn in (first, first + 1, first + 32):
            begin(first)
            lookup(first)
            silent(first)
            delivered(server.acknowledge(psn, NAK_SEQUENCE), left=SILENCE,
                      NAK=1)
            state(psn, 0)
        for psn in (first - 1, first + 33, first + 2**23):
            begin(first)
            lookup(first)
            silent(first)
            delivered(server.acknowledge(psn, NAK_SEQUENCE), left=SILENCE,
                      **{"NAK stale": 1})
            state(first + 2, 2, SILENT)


def fatal():
    """after a NAK that ends the queue pair the server is silent until a new one is made"""
    begin(0)
    lookup(0)
    delivered(server.acknowledge(0, NAK_ACCESS), left=SILENCE,
              **{"NAK fatal": 1})
    state(2, 2, SILENT)
    tap.same(switch.send(PACKET), SILENCE)
    tap.same(switch.outcomes(), {"silent": 1})
    begin(1000)
    works(1000)


def stopped():
    """a server that the control plane stopped gets neither lookups nor probes, and keeps its PSN"""
    begin(0)
    lookup(0)
    switch.set("state", server, STOPPED)
    switch.limit(timeout=1)
    tap.same(switch.send(PACKET, PACKET), SILENCE)
    tap.same(switch.outcomes(), {"silent": 2})
    delivered(server.acknowledge(0, NAK_ACCESS), left=SILENCE,
              **{"NAK fatal": 1})
    delivered(server.acknowledge(1, NAK_SEQUENCE), left=SILENCE,
              **{"NAK stale": 1})
    state(2, 2, STOPPED)
    delivered(server.acknowledge(0), left=SILENCE, acknowledged=1)
    switch.limit()
    begin(0)
    works(0)


def unreliable():
    """with loss, duplicates and reordering each packet is delivered at most once and unaltered"""
    dice = random.Random(18)
    begin(PSNS - 150)
    count, delivered_, outcomes = 400, [], {}
    payloads = [number.to_bytes(2, "big") * dice.randrange(1, 40)
                for number in range(count)]
    expected = {routed(for_switch(KEY, payload), **NEW)
                for payload in payloads}

    def mishap(frames):
        """The frames that arrive, in their order."""
        result = []
        for frame in frames:
            chance = dice.random()
            if chance < 0.05:
                continue
            result.append(frame)
            if chance < 0.08:
                result.append(frame)
            elif chance < 0.11 and len(result) > 1:
                result[-2:] = result[:-3:-1]
        return result

    def run(frames):
        left = switch.send(*frames)
        while any(left.values()):
            delivered_.extend(left[OUT])
            responses = mishap(answer(*mishap(left[server.port])))
            left = switch.respond(server, *responses)

    for at in range(0, count, 4):
        run(for_switch(KEY, payload) for payload in payloads[at:at + 4])
        switch.limit(timeout=1)  # the next packet comes late
        run([PACKET])
        switch.limit()
    for name, number in switch.outcomes().items():
        outcomes[name] = number
    tap.note(outcomes)
    again = [frame for frame in delivered_ if frame != LEFT[OUT][0]]
    tap.note(f"{len(again)} of {count} delivered")
    tap.same(len(again), len(set(again)), "delivered twice")
    assert set(again) <= expected, "altered"
    assert len(again) > count / 3
    assert outcomes["NAK"] and outcomes["probed"] and outcomes["stale"]
    # Without mishaps, a few packets settle everything.
    switch.limit(timeout=1)
    for _ in range(3):
        switch.exchange(PACKET)
    switch.limit()
    state(switch.get("psn", server), 0)
    tap.same(switch.get("psn", server), server.expected)
    tap.same(switch.exchange(PACKET), LEFT)


server = Server(port=SERVERS[0], geometry=Geometry(2))
server.add(KEY, VALUE)
switch = Function("nat", server)
tap.run(limit, limit_elsewhere, request_lost, response_lost, reordered,
        overwritten, probes, probes_count_reads, probe_lost,
        first_requests_lost, one_short, late_response, old_acknowledgements,
        far_ahead, naks, naks_while_silent, fatal, stopped, unreliable,
        before=switch.outcomes)
