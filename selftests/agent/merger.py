#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""The XDP program that adds up strips sends the frames of a model that knows the contract alone.

The sketchers and the collector are at the other end of a cable.
"""

import atexit
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
sys.path += [str(TREE / "selftests/vectors"), str(TREE / "selftests/p4"),
             str(TREE / "selftests/lib")]

# pylint: disable=wrong-import-position
import generate_strips
import merging
import tap

PACKET_OUTGOING = 4
SECONDS = 20  # for any frame
ROCE = (4791).to_bytes(2, "big")
MAC = "02:00:00:00:00:09"  # of the translator
SKETCHER_MAC = "02:00:00:00:00:01"
OWN = "10.78.0.9"


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def fails(*command):
    """What a command that fails says."""
    done = subprocess.run(command, check=False, stderr=subprocess.PIPE, encoding="utf-8")
    assert done.returncode, command
    return done.stderr


class Cable:
    """The translator is at one end, this process at the other."""

    def __init__(self):
        run("ip", "link", "add", "port.0", "type", "veth", "peer", "name", "port1", "address", MAC)
        for end in ("port.0", "port1"):
            # No frames but those of this test.
            Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6").write_text("1", encoding="ascii")
            run("ip", "link", "set", end, "up")
        self.link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.link.bind(("port.0", 0))
        self.link.settimeout(SECONDS)
        self.directory = tempfile.TemporaryDirectory()
        self.file = f"{self.directory.name}/sketches.json"

    def remove(self):
        detach()
        run("ip", "link", "delete", "port.0")
        self.directory.cleanup()

    def write(self, entries):
        with open(f"{self.file}.new", "w", encoding="utf-8") as file:
            json.dump({"dart_sketches": 1, "sketches": entries}, file)
        os.replace(f"{self.file}.new", self.file)

    def attach(self, sketch, age="60min"):
        self.write(sketch.entries)
        run("dartctl", "xdp", "attach", "port1", "--source", OWN, "--sketch", self.file,
            "--age", age)

    def receive(self):
        """The next frame that came over the cable."""
        while True:
            frame, address = self.link.recvfrom(2048)
            if address[2] != PACKET_OUTGOING and frame[36:38] == ROCE:
                return frame


class Sketch:
    """A sketch with the part of the translator, and those of @sketchers."""

    def __init__(self, sketchers, **geometry):
        numbers = {"name": "flows", "mac": "02:00:00:00:00:aa", "ip": "10.78.0.2",
                   "epoch": 1000, "first_psn": 0xFFFFFE, "kind": "count-min", "rows": 4,
                   "columns_log2": 6, "period": 10, **geometry}
        # In the order of the collector, which is not that of the addresses.
        self.sketchers = [f"10.78.0.{200 - i}" for i in range(sketchers)]
        self.entries = [{**numbers, "reporter": address, "qpn": 0x111 + i, "rkey": 0x1234 + i,
                         "base": hex(0x3A5F00000000 + (i << 20))}
                        for i, address in enumerate([*self.sketchers, OWN])]
        self.model = merging.Translator(self.entries[-1], MAC, sketchers)

    def entry(self, sketcher):
        return self.entries[sketcher]

    def frame(self, sketcher, period, number, counters, reporters=1, psn=0):
        """The WRITE of a sketcher to its own part."""
        entry = self.entry(sketcher)
        content = generate_strips.strip(entry, period, number, counters, reporters)
        return generate_strips.frame(entry, SKETCHER_MAC, period, number, content, psn)

    def strip_counters(self, chance, number):
        """Counters of a strip, of all magnitudes, some of which are saturated."""
        last = [2**32 - 1, 2**32 - 2] if self.entries[0]["kind"] == "count-min" else \
            [2**31 - 1, 1 - 2**31, -2**31, 2**31 - 2]
        values = {}
        for column in range(16 * number, 16 * number + 16):
            for row in range(self.entries[0]["rows"]):
                value = chance.randrange(1 << chance.choice((1, 8, 16, 30)))
                if self.entries[0]["kind"] != "count-min" and chance.randrange(2):
                    value = -value
                values[column, row] = chance.choice(last) if not chance.randrange(20) else value
        return values


def detach():
    if os.path.exists("/sys/fs/bpf/dart/reporter/port1"):
        run("dartctl", "xdp", "detach", "port1")


def begin():
    """Nothing is attached, and no frame is left of what was."""
    detach()
    cable.link.setblocking(False)
    try:
        while cable.link.recv(2048):
            pass
    except BlockingIOError:
        cable.link.settimeout(SECONDS)


def counts():
    return json.loads(run("dartctl", "-j", "xdp", "status", "port1"))[0]


def tell(sketch, sketcher, period, number, counters, reporters=1):
    """Sends a strip.  The frame that it becomes is that of the model."""
    answer = sketch.model.take(sketcher, period, number, counters, reporters)
    cable.link.send(sketch.frame(sketcher, period, number, counters, reporters))
    if isinstance(answer, bytes):
        tap.same(cable.receive().hex(), answer.hex())
        return merging.FORWARD
    return answer


def expect_counts(**expected):
    found = counts()
    tap.same({name: found[name] for name in expected}, expected)


def random_strips(**geometry):
    """Strips of several periods, some of which get lost, come twice or late."""
    chance = random.Random(str(geometry))
    sketch = Sketch(3, **geometry)
    strips = 2**sketch.entries[0]["columns_log2"] // 16
    outcomes = {merging.FORWARD: 0, merging.GATHERED: 0, merging.STALE: 0}
    cable.attach(sketch)
    late = []
    for period in range(170000000, 170000006):
        work = [(sketcher, period, number) for sketcher in range(3) for number in range(strips)]
        work = [one for one in work for _ in range(chance.choice((0, 1, 1, 1, 1, 1, 1, 1, 2)))]
        chance.shuffle(work)
        later = [one for one in work if not chance.randrange(12)]
        work = late + [one for one in work if one not in later]
        chance.shuffle(work)
        late = later
        for one in work:
            outcomes[tell(sketch, *one, sketch.strip_counters(chance, one[2]),
                          chance.choice((1, 1, 1, 2)))] += 1
    expect_counts(reports=outcomes[merging.FORWARD], gathered=outcomes[merging.GATHERED],
                  stale=outcomes[merging.STALE], others=0, malformed=0, damaged=0)
    assert all(outcomes.values()), outcomes
    rest = sketch.model.rest()
    assert rest
    detach()
    for frame in rest:
        tap.same(cable.receive().hex(), frame.hex())


def geometries():
    """sums of random strips of each geometry are those of the model"""
    for kind in (generate_strips.COUNT_MIN, generate_strips.COUNT_SKETCH):
        for rows in (1, 4, 8):
            random_strips(kind=kind, rows=rows)


def late():
    """a sum that has waited is written, and again when the last strip comes"""
    sketch = Sketch(2)
    cable.attach(sketch, "1ms")
    one = {(0, 0): 5}
    tap.same(sketch.model.take(0, 7, 0, one), merging.GATHERED)
    waiting = sketch.model.rest()
    # Any strip writes a sum that has waited, even one that came before.
    for _ in range(100000):
        cable.link.send(sketch.frame(0, 7, 0, one))
        if counts()["reports"]:
            break
    tap.same(cable.receive().hex(), waiting[0].hex())
    tap.same(tell(sketch, 1, 7, 0, {(0, 0): 6, (3, 2): 1}), merging.FORWARD)
    detach()


def passed(sketch, frame, counter):
    """A frame passes, is counted so, and leaves the sum as it was."""
    before = counts()[counter]
    cable.link.send(frame)
    tap.same(counts()[counter] - before, 1, counter)
    return sketch


def others():
    """frames that are no strips of the sketchers pass, and are counted"""
    sketch = Sketch(2)
    cable.attach(sketch)
    one = {(0, 0): 5}
    frame = sketch.frame(0, 7, 0, one)
    tap.same(tell(sketch, 0, 7, 0, one), merging.GATHERED)
    # Each byte that the ICRC covers, and the ICRC itself.
    masked = (15, 22, 24, 25, 40, 41, 46)
    covered = [at for at in range(14, len(frame)) if at not in masked]
    found = counts()
    for at in covered:
        damaged = bytearray(frame)
        damaged[at] ^= 0x40
        cable.link.send(damaged)
    after = counts()
    names = ("others", "damaged", "malformed", "truncated", "tagged")
    tap.same(sum(after[name] - found[name] for name in names), len(covered), "all pass")
    tap.same(after["gathered"] + after["reports"] + after["stale"], 1, "none is added")

    entry = sketch.entry(0)
    strip = generate_strips.strip(entry, 7, 0, one)
    for content in (
            generate_strips.strip(entry, 0, 0, one),
            generate_strips.strip(entry, 7, 0, one, 0),
            generate_strips.strip(entry, 7, 4, {}),
            strip[:-1] + bytes([strip[-1] ^ 1]),
            generate_strips.strip({**entry, "rows": 3}, 7, 0, one)):
        passed(sketch, generate_strips.frame(entry, SKETCHER_MAC, 7, 0, content, 0), "malformed")
    for change in ({"reporter": "10.78.0.77"}, {"qpn": 0x999}, {"reporter": OWN}):
        passed(sketch, generate_strips.frame({**entry, **change}, SKETCHER_MAC, 7, 0, strip, 0),
               "others")
    # A tag of a VLAN is no part of the WRITE.
    tagged = sketch.frame(1, 7, 0, {(0, 0): 6})
    expected = sketch.model.take(1, 7, 0, {(0, 0): 6})
    cable.link.send(tagged[:12] + bytes.fromhex("8100 0005") + tagged[12:])
    tap.same(cable.receive().hex(), expected.hex())
    detach()


def early():
    """strips of a period that has not begun are dropped, and keep no others out"""
    sketch = Sketch(2, period=1)
    cable.attach(sketch)
    now = int(time.time())
    for period in (2**32 - 1, now + 1000):
        before = counts()["stale"]
        cable.link.send(sketch.frame(0, period, 0, {(0, 0): 1}))
        tap.same(counts()["stale"] - before, 1, str(period))
    # The clock of a sketcher may be ahead a little.
    for period in (now - 100, now - 99, now + 10, now + 11):
        tap.same(tell(sketch, 0, period, 0, {(0, 0): 2}), merging.GATHERED)
        tap.same(tell(sketch, 1, period, 0, {(0, 0): 3}), merging.FORWARD)
    detach()


def forgets():
    """a period that is too late blocks its place for two periods only"""
    sketch = Sketch(1, period=1)
    cable.attach(sketch)
    tell(sketch, 0, 170000001, 0, {(0, 0): 1})
    tap.same(tell(sketch, 0, 7, 0, {(0, 0): 2}), merging.STALE)
    del sketch.model.sums[1, 0]
    frame = sketch.frame(0, 7, 0, {(0, 0): 2})
    before = counts()["reports"]
    for _ in range(100000):
        cable.link.send(frame)
        if counts()["reports"] > before:
            break
    tap.same(cable.receive().hex(), sketch.model.take(0, 7, 0, {(0, 0): 2}).hex())
    detach()


def follows():
    """a follower takes other queue pairs over, and refuses other sketchers"""
    sketch = Sketch(2)
    cable.attach(sketch)
    tap.same(tell(sketch, 0, 7, 0, {(0, 0): 5}), merging.GATHERED)
    ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    path = f"{cable.directory.name}/ready"
    ready.bind(path)
    ready.settimeout(SECONDS)
    with subprocess.Popen(["dartctl", "xdp", "follow", "port1", "--sketch", cable.file],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                          env={**os.environ, "NOTIFY_SOCKET": path}) as follower:
        while b"READY=1" not in ready.recv(4096):
            pass
        # The agent has started again: all queue pairs, keys and addresses are others.
        old = sketch.frame(1, 7, 0, {(0, 0): 6})
        for entry in sketch.entries:
            entry.update(qpn=entry["qpn"] + 0x1000, rkey=entry["rkey"] + 1, first_psn=100,
                         base=hex(int(entry["base"], 16) + 2**32), epoch=2000)
        sketch.model.writes = 0
        cable.write(sketch.entries)
        tap.same(follower.stdout.readline().split(" (")[0],
                 "port1 writes sums to sketch flows of 10.78.0.2 at queue pair 4371, not 275")
        passed(sketch, old, "others")
        tap.same(tell(sketch, 1, 7, 0, {(0, 0): 6}), merging.FORWARD)
        cable.write(sketch.entries[1:])
        assert "the file has other sketchers" in follower.stderr.readline()
        cable.write([{**entry, "rows": 3, "epoch": 3000} for entry in sketch.entries])
        assert "sketch 'flows' has another name or geometry" in follower.stderr.readline()
        assert follower.wait(SECONDS)
    ready.close()
    detach()


def refusals():
    """translators without sketchers, without a part and with other uses are refused"""
    sketch = Sketch(2)
    command = ("dartctl", "xdp", "attach", "port1", "--source", OWN, "--sketch", cable.file)
    cable.write(sketch.entries[-1:])
    assert "has no sketcher but this translator" in fails(*command)
    cable.write(sketch.entries[:-1])
    assert "no sketch takes counters from 10.78.0.9" in fails(*command)
    cable.write([{**sketch.entries[0], "name": "other"}, *sketch.entries[1:]])
    assert "it has several sketches" in fails(*command)
    cable.write([*sketch.entries, {**sketch.entries[0], "qpn": 7}])
    assert "a sketcher has several parts" in fails(*command)
    cable.write(sketch.entries)
    for option in (("--journal", cable.file), ("--collectors", cable.file), ("--copies", "random"),
                   ("--postcards", "5001"), ("--report-port", "5001")):
        assert "--sketch excludes" in fails(*command, *option), option
    assert "--rows needs --postcards" in fails(*command, "--rows", "2^5")
    assert not os.path.exists("/sys/fs/bpf/dart/reporter/port1")


os.environ["PATH"] = f"{TREE}/.output/bin:{os.environ['PATH']}"
cable = Cable()
atexit.register(cable.remove)
tap.run(geometries, late, others, early, forgets, follows, refusals, before=begin)
