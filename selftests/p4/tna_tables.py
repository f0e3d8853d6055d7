#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A Tofino's hash engine, set up by the compiled network functions, computes the hashes of
the golden vectors of tables. No Tofino is needed: hash_engine.py is a model of the engine.
"""

import json
import shutil
import subprocess
from pathlib import Path

import tap

import hash_engine

TREE = Path(__file__).resolve().parents[2]
BUILT = TREE / ".output/p4/tna"
VECTORS = TREE / "selftests/vectors/tables.json"
KEY_BYTES = 13
VALUE_BYTES = {"nat": 7, "balancer": 6}
ETHERNET = 14
# Offsets from the IP header of bytes that change on the way of a frame: TOS, TTL,
# both checksums, and the byte with FECN and BECN.
CHANGES = (1, 8, 10, 11, 26, 27, 32)


def of_all(*names):
    """The calculations with these names in each program."""
    return [tuple(engine[name] for name in names)
            for engine in engines.values()]


def key_of(vector):
    return bytes.fromhex(vector["key"])


def homes():
    """the sum of both hashes of a key, under the mask, is its home"""
    for first, second in of_all("TeaIngress.row_hash.first",
                                "TeaIngress.row_hash.second"):
        hash_engine.check_all(flows, lambda vector, first=first, second=second:
                  (first(key_of(vector)) + second(key_of(vector)))
                  % 2**vector["geometry"]["rows_log2"],
                  lambda vector: vector["home"])


def shares():
    """the hash for the share is the share"""
    for (share,) in of_all("TeaIngress.share_hash.hash"):
        hash_engine.check_all(flows, lambda vector, share=share:
                  share(key_of(vector)) % 1024,
                  lambda vector: vector["share"])


def entries():
    """the hashes of an entry, in the first cell and the last, are its check"""
    for program, engine in engines.items():
        for cell in ("first", "last"):
            check = engine[f"TeaIngress.search.{cell}_hash.hash"]
            hash_engine.check_all((vector for vector in flows
                       if vector["geometry"]["value_length"] ==
                       VALUE_BYTES[program]),
                      lambda vector, check=check:
                      check(key_of(vector) + bytes.fromhex(vector["value"])),
                      lambda vector: int(vector["check"], 0))


def tags():
    """the hash of a tag, for the WRITE and from the response, is its check"""
    def found(vector, check):
        tag = bytes.fromhex(vector["exchange"]["tag"])
        return check(tag[:8] + vector["epoch"].to_bytes(3, "big") +
                     key_of(vector)).to_bytes(4, "big")

    for checks in of_all("TeaEgress.request.tag_hash.hash",
                         "TeaIngress.judge.tag_hash.hash"):
        for check in checks:
            hash_engine.check_all(exchanges, lambda vector, check=check:
                      found(vector, check),
                      lambda vector:
                      bytes.fromhex(vector["exchange"]["tag"])[8:])


def icrcs():
    """the hash of a READ with its constants is its ICRC"""
    def found(vector, icrc):
        frame = bytearray.fromhex(vector["exchange"]["read"])[ETHERNET:-4]
        for at in CHANGES:
            frame[at] = 0xff
        return icrc(b"\xff" * 8 + frame).to_bytes(4, "little")

    for (icrc,) in of_all("TeaEgress.request.read_icrc.hash"):
        hash_engine.check_all(exchanges, lambda vector, icrc=icrc: found(vector, icrc),
                  lambda vector:
                  bytes.fromhex(vector["exchange"]["read"])[-4:])


for tool in ("p4c-barefoot", "bfas"):
    if not shutil.which(tool):
        tap.skip(f"{tool} is not in PATH (see 'P4' in README.md)")
with open(VECTORS, encoding="utf-8") as file:
    vectors = json.load(file)
flows = [vector for vector in vectors if len(key_of(vector)) == KEY_BYTES]
exchanges = [vector for vector in flows if vector["exchange"]]
subprocess.run(["make", "-s", "-C", TREE, "p4", "TARGET=tna"], check=True,
               stdout=subprocess.DEVNULL)
engines = {program: hash_engine.of_program(BUILT, program)
           for program in VALUE_BYTES}
tap.run(homes, shares, entries, tags, icrcs)
