#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""The kernel counts packets in the columns of a sketch: the strips, byte by byte.

A second implementation of <dart/sketch.h> reads them at the other end of a cable.
"""

import atexit
import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
sys.path += [str(TREE / "selftests/vectors"), str(TREE / "selftests/p4")]

# pylint: disable=wrong-import-position
import generate
import generate_strips
import tap

PACKET_OUTGOING = 4
ROCE = (4791).to_bytes(2, "big")  # a port
SECONDS = 60  # for any strip
PERIOD = 3  # s: a sketcher that does not run for so long writes less
PERIODS = 6  # at most, until all packets are counted
SOURCE = "02:00:00:00:00:02"


def packet(key):
    """From a flow of IPv4 or IPv6."""
    if len(key) == 13:
        ip = bytes.fromhex("4500001c 00000000 40") + key[12:] + bytes(2) + key[:8]
        ip = ip[:10] + generate.inverse_sum(ip).to_bytes(2, "big") + ip[12:]
        kind = "0800"
    else:
        ip = bytes.fromhex("60000000 0008") + key[36:] + b"\x40" + key[:32]
        kind = "86dd"
    return (bytes.fromhex("020000000001 020000000003" + kind) + ip + key[-5:-1] +
            bytes.fromhex("0008 0000"))


def flows(count):
    """UDP flows, IPv6 and IPv4 in turn."""
    dice = random.Random(3)
    for number in range(count):
        ports = dice.randrange(1, 2**16), dice.randrange(5000, 2**16)
        if number % 2:
            yield generate.flow(f"10.1.{number >> 8}.{number & 255}", "10.2.0.1", *ports, 17)
        else:
            yield generate.flow(f"2001:db8::{number + 1:x}", "2001:db8:1::1", *ports, 17)


class Cable:
    """Packets go in here, and strips come out."""

    def __init__(self):
        for interface in ("port.0", "port1"):
            subprocess.run(["ip", "link", "add", "port.0", "type", "veth", "peer", "name",
                            "port1"], check=interface == "port.0", stderr=subprocess.DEVNULL)
            Path(f"/proc/sys/net/ipv6/conf/{interface}/disable_ipv6").write_text("1")
        subprocess.run(["ip", "link", "set", "port1", "address", SOURCE, "up"], check=True)
        subprocess.run(["ip", "link", "set", "port.0", "up"], check=True)
        self.link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.link.setsockopt(socket.SOL_SOCKET, 33, 2**24)  # SO_RCVBUFFORCE
        self.link.bind(("port.0", 0))
        self.link.settimeout(SECONDS)

    @staticmethod
    def remove():
        subprocess.run(["ip", "link", "delete", "port.0"], check=False)

    def strip(self, queue_pair):
        """The next frame to it; frames of the sketcher before may still be under way."""
        while True:
            frame, address = self.link.recvfrom(2048)
            if (address[2] != PACKET_OUTGOING and frame[36:38] == ROCE and
                    int.from_bytes(frame[47:50], "big") == queue_pair):
                return frame


class Sketcher:
    """dart-report, and what it must have sent."""

    queue_pairs = itertools.count(17)

    def __init__(self, **changes):
        self.entry = {**generate_strips.vector([(bytes(13), 1)])["sketch"],
                      "qpn": next(self.queue_pairs), "period": PERIOD, "epoch": 1000, **changes}
        self.strips = 2**self.entry["columns_log2"] // 16
        self.words = 16 * self.entry["rows"]
        self.psn = self.entry["first_psn"]

    def __enter__(self):
        path = f"{directory.name}/sketch.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"dart_sketches": 1, "sketches": [self.entry]}, file)
        self.process = subprocess.Popen(
            ["dart-report", "--json", "--interface", "port1", "--live", "port1", "--source",
             self.entry["reporter"], "--sketch", path], stdout=subprocess.PIPE)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def end(self):
        """Its summary."""
        self.process.send_signal(signal.SIGTERM)
        return json.loads(self.process.communicate()[0])

    def take(self):
        """The counters of the next period, whose frames are right in each byte but these."""
        counters, period = {}, None
        for number in range(self.strips):
            frame = cable.strip(self.entry["qpn"])
            content = frame[70:-4]
            words = [int.from_bytes(content[8 + 4 * i:12 + 4 * i], "big")
                     for i in range(self.words)]
            period = period or int.from_bytes(content[:4], "big")
            for i, word in enumerate(words):
                place = 16 * number + i // self.entry["rows"], i % self.entry["rows"]
                if word:
                    counters[place] = word
            right = generate_strips.strip(self.entry, period, number, counters)
            tap.same(frame, generate_strips.frame(self.entry, SOURCE, period, number, right,
                                                  self.psn))
            self.psn = (self.psn + 1) % 2**24
        return counters

    def await_begin(self):
        """Until a period has begun that is counted whole."""
        tap.same(self.take(), {})


def count(keys, **changes):
    """Packets of the keys are counted in as many periods as they take."""
    with Sketcher(**changes) as sketcher:
        sketcher.await_begin()
        for key in keys:
            cable.link.send(packet(key))
        right = {place: value for place, value in
                 generate_strips.count(sketcher.entry, [(key, 1) for key in keys]).items() if value}
        found = {}
        for _ in range(PERIODS):
            for place, value in sketcher.take().items():
                value -= 2**32 if value >= 2**31 else 0
                found[place] = found.get(place, 0) + value
            found = {place: value for place, value in found.items() if value}
            if found == right:
                break
        tap.same(found, right)
        summary = sketcher.end()
        tap.same((summary["packets"], summary["crowded"], summary["sketch"]["lost"]),
                 (len(keys), 0, 0))


def kinds():
    """packets of IPv4 and IPv6 are counted in each kind of sketch"""
    keys = list(flows(200)) * 2
    for kind, rows, columns_log2 in (("count-min", 1, 4), ("count-min", 4, 5),
                                     ("count-sketch", 8, 6)):
        count(keys, kind=kind, rows=rows, columns_log2=columns_log2)


def others():
    """packets of no flow are not counted, and pass"""
    key, = flows(1)
    with Sketcher() as sketcher:
        sketcher.await_begin()
        damaged = bytearray(packet(generate.flow("10.1.0.2", "10.2.0.1", 1, 2, 17)))
        damaged[24] ^= 1
        cable.link.send(bytes(damaged))
        cable.link.send(packet(key)[:40])
        cable.link.send(packet(key)[:12] + b"\x08\x06" + bytes(28))
        tap.same(sketcher.take(), {})
        tap.same(sketcher.take(), {})
        summary = sketcher.end()
        tap.same((summary["packets"], summary["others"]), (0, 3))


os.environ["PATH"] = f"{TREE}/.output/bin:{os.environ['PATH']}"
directory = tempfile.TemporaryDirectory()
cable = Cable()
atexit.register(cable.remove)
tap.run(kinds, others)
