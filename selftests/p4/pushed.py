#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A switch that dartctl set up sends the golden frames, of all copies."""

import json
import os
import subprocess
import tempfile

from needs import PROGRAMS, TREE

import generate
import packets
import tap
from switch import Switch, entry_of, polynomials, report, share_of

NODES = [5, 4, 3, 2, 1]
VALUE = packets.value_of(NODES)
REPORTER = "10.0.0.2"
SOURCE_MAC = bytes.fromhex("02000a000002")
KEYS = [generate.flow(f"10.1.0.{n}", "10.2.0.1", 49152, 443, 17)
        for n in range(1, 7)]
KEYS += [generate.flow(f"2001:db8::{n}", "2001:db8:1::1", 53, 53, 6)
         for n in range(1, 7)]
FIRST, SECOND = 3, 4  # ports


def spoil():
    """Spoils all hashes, so that only a push can make them right."""
    with open(PROGRAMS / "dart.json", encoding="utf-8") as file:
        for calculation in polynomials(json.load(file)):
            switch.do("set_crc32_parameters", calculation, "0x04c11db7",
                      "0", "0", "false", "false")


def entries(**changes):
    """Two collectors without any common member."""
    return {
        FIRST: entry_of(reporter=REPORTER, first_psn=0xFFFFFE, qpn=100,
                        shares="0-511", **changes),
        SECOND: entry_of(reporter=REPORTER, first_psn=7, qpn=200, rkey=0xF00D,
                         ip="10.0.0.3", mac="52:54:00:00:00:03",
                         base="0xfffffff000000000", slots_log2=9,
                         shares="512-1023", **changes),
    }


def command(collectors, path, *options):
    """The command that pushes the collectors, which are written to @path."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"dart_collectors": 1,
                   "collectors": list(collectors.values())}, file)
    ports = [argument for port, entry in collectors.items()
             for argument in ("--port", f"{entry['ip']}={port}")]
    return ["dartctl", "switch", "push", "--target", "bmv2", "--thrift",
            "localhost:9090", *ports, *options, path]


def push(collectors, *options):
    """The changes that the command prints."""
    with tempfile.NamedTemporaryFile() as file:
        return subprocess.run(command(collectors, file.name, *options),
                              check=True, stdout=subprocess.PIPE,
                              encoding="utf-8").stdout


def port_of(key):
    return FIRST if share_of(key) < 512 else SECOND


def frame(entry, key, copy, number):
    vector = {name: there for name, there in entry.items()
              if name not in ("shares", "value_length")}
    golden = report(vector, key, VALUE, copy, number)
    return golden[:6] + SOURCE_MAC + golden[12:]


def check(collectors, sent=0):
    """Each key gives a report for each copy; @sent is the number of earlier ones."""
    numbers = {FIRST: sent, SECOND: sent}
    for key in KEYS:
        port = port_of(key)
        entry = collectors[port]
        wanted = [frame(entry, key, copy, numbers[port] + copy)
                  for copy in range(entry["redundancy"])]
        numbers[port] += entry["redundancy"]
        got = switch.send(packets.with_int(packets.packet(key), NODES))
        tap.same([one.hex() for one in got[port]],
                 [one.hex() for one in wanted], f"key {key.hex()}")
        tap.same(got[FIRST + SECOND - port], [], "to the other collector")


def all_widths():
    """after a push, reports are the golden frames, with every checksum width"""
    for bits in (8, 16, 32, 64):
        spoil()
        switch.do("table_clear dart_share")
        switch.do("table_clear dart_collector")
        collectors = entries(checksum_bits=bits, redundancy=8)
        push(collectors, "--all-copies")
        check(collectors)


def again():
    """a push of the same collectors changes nothing and keeps the PSNs"""
    collectors = entries(redundancy=2)
    push(collectors, "--all-copies")
    for port in collectors:
        switch.set_psn(port - FIRST, 50)
    tap.same(push(collectors, "--all-copies"), "nothing to change\n")
    for port in collectors:
        collectors[port]["first_psn"] = 50
    check(collectors)


def random_copies():
    """without --all-copies each packet gives one report"""
    collectors = entries(redundancy=8)
    push(collectors)
    for key in KEYS:
        got = switch.send(packets.with_int(packets.packet(key), NODES))
        tap.same(len(got[port_of(key)]), 1)


def without_number(one):
    """A frame without its PSN and the ICRC that depends on it."""
    return one[:51] + one[54:-4]


def meanwhile():
    """while a push replaces all collectors, each report matches an old or a new collector"""
    before = entries(checksum_bits=64, redundancy=8)
    after = entries(checksum_bits=8, redundancy=3)
    for entry in after.values():
        entry.update(qpn=entry["qpn"] + 1, rkey=entry["rkey"] ^ 1,
                     slots_log2=entry["slots_log2"] + 1)
    after[FIRST]["shares"], after[SECOND]["shares"] = (
        after[SECOND]["shares"], after[FIRST]["shares"])
    # By port, where a frame is seen.
    good = {port: set() for port in before}
    for key in KEYS:
        for collectors in (before, after):
            port = port_of(key)
            if collectors is after:
                port = FIRST + SECOND - port
            entry = collectors[port]
            good[port] |= {without_number(frame(entry, key, copy, 0))
                           for copy in range(entry["redundancy"])}

    push(before)
    reports = 0
    with tempfile.NamedTemporaryFile() as file:
        for collectors in (after, before) * 2:
            with subprocess.Popen(command(collectors, file.name),
                                  stdout=subprocess.DEVNULL) as pushing:
                while pushing.poll() is None:
                    got = switch.send(*[
                        packets.with_int(packets.packet(key), NODES)
                        for key in KEYS])
                    for port, frames in good.items():
                        reports += len(got[port])
                        wrong = set(map(without_number, got[port])) - frames
                        tap.same(wrong, set(), f"to port {port}")
            tap.same(pushing.returncode, 0)
    tap.note(f"{reports} reports")
    assert reports


assert {share_of(key) < 512 for key in KEYS} == {False, True}
os.environ["PATH"] = f"{TREE}/.output/bin:{os.environ['PATH']}"
switch = Switch()
tap.run(all_widths, again, random_copies, meanwhile)
