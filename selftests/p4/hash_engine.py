# SPDX-License-Identifier: GPL-2.0-only
"""The hash that a Tofino's hash engine computes, from the contents of its registers.

Each bit of a hash is the parity of a seed and of some of the 1024 bits that the
crossbar leads to the engine. A matrix selects them, with a column for each of 52 bits,
and a row for every 2 of the 128 bytes. Each of 8 hashes uses the groups of four rows
that its mask names.

bfas --gen_json writes the registers of each stage; PROGRAM.dynhash.json, from
p4c-barefoot, tells where the crossbar leads each bit of a field, and which column
is which bit of the hash.
"""

import json
import subprocess
import tempfile
from pathlib import Path

import tap

ROWS_OF_GROUP = 4


class Stage:
    """The registers of the hash engine in one stage."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            registers = json.load(file)["dp"]["xbar_hash"]["hash"]
        self.matrix = registers["galois_field_matrix"]
        self.seeds = [seed["hash_seed"] for seed in registers["hash_seed"]]
        self.masks = [low["parity_group_mask"] | high["parity_group_mask"] << 8
                      for low, high in registers["parity_group_mask"]]

    def taken(self, number, column):
        """The selected bits, as a number of 1024 bits, and the seed."""
        bits = 0
        for row, columns in enumerate(self.matrix):
            if self.masks[number] >> row // ROWS_OF_GROUP & 1:
                cell = columns[column]
                bits |= (cell["byte0"] | cell["byte1"] << 8) << 16 * row
        return bits, self.seeds[column] >> number & 1


def constant(field):
    """The value of a constant, named as in the program: 8w0x45."""
    return int(field["name"].rpartition("w")[2], 0)


class Calculation:
    """One extern Hash of the program."""

    def __init__(self, described, stage):
        (fields,) = described["field_lists"]
        self.fields = fields["fields"]
        self.bits = {}  # by bit of the hash: the seed and the bits that make it
        # A hash may consist of parts; each part takes its own way through the crossbar
        # unless all parts share one.
        parts = described["hash_configuration"]
        ways = fields["crossbar_configuration"]
        if len(ways) == 1:
            ways = ways * len(parts)
        for part, way in zip(parts, ways, strict=True):
            self._add(part["hash"], stage(part["stage_number"]), {
                8 * bit["byte_number"] + bit["bit_in_byte"]:
                (bit["name"], bit["field_bit"]) for bit in way["crossbar"]})
        if self.bits.keys() != set(range(described["hash_bit_width"])):
            raise ValueError(f"{described['name']}: some bits have no source")

    def _add(self, part, stage, led):
        for bit in part["hash_bits"]:
            taken, seed = stage.taken(part["hash_id"], bit["gfm_hash_bit"])
            # Other hashes may use the rest of the crossbar.
            if taken & ~sum(1 << at for at in led):
                raise ValueError(f"{bit}: selects bits of other hashes")
            self.bits[bit["p4_hash_bit"]] = seed, [
                source for at, source in led.items() if taken >> at & 1]

    def split(self, message):
        """The values of consecutive big-endian fields."""
        values, rest = {}, int.from_bytes(message, "big")
        for field in reversed(self.fields):
            value = rest & (1 << field["bit_width"]) - 1
            rest >>= field["bit_width"]
            if not field["is_constant"]:
                values[field["name"]] = value
            elif value != constant(field):
                raise ValueError(f"{field['name']}: the value is {value:#x}")
        if rest or sum(field["bit_width"]
                       for field in self.fields) != 8 * len(message):
            raise ValueError(f"the fields do not have {len(message)} bytes")
        return values

    def __call__(self, message):
        values, result = self.split(message), 0
        for number, (seed, sources) in self.bits.items():
            bit = seed
            for name, at in sources:
                bit ^= values[name] >> at & 1
            result |= bit << number
        return result


def calculations(described, registers):
    """Calculations by name, from a PROGRAM.dynhash.json and a folder of registers."""
    stages = {}

    def stage(number):
        if number not in stages:
            stages[number] = Stage(
                registers / f"regs.match_action_stage.{number:02x}.cfg.json")
        return stages[number]

    with open(described, encoding="utf-8") as file:
        found = json.load(file)["dynamic_hash_calculations"]
    return {one["name"].removesuffix(".configure"): Calculation(one, stage)
            for one in found}


def of_program(built, program):
    """The calculations of a program that was compiled into a folder of @built."""
    pipeline = built / program / "pipeline"
    with tempfile.TemporaryDirectory() as registers:
        Path(registers, "logs").mkdir()
        subprocess.run(["bfas", "--gen_json", "-o", registers,
                        pipeline / f"{program}.bfa"],
                       check=True, stdout=subprocess.DEVNULL)
        return calculations(pipeline / f"{program}.dynhash.json",
                            Path(registers))


def check_all(chosen, found, expected):
    """Compares the two functions for each of the vectors, at least one."""
    chosen = list(chosen)
    assert chosen, "no vector qualifies"
    tap.note(f"{len(chosen)} vectors")
    for vector in chosen:
        tap.same(found(vector), expected(vector), f"key {vector['key']}")
