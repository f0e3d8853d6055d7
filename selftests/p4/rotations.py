#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Rotations of a store while a switch reports, which dartctl keeps in line with the export.

The collector is at port COLLECTORS, and takes what an adapter would take: reports to the present
memory and, until the switch has taken the rotation over, to the former one.
"""

import json
import os
import select
import subprocess
import tempfile
import time

from needs import TREE

import generate
import packets
import tap
from responder import MASK, QueuePair, is_probe
from switch import COLLECTORS, SECONDS, SOURCE, Switch, entry_of

ROTATIONS = int(os.environ.get("DART_ROTATIONS", "100"))
RECEIVER = 2  # the port of the packets' destination
ON_THE_WAY = 8  # packets, so that no queue is ever full
TELEMETRY = [packets.with_int(packets.packet(
    generate.flow("10.1.0.2", "10.2.0.1", 49152 + i, 443, 6)), [5, 4, 3, 2, 1]) for i in range(64)]


class Store:
    """The memories of a store, and what arrives there."""

    def __init__(self, directory, transport):
        self.path = f"{directory}/paths.json"
        self.is_reliable = transport == "rc"
        entry = entry_of(first_psn=MASK - 99, epoch=1000)
        self.pair = QueuePair(entry) if self.is_reliable else None
        self.entry = self.pair.entry if self.is_reliable else entry
        self.number = -1
        self.former = None
        self.sent = self.taken = self.refused = 0
        self.psns = []
        self.rotate()

    def memory(self):
        return self.entry["rkey"], int(self.entry["base"], 16)

    def rotate(self):
        """Another memory; the former one stays for now."""
        self.former = self.memory()
        self.number += 1
        self.entry.update(rkey=0x2000 + self.number, base=hex(0x500000000000 + (self.number << 24)))
        with open(f"{self.path}.new", "w", encoding="ascii") as file:
            json.dump({"dart_collectors": 1, "collectors": [self.entry]}, file)
        os.replace(f"{self.path}.new", self.path)

    def close_former(self):
        """The time of grace has passed."""
        self.former = None

    def _take(self, frame):
        rkey = int.from_bytes(frame[62:66], "big")
        address = int.from_bytes(frame[54:62], "big")
        bytes_of_store = 24 << self.entry["slots_log2"]
        if any(rkey == there[0] and 0 <= address - there[1] < bytes_of_store
               for there in (self.memory(), self.former) if there):
            self.taken += 1
        else:
            self.refused += 1
        self.psns.append(int.from_bytes(frame[51:54], "big"))

    def receive(self, seconds):
        """Takes a report that comes in this time, and answers it; drops the packet itself."""
        collector, receiver = switch.hosts[COLLECTORS], switch.hosts[RECEIVER]
        there = select.select([collector, receiver], [], [], seconds)[0]
        if receiver in there:
            receiver.recv(65536)
        if collector not in there:
            return
        frame = collector.recv(65536)
        if not is_probe(frame):
            self._take(frame)
        if self.is_reliable:
            for answer in self.pair.take(frame):
                collector.send(answer)

    def report(self):
        """Sends a packet, which becomes one report."""
        switch.hosts[SOURCE].send(TELEMETRY[self.sent % len(TELEMETRY)])
        self.sent += 1
        self.receive(0)
        self.wait(ON_THE_WAY)

    def wait(self, on_the_way):
        """Until no more packets than these are on the way."""
        end = time.monotonic() + SECONDS
        while self.sent - len(self.psns) > on_the_way and time.monotonic() < end:
            self.receive(0.1)
        assert self.sent - len(self.psns) <= on_the_way, (self.sent, len(self.psns))


def forget():
    """Leaves no collector."""
    for table in ("share", "collector", "connection", "answer"):
        switch.do("table_clear", f"dart_{table}")
    switch.settle()


def cross(store, follower):
    """A rotation while packets come: they stop when the switch has taken it over."""
    store.rotate()
    while not select.select([follower.stdout], [], [], 0)[0]:
        store.report()
    line = follower.stdout.readline()
    assert line.startswith("change collector 0") and f"rkey {store.entry['rkey']}," in line, line
    store.wait(0)
    store.close_former()
    store.report()


def rotate(transport):
    forget()
    with tempfile.TemporaryDirectory() as directory:
        store = Store(directory, transport)
        with subprocess.Popen(
                ["dartctl", "switch", "push", "--target", "bmv2", "--thrift", "localhost:9090",
                 "--port", str(COLLECTORS), "--follow", store.path],
                stdout=subprocess.PIPE, encoding="utf-8") as follower:
            while not follower.stdout.readline().startswith("add share"):
                pass
            for _ in range(ROTATIONS):
                cross(store, follower)
            store.wait(0)
            follower.terminate()
    tap.note(f"{transport}: {store.sent} reports over {ROTATIONS} rotations, "
             f"{store.sent - store.taken} lost")
    tap.same((store.taken, store.refused), (store.sent, 0), "taken and refused reports")
    assert store.sent > 2 * ROTATIONS
    return store


def unreliable():
    """no report is lost over rotations, and the PSNs go on"""
    store = rotate("uc")
    first = store.entry["first_psn"]
    tap.same(store.psns, [(first + i) & MASK for i in range(store.sent)])


def reliable():
    """nor over a reliable connection, whose queue pair never stops"""
    store = rotate("rc")
    tap.same((store.pair.sent, store.pair.arrived), (store.sent, store.sent))
    tap.same((switch.register("dart_lost", 0), switch.register("dart_stops", 0)), (0, 0))


os.environ["PATH"] = f"{TREE}/.output/bin:{os.environ['PATH']}"
switch = Switch()
tap.run(unreliable, reliable)
