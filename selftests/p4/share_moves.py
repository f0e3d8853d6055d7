#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A tenth of the shares moves back and forth 50 times while a switch reports.

A follower of dartctl takes each move to the switch.  This process is the memory of both
collectors: no report is lost, and each key is found with the odds of its age.
"""

import json
import math
import os
import random
import selectors
import socket
import subprocess
import tempfile
import time

from needs import TREE

import generate
import packets
import tap
from switch import COLLECTORS, SECONDS, Switch, entry_of, report, share_of

MOVES = 50
MOVED = range(100, 202)
SLOTS_LOG2 = 11
SLOT = 24  # bytes


class Collector:
    """Its memory, and the reports that it took."""

    def __init__(self, number):
        self.entry = entry_of(ip=f"10.0.0.{number}", qpn=16 + number, rkey=4660 + number,
                              base=hex(number << 40), slots_log2=SLOTS_LOG2, redundancy=2)
        self.memory = bytearray(SLOT << SLOTS_LOG2)
        self.reports = 0

    def take(self, frame, key, value):
        """The frame is the next report of the key."""
        # The switch sends from an address of its own.
        assert frame[12:] in [report(self.entry, key, value, copy, self.reports)[12:]
                              for copy in range(2)], "another report"
        self.reports += 1
        at = int.from_bytes(frame[54:62], "big") - int(self.entry["base"], 16)
        self.memory[at:at + SLOT] = frame[70:70 + SLOT]

    def has(self, key, value):
        wanted = generate.crc(generate.CHECKSUMS[0], key).to_bytes(4, "big") + value
        slots = (generate.crc(generate.SLOTS[copy], key) % 2**SLOTS_LOG2 for copy in range(2))
        return any(self.memory[slot * SLOT:][:SLOT] == wanted for slot in slots)


class Traffic:
    """Packets of one flow after the other, each of which becomes one report."""

    def __init__(self):
        self.sent = []  # key, value, collector, its reports up to this one
        self.dice = random.Random(1)

    def flow(self, shares):
        while True:
            host = self.dice.randrange(2**24)
            key = generate.flow(f"10.{host >> 16}.{host >> 8 & 255}.{host & 255}", "10.2.0.1",
                                self.dice.randrange(1, 2**16), 443, 17)
            if share_of(key) in shares:
                return key

    def send(self, shares=range(1024), count=16):
        """The collectors that got the reports of as many new flows."""
        flows = [(self.flow(shares), [len(self.sent) + i + 1, 2, 3, 4, 5]) for i in range(count)]
        frames = switch.send(*[packets.with_int(packets.packet(key), nodes)
                               for key, nodes in flows])[COLLECTORS]
        tap.same(len(frames), count, "reports")
        owners = []
        for frame, (key, nodes) in zip(frames, flows):
            collector = collectors[frame[33]]
            collector.take(frame, key, packets.value_of(nodes))
            self.sent.append((key, packets.value_of(nodes), collector, collector.reports))
            owners.append(collector)
        return owners


def write(path, content):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)


def move(to):
    """The shares move to this collector, and reports go on meanwhile and afterwards."""
    subprocess.run(["dartctl", "share", "move", files[2], f"{MOVED[0]}-{MOVED[-1]}", "--to",
                    to.entry["ip"]], check=True, stdout=subprocess.DEVNULL)
    end = time.monotonic() + SECONDS
    while not events.select(0):
        traffic.send()
        assert time.monotonic() < end, "the follower moves nothing"
    os.read(follower.stdout.fileno(), 65536)
    # The follower prints its steps when it has taken them.
    tap.same(set(traffic.send(MOVED, 4)), {to}, "owners")


def moves():
    """50 moves of a tenth of the shares lose no report, and each goes to an owner of its share"""
    switch.outcomes()
    for number in range(MOVES):
        move(collectors[3 if number % 2 == 0 else 1])
        for key, _, collector, _ in traffic.sent:
            assert share_of(key) in MOVED or collector.entry["ip"] == (
                "10.0.0.1" if share_of(key) < 512 else "10.0.0.3")
    counts = switch.outcomes()
    tap.note(f"{len(traffic.sent)} reports, "
             f"{[collector.reports for collector in collectors.values()]} for each collector")
    tap.same(counts["report"], len(traffic.sent))
    tap.same("unassigned" in counts, False)


def found():
    """each key is found at a collector that has or had its share, with the odds of its age"""
    tenth = len(traffic.sent) // 10
    for what, some in (("all keys", traffic.sent), ("the oldest tenth", traffic.sent[:tenth]),
                       ("the youngest tenth", traffic.sent[-tenth:]),
                       ("keys of moved shares", [each for each in traffic.sent
                                                 if share_of(each[0]) in MOVED])):
        odds = [(1 - 2**-SLOTS_LOG2)**(collector.reports - number)
                for _, _, collector, number in some]
        there = sum(any(collector.has(key, value) for collector in collectors.values())
                    for key, value, _, _ in some)
        deviation = math.sqrt(sum(p * (1 - p) for p in odds))
        tap.note(f"{what}: {there} of {len(some)} found, {sum(odds):.0f} expected")
        # Less than once in 10,000 runs, or by flows that come twice.
        assert abs(there - sum(odds)) <= 4 * deviation + 1, what


os.environ["PATH"] = f"{TREE}/.output/bin:{os.environ['PATH']}"
switch = Switch()
collectors = {number: Collector(number) for number in (1, 3)}
traffic = Traffic()
with tempfile.TemporaryDirectory() as directory:
    files = [f"{directory}/{name}.json" for name in ("a", "b", "shares")]
    for path, collector in zip(files, collectors.values()):
        write(path, {"dart_collectors": 1, "collectors": [collector.entry]})
    subprocess.run(["dartctl", "share", "create", files[2], "--collectors", files[0],
                    "--collectors", files[1]], check=True)
    ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    ready.bind(f"{directory}/ready")
    ready.settimeout(SECONDS)
    follower = subprocess.Popen(
        ["dartctl", "switch", "push", "--target", "bmv2", "--thrift", "localhost:9090",
         "--port", str(COLLECTORS), "--follow", *files], stdout=subprocess.PIPE,
        env={**os.environ, "NOTIFY_SOCKET": f"{directory}/ready"})
    try:
        while b"READY=1" not in ready.recv(4096):
            pass
        os.read(follower.stdout.fileno(), 65536)
        events = selectors.DefaultSelector()
        events.register(follower.stdout, selectors.EVENT_READ)
        tap.run(moves, found)
    finally:
        follower.terminate()
        follower.wait()
