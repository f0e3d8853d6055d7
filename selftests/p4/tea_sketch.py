#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""The sketch of a network function counts and reports like the golden vectors."""

import json
import os
import re
import socket
import struct

import needs  # before all others

import tap
from functions import Function, for_switch
from switch import SECONDS, THRIFT_PORT

VECTORS = needs.TREE / "selftests/vectors/sketch.json"
GREETING = b"\0SP\0\0%c\0\0"
PUBLISHER, LISTENER = 32, 33
CALL, REPLY = 0x80010001, 0x80010002
STOP, I32, I64 = 0, 8, 10
ROWS, BITS = 4, 2


def take(sock, length):
    taken = b""
    while len(taken) < length:
        part = sock.recv(length - len(taken))
        assert part, "the switch has closed the connection"
        taken += part
    return taken


def acknowledge(number, buffer):
    """A call of Thrift that simple_switch_CLI lacks."""
    name = b"bm_learning_ack_buffer"
    service = b"standard:" + name
    with socket.create_connection(("127.0.0.1", THRIFT_PORT), SECONDS) as sock:
        sock.sendall(struct.pack(">II", CALL, len(service)) + service +
                     struct.pack(">IBHiBHiBHqB", 1, I32, 1, 0, I32, 2, number,
                                 I64, 3, buffer, STOP))
        answer = struct.pack(">II", REPLY, len(name)) + name + struct.pack(
            ">IB", 1, STOP)
        tap.same(take(sock, len(answer)), answer)


class Digests:
    """Samples that the switch publishes: see tools/dartctl/switch/publisher.h."""

    def __init__(self, length):
        self.length = length
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(SECONDS)
        self.socket.connect(f"/tmp/bmv2-{os.getpid()}-notifications.ipc")
        self.socket.sendall(GREETING % LISTENER)
        tap.same(take(self.socket, 8), GREETING % PUBLISHER)

    def samples(self, count):
        """The next @count samples; their buffers are acknowledged."""
        samples = []
        while len(samples) < count:
            kind, length = struct.unpack(">BQ", take(self.socket, 9))
            message = take(self.socket, length)
            tap.same(kind, 1)
            if message[:4] != b"LEA|":  # of the link of a port
                continue
            number, buffer, there = struct.unpack("<iQI", message[16:32])
            tap.same(length, 32 + there * self.length)
            samples += [message[at:at + self.length]
                        for at in range(32, length, self.length)]
            acknowledge(number, buffer)
        return samples


class Popular(Function):
    """A network function without servers, so that each packet is a miss."""

    def begin(self, threshold, before):
        for name, count in (("sketch", ROWS), ("reported", BITS)):
            for row in range(count):
                self.do("register_reset", f"tea_{name}_{row}")
        for row, slot, value in before:
            self.do("register_write", f"tea_sketch_{row}", slot, value)
        self.do("table_set_default tea_popular tea_popular_from",
                threshold)

    def memory(self, name, rows):
        """The registers that are not 0: [row, index, value]."""
        found = []
        for row in range(rows):
            answer = self.do("register_read", f"tea_{name}_{row}")
            values = re.search(r"= *([\d, ]+)", answer)[1].split(",")
            assert len(values) == 65536, len(values)
            found += [[row, slot, int(value)]
                      for slot, value in enumerate(values) if int(value)]
        return found


def vectors():
    """The golden vectors, each with its keys as bytes."""
    for vector in json.loads(VECTORS.read_text(encoding="utf-8")):
        yield vector, [bytes.fromhex(key) for key in vector["keys"]]


def send(vector, keys):
    switch.begin(vector["threshold"], vector["before"])
    switch.send(*(for_switch(keys[number]) for number in vector["packets"]))


def counts():
    """its registers equal the golden vectors"""
    for vector, keys in vectors():
        send(vector, keys)
        tap.same(switch.memory("sketch", ROWS), vector["counters"])
        tap.same(switch.memory("reported", BITS),
                 [[*place, 1] for place in vector["bits"]])


def reports():
    """its digests equal the golden vectors"""
    if missing := needs.missing_for_digests():
        raise tap.Missing(missing)
    digests = Digests(13)
    for vector, keys in vectors():
        send(vector, keys)
        tap.same(digests.samples(len(vector["reported"])),
                 [keys[vector["packets"][number]]
                  for number in vector["reported"]])


switch = Popular("nat")
tap.run(reports, counts)
