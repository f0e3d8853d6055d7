#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""dart-report sends what is due while no packet comes by the pipe of its capture.

In a network namespace of its own, with a cable whose other end this process has.
"""

import itertools
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[3]
sys.path += [str(TREE / "selftests/vectors"), str(TREE / "selftests/p4")]

# pylint: disable=wrong-import-position
import generate
import generate_postcards
import tap

PACKET_OUTGOING = 4
ROCE = (4791).to_bytes(2, "big")  # a port
SECONDS = 60  # for any frame, on a busy machine
COLLECTOR = {"name": "flows", "reporter": "10.78.0.1", "mac": "02:00:00:00:00:01",
             "ip": "10.78.0.2", "rkey": 4660, "base": "0x3a5f00000000",
             "first_psn": 0, "epoch": 1000}
WRITE, FETCH_ADD = 0x2A, 0x14  # opcodes


def datagram(port, payload):
    """A frame of UDP over IPv4 to @port"""
    udp = struct.pack(">4H", 49152, port, 8 + len(payload), 0) + payload
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                     bytes([10, 1, 0, 2]), bytes([10, 3, 1, 3]))
    ip = ip[:10] + struct.pack(">H", generate.inverse_sum(ip)) + ip[12:]
    return bytes.fromhex("020000000001 020000000002 0800") + ip + udp


def packet_with_int():
    """Over two hops; see bpf/int_md.h."""
    md = bytes([0x20, 0, 1, 3]) + struct.pack(">4H", 0x8000, 0, 0, 0) + struct.pack(">2I", 5, 4)
    return datagram(5000, struct.pack(">BBH", 0x14, len(md) // 4, 443) + md)


class Report:
    """dart-report with a capture by a pipe, which stays open."""

    queue_pairs = itertools.count(17)

    def __init__(self, kind, entry, *options):
        self.queue_pair = next(self.queue_pairs)
        self.export = f"{directory.name}/{kind}.json"
        key = {"collectors": "dart_collectors", "journals": "dart_journals",
               "ledgers": "dart_ledgers", "sketches": "dart_sketches"}[kind]
        with open(self.export, "w", encoding="utf-8") as file:
            json.dump({key: 1, kind: [{**COLLECTOR, "qpn": self.queue_pair, **entry}]}, file)
        self.process = subprocess.Popen(
            [TREE / ".output/bin/dart-report", "--interface", "port1", "--source", "10.78.0.1",
             "--pcap", "-", *options, self.export],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.process.stdin.write(struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        self.process.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()

    def send(self, frame):
        self.process.stdin.write(struct.pack("=4I", 1, 0, len(frame), len(frame)) + frame)
        self.process.stdin.flush()

    def sent(self, opcode):
        """The next frame to the collector; frames of reports before may still be under way."""
        while True:
            frame, address = link.recvfrom(2048)
            if (address[2] != PACKET_OUTGOING and frame[36:38] == ROCE and
                    int.from_bytes(frame[47:50], "big") == self.queue_pair):
                tap.same(frame[42], opcode, "opcode")
                return frame


def reports():
    """a report does not wait for others in its batch of frames"""
    store = {"slots_log2": 10, "value_length": 20, "checksum_bits": 32, "redundancy": 2}
    with Report("collectors", store, "--collectors") as report:
        report.send(packet_with_int())
        tap.same(report.sent(WRITE)[-24:-16], struct.pack(">2I", 5, 4), "the path")


def journal():
    """a batch that is not full is written"""
    lists = {"lists_log2": 1, "batches_log2": 4, "batch_log2": 9, "entry_length": 41}
    with Report("journals", lists, "--journal") as report:
        report.send(packet_with_int())
        report.sent(WRITE)


def ledger():
    """a sum that waits in the cache is sent"""
    with Report("ledgers", {"rows": 2, "words_log2": 16}, "--ledger") as report:
        report.send(packet_with_int())
        report.sent(FETCH_ADD)  # asks where the queue pair stands: sums follow its answer


def sketch():
    """a period is written when it has ended"""
    kind = {"kind": "count-min", "rows": 4, "columns_log2": 4, "period": 1}
    with Report("sketches", kind, "--sketch") as report:
        report.send(packet_with_int())
        counters = struct.unpack(">64I", report.sent(WRITE)[78:334])
        tap.same([sum(counters[row::4]) for row in range(4)], [1] * 4, "packets of each row")


def postcards():
    """a path that lacks a hop is reported by its age"""
    key = bytes.fromhex(generate_postcards.KEY)
    store = {"slots_log2": 10, "value_length": 20, "checksum_bits": 32, "redundancy": 2}
    with Report("collectors", store, "--postcards", "5001", "--age", "500ms",
                "--collectors") as report:
        report.send(datagram(5001, generate_postcards.datagram(1, 3, 7, key)))
        tap.same(report.sent(WRITE)[-24:-4], generate_postcards.value_of(3, {1: 7}, 20), "the path")


if os.geteuid() != 0:
    tap.skip("only root sends frames")
if sys.argv[1:] != ["inside"]:
    if subprocess.run(["unshare", "--net", "ip", "link", "add", "type", "veth"], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        tap.skip("network namespaces with cables cannot be made here")
    os.execv(shutil.which("unshare"), ["unshare", "--net", sys.executable, "-B", __file__,
                                       "inside"])
for command in ("link add port.0 type veth peer name port1", "link set port.0 up",
                "link set port1 up"):
    subprocess.run(["ip", *command.split()], check=True)
directory = tempfile.TemporaryDirectory()
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
link.bind(("port.0", 0))
link.settimeout(SECONDS)
tap.run(reports, journal, ledger, sketch, postcards)
