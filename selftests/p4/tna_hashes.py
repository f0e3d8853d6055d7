#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A Tofino's hash engine, set up by the compiled program, computes the hashes of the
golden vectors. No Tofino is needed: hash_engine.py is a model of the engine.
"""

import json
import shutil
import subprocess
from pathlib import Path

import tap

import hash_engine

TREE = Path(__file__).resolve().parents[2]
BUILT = TREE / ".output/p4/tna"
VECTORS = TREE / "selftests/vectors/reports.json"

SHARES = {13: "ipv4", 17: "ipv4_hop", 37: "ipv6", 41: "ipv6_hop"}
LONGEST = max(SHARES)
ETHERNET = 14
# Offsets from the IP header of bytes that change on the way of a frame: TOS, TTL,
# both checksums, and the byte with FECN and BECN.
CHANGES = (1, 8, 10, 11, 26, 27, 32)


def in_egress(key):
    """In egress all keys are of one length, and their CRC begins with zeros."""
    inverted = bytes(byte ^ 0xff for byte in key[:4])
    return (inverted + key[4:]).rjust(LONGEST, b"\0")


def key_of(vector):
    return bytes.fromhex(vector["key"])


def shares():
    """the ingress hash of each kind of key is its share"""
    for length, name in SHARES.items():
        share = engine[f"DartIngress.share_hash.{name}"]
        hash_engine.check_all((vector for vector in flows if len(key_of(vector)) == length),
                  lambda vector, share=share: share(key_of(vector)) % 1024,
                  lambda vector: vector["share"])


def ports():
    """the egress hash for the source port is the share"""
    port = engine["DartEgress.write_report.source_port_of.hash"]
    hash_engine.check_all(flows, lambda vector: port(in_egress(key_of(vector))) % 1024,
              lambda vector: vector["share"])


def slots():
    """the hashes of all copies are their slots"""
    def found(vector):
        return [engine[f"DartEgress.write_report.slot_hash.slot_{copy}"](
            in_egress(key_of(vector))) % 2**vector["collector"]["slots_log2"]
            for copy in range(len(vector["slots"]))]

    assert any(len(vector["slots"]) == 8 for vector in flows)
    hash_engine.check_all(flows, found, lambda vector: vector["slots"])


def checksums():
    """the hash for the checksum is the checksum"""
    checksum = engine["DartEgress.write_report.checksum_hash.checksum_0"]
    hash_engine.check_all((vector for vector in flows
               if vector["collector"]["checksum_bits"] == 32),
              lambda vector: checksum(in_egress(key_of(vector))),
              lambda vector: int(vector["checksum"], 0))


def icrcs():
    """the hash of a frame with its constants is its ICRC"""
    icrc = engine["DartEgress.write_report.icrc.hash"]

    def found(vector):
        frame = bytearray.fromhex(vector["frame"])[ETHERNET:-4]
        for at in CHANGES:
            frame[at] = 0xff
        return icrc(b"\xff" * 8 + frame).to_bytes(4, "little")

    hash_engine.check_all((vector for vector in vectors
               if (vector["collector"]["value_length"],
                   vector["collector"]["checksum_bits"]) == (20, 32)),
              found, lambda vector: bytes.fromhex(vector["frame"])[-4:])


for tool in ("p4c-barefoot", "bfas"):
    if not shutil.which(tool):
        tap.skip(f"{tool} is not in PATH (see 'P4' in README.md)")
with open(VECTORS, encoding="utf-8") as file:
    vectors = json.load(file)
flows = [vector for vector in vectors if len(key_of(vector)) in SHARES]
subprocess.run(["make", "-s", "-C", TREE, "p4", "TARGET=tna"], check=True,
               stdout=subprocess.DEVNULL)
engine = hash_engine.of_program(BUILT, "dart")
tap.run(shares, ports, slots, checksums, icrcs)
