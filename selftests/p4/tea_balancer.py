#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""The load balancer sends each flow to the server that its entry names."""

import random

import needs  # before all others

import generate
import packets
import tap
from functions import OUT, SERVERS, Function, for_switch, routed
from lookups import Geometry, Server
from switch import SILENCE

NEW_FLOW = 4  # the port of the control plane


def flows(count, seed):
    dice = random.Random(seed)
    for _ in range(count):
        yield dice, generate.flow(dice.randbytes(4), "192.0.2.1",
                                  dice.randrange(2**16), 443,
                                  dice.choice((6, 17)))


def balances():
    """a packet goes to the server and port of its flow"""
    for dice, key in flows(30, 18):
        server, port = dice.randbytes(4), dice.randrange(2**16)
        table.add(key, server + port.to_bytes(2, "big"), dice.randrange(16))
        packet = for_switch(key, dice.randbytes(dice.randrange(300)))
        new = {"dst": ".".join(map(str, server)), "dport": port}
        tap.same(switch.exchange(packet),
                 {**SILENCE, OUT: [routed(packet, **new)]})
    tap.same(switch.outcomes(), {"sent": 30, "found": 30})


def tagged():
    """a packet keeps its VLAN tags on its way"""
    new = {"dst": "192.0.2.9", "dport": 8080}
    for number, (_, key) in enumerate(flows(10, 20)):
        table.add(key, bytes([192, 0, 2, 9, 0x1F, 0x90]))
        packet = packets.with_tags(for_switch(key),
                                   ("81000005", "88a8000881000005")[number % 2])
        tap.same(switch.exchange(packet),
                 {**SILENCE, OUT: [routed(packet, **new)]})
    tap.same(switch.outcomes(), {"sent": 10, "found": 10})


def new_flows():
    """a packet of a new flow goes to the control plane, as it arrived"""
    switch.otherwise("absent", NEW_FLOW)
    for _, key in flows(5, 19):
        table.set_row(table.geometry.home(key), {})
        packet = for_switch(key)
        tap.same(switch.exchange(packet), {**SILENCE, NEW_FLOW: [packet]})
    tap.same(switch.outcomes(), {"sent": 5, "absent": 5})


table = Server(port=SERVERS[0], geometry=Geometry(2, value=6))
switch = Function("balancer", table)
tap.run(balances, tagged, new_flows, before=switch.outcomes)
