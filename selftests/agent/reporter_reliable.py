#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""The XDP reporter over a reliable connection: the PSNs, by all kinds of answers.

The queue pair is at the other end of a cable.
"""

import atexit
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
sys.path += [str(TREE / "selftests/vectors"), str(TREE / "selftests/p4")]

# pylint: disable=wrong-import-position
import generate
import tap
from responder import ACKNOWLEDGED, FIRST, INVALID, MASK, SEQUENCE, QueuePair

PACKET_OUTGOING = 4
ROCE = (4791).to_bytes(2, "big")  # a port
SECONDS = 20  # for any frame
QUIET = 0.15  # s: the next report asks, and is answered
STATE_AT, ASKED_AT = 8, 32  # in struct reporter_sequence of bpf/xdp_reporter.h
ASKING = 2
REPORT = 14 + 20 + 8 + 12 + 16 + 24 + 4  # bytes


def packet_with_int():
    """From UDP port 49152 to 443 over 5 hops; see bpf/int_md.h."""
    hops = struct.pack(">5I", 5, 4, 3, 2, 1)
    md = bytes([0x20, 0, 1, 3]) + struct.pack(">4H", 0x8000, 0, 0, 0)
    shim = struct.pack(">BBH", 0x14, (len(md) + len(hops)) // 4, 443)
    datagram = struct.pack(">4H", 49152, 5000, 8 + len(shim + md + hops), 0) + shim + md + hops
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(datagram), 0, 0, 64, 17, 0,
                     bytes([10, 1, 0, 2]), bytes([10, 3, 1, 3]))
    ip = ip[:10] + struct.pack(">H", generate.inverse_sum(ip)) + ip[12:]
    return bytes.fromhex("020000000001 020000000002 0800") + ip + datagram


PACKET = packet_with_int()


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


class Cable:
    """The reporter is at one end, this process at the other."""

    def __init__(self):
        for command in (("link", "add", "port.0", "type", "veth", "peer", "name", "port1"),
                        ("link", "set", "port.0", "up"), ("link", "set", "port1", "up")):
            run("ip", *command)
        self.link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.link.bind(("port.0", 0))
        self.link.settimeout(SECONDS)
        self.directory = tempfile.TemporaryDirectory()
        self.file = f"{self.directory.name}/collectors.json"

    def remove(self):
        detach()
        run("ip", "link", "delete", "port.0")
        self.directory.cleanup()

    def attach(self, pair):
        self.write(pair)
        run("dartctl", "xdp", "attach", "port1", "--source", "10.78.0.1",
            "--collectors", self.file)

    def write(self, pair):
        with open(f"{self.file}.new", "w", encoding="utf-8") as file:
            json.dump({"dart_collectors": 1, "collectors": [pair.entry]}, file)
        os.replace(f"{self.file}.new", self.file)

    @contextmanager
    def follow(self):
        """A follower of the file, which has read it."""
        ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = f"{self.directory.name}/ready"
        ready.bind(path)
        ready.settimeout(SECONDS)
        follower = subprocess.Popen(
            ["dartctl", "xdp", "follow", "port1", "--collectors", self.file],
            stdout=subprocess.PIPE, encoding="utf-8", env={**os.environ, "NOTIFY_SOCKET": path})
        try:
            while b"READY=1" not in ready.recv(4096):
                pass
            yield follower
        finally:
            ready.close()
            os.remove(path)
            follower.terminate()
            follower.wait()
            follower.stdout.close()

    def send(self):
        self.link.send(PACKET)

    def report(self):
        """The report that a packet becomes."""
        self.send()
        while True:
            frame, address = self.link.recvfrom(2048)
            if address[2] != PACKET_OUTGOING and frame[36:38] == ROCE:
                return frame

    def answer(self, *frames):
        for frame in frames:
            self.link.send(frame)


def status():
    return json.loads(run("dartctl", "-j", "xdp", "status", "port1"))[0]["collectors"][0]


def answers():
    return json.loads(run("dartctl", "-j", "xdp", "status", "port1"))[0]["answers"]


def report(pair, count, lost=()):
    """Sends packets; @lost: which of the reports from now on get lost."""
    for number in range(count):
        frame = cable.report()
        tap.same(len(frame), REPORT)
        tap.same((frame[42], frame[34:36].hex()), (0x0A, "c011"), "opcode, port")
        if number in lost:
            pair.lose(frame)
        else:
            cable.answer(*pair.take(frame))


def check_lost(pair, least, most):
    """All later reports arrive, and an answer tells of all of them."""
    for _ in range(5):
        time.sleep(QUIET)
        report(pair, 1)
    lost = pair.sent - pair.arrived
    there = status()
    tap.note(f"{pair.sent} reports, {pair.arrived} arrived, {there['stops']} stops")
    tap.same((there["state"], there["lost"], there["unanswered"]), ("followed", lost, 0))
    assert least <= lost <= most, lost


def detach():
    subprocess.run(["dartctl", "xdp", "detach", "port1"], check=False, stderr=subprocess.DEVNULL)


def entry_of(first_psn):
    return {"name": "paths", "reporter": "10.78.0.1", "mac": "02:00:00:00:00:01",
            "ip": "10.78.0.2", "qpn": 17, "rkey": 4660, "base": "0x3a5f00000000",
            "slots_log2": 10, "value_length": 20, "checksum_bits": 32, "redundancy": 2,
            "first_psn": first_psn, "epoch": 1000}


def begin():
    detach()
    pair = QueuePair(entry_of(FIRST))
    cable.attach(pair)
    return pair


def nothing_lost():
    """without loss each report arrives"""
    pair = begin()
    report(pair, 80)
    check_lost(pair, 0, 0)
    tap.same(status()["stops"], 0)


def goes_on_after_nak():
    """after a lost report the next one has the PSN of the NAK"""
    pair = begin()
    report(pair, 10, lost={5})
    # The lost one and the refused one; or fewer, because a report asked in between.
    check_lost(pair, 1, 2)
    tap.same(status()["stops"], 1)


def asks_without_answer():
    """after a lost NAK a report with a former PSN tells that the queue pair has stopped"""
    pair = begin()
    report(pair, 5)
    pair.drops_answers = True
    report(pair, 3, lost={0})
    pair.drops_answers = False
    check_lost(pair, 3, 5)


def finds_used_one():
    """a new reporter finds out where the queue pair stands"""
    for expected in (FIRST + 1000, FIRST - 5, FIRST + 2**23 + 7):
        pair = begin()
        pair.expected = expected & MASK
        report(pair, 2)
        check_lost(pair, 1, 3)
        lost = status()["lost"]
        report(pair, 20)
        check_lost(pair, lost, lost)


def finds_stopped_one():
    """so it does if the queue pair has sent its NAK already"""
    pair = begin()
    pair.expected, pair.refused = (FIRST - 5) & MASK, True
    report(pair, 2)
    check_lost(pair, 1, 10)


def forged():
    """answers from elsewhere, with a wrong ICRC or an impossible PSN change nothing"""
    pair = begin()
    report(pair, 10)
    check_lost(pair, 0, 0)
    pair.drops_answers = True
    report(pair, 3)
    known = pair.expected - 3
    wish = pair.answer(known, SEQUENCE)
    before, counted = status(), answers()
    cable.answer(wish[:-1] + bytes([wish[-1] ^ 1]), pair.answer(known, SEQUENCE, ip="10.78.0.3"),
                 pair.answer(known, SEQUENCE, qpn=18),
                 pair.answer(known, SEQUENCE, reporter="10.78.0.9"))
    tap.same((answers() - counted, status()), (0, before))
    cable.answer(pair.answer(known - 1, SEQUENCE), pair.answer(known - 1, INVALID),
                 pair.answer(known + 4, SEQUENCE), pair.answer(known + 2**23, ACKNOWLEDGED))
    tap.same((answers() - counted, status()), (4, before))
    pair.drops_answers = False
    check_lost(pair, 0, 4)


def error_state():
    """packets for a queue pair in the error state pass, until it gets another one"""
    pair = begin()
    report(pair, 3)
    check_lost(pair, 0, 0)
    report(pair, 1, lost={0})
    cable.answer(pair.answer(pair.expected, INVALID))
    tap.same((status()["state"], status()["lost"]), ("error", 1))
    reports = status()["reports"]
    cable.send()
    tap.same(status()["reports"], reports)
    pair = QueuePair(entry_of(77))
    pair.sent = 1
    cable.write(pair)
    with cable.follow() as follower:
        assert "reports to" in follower.stdout.readline()
        report(pair, 5)
        check_lost(pair, 1, 1)


def rotates():
    """at a rotation of the store the key and the address change, and the PSNs go on"""
    pair = begin()
    report(pair, 5)
    with cable.follow() as follower:
        for number in range(3):
            pair.entry.update(rkey=4661 + number, base=hex(0x500000000000 + (number << 20)))
            cable.write(pair)
            assert "reports to new memory" in follower.stdout.readline()
            frame = cable.report()
            tap.same((frame[54:58].hex(), int.from_bytes(frame[62:66], "big")),
                     ("00005000", pair.entry["rkey"]), "address, key")
            cable.answer(*pair.take(frame))
            report(pair, 5)
    check_lost(pair, 0, 0)
    tap.same(status()["stops"], 0)


def sequence_map(*words):
    """The map of the PSNs, with the one entry for the collector"""
    return run("bpftool", "-j", "map", *words[:1], "pinned",
               "/sys/fs/bpf/dart/reporter/port1/sequences", "key", "0", "0", "0", "0", *words[1:])


def asked_by_another_cpu():
    """a CPU that read its clock before another one asked takes its PSN as ever"""
    pair = begin()
    report(pair, 5)
    before = status()
    row = bytearray(int(byte, 16) for byte in json.loads(sequence_map("lookup"))["value"])
    struct.pack_into("=I", row, STATE_AT, struct.unpack_from("=I", row, STATE_AT)[0] | ASKING)
    struct.pack_into("=Q", row, ASKED_AT, time.monotonic_ns() + 1_000_000_000)
    sequence_map("update", "value", *(str(byte) for byte in row))
    report(pair, 3)
    tap.same((pair.arrived, status()["lost"]), (pair.sent, before["lost"]))


os.environ["PATH"] = f"{TREE}/.output/bin:{os.environ['PATH']}"
cable = Cable()
atexit.register(cable.remove)
tap.run(nothing_lost, goes_on_after_nak, asks_without_answer, finds_used_one, finds_stopped_one,
        forged, error_state, rotates, asked_by_another_cpu)
