# SPDX-License-Identifier: GPL-2.0-only
"""What a Tofino's hash engine makes of a message, by what is in its registers.

Each bit of a hash is the parity of some of the 1024 bits that the crossbar has
led to the engine, and of a seed. Which ones is said by a matrix: a column for
each of 52 bits, a row for each 2 of the 128 bytes. A hash takes the rows of
groups of four that its mask names.

bfas --gen_json writes the registers of each stage; dart.dynhash.json, from
p4c-barefoot, says which bit of a field is led where, and which column is which
bit of the hash.
"""

import json

BYTES = 128
ROWS_OF_GROUP = 4


def parity(number):
    return bin(number).count("1") & 1


class Stage:
    """The registers of the hash engine in one stage."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            registers = json.load(file)["dp"]["xbar_hash"]["hash"]
        self.matrix = registers["galois_field_matrix"]
        self.seeds = [seed["hash_seed"] for seed in registers["hash_seed"]]
        self.masks = [low["parity_group_mask"] | high["parity_group_mask"] << 8
                      for low, high in registers["parity_group_mask"]]

    def bit(self, group, column, message):
        result = self.seeds[column] >> group & 1
        for row, columns in enumerate(self.matrix):
            if self.masks[group] >> row // ROWS_OF_GROUP & 1:
                cell = columns[column]
                result ^= parity(cell["byte0"] & message[2 * row])
                result ^= parity(cell["byte1"] & message[2 * row + 1])
        return result


def constant(field):
    """Its value: the name is that of the constant in the program, 8w0x45."""
    return int(field["name"].rpartition("w")[2], 0)


class Calculation:
    """One extern Hash of the program."""

    def __init__(self, described, stage):
        (fields,) = described["field_lists"]
        self.fields = fields["fields"]
        self.width = described["hash_bit_width"]
        # A hash may be made in parts, each with a way through the crossbar,
        # unless all parts share one.
        parts = described["hash_configuration"]
        ways = fields["crossbar_configuration"]
        self.parts = [
            (stage(part["stage_number"]), part["hash"], way["crossbar"])
            for part, way in zip(parts, ways * len(parts)
                                 if len(ways) == 1 else ways, strict=True)]

    def split(self, message):
        """Values of fields, which are big-endian, one after the other."""
        values, rest = {}, int.from_bytes(message, "big")
        for field in reversed(self.fields):
            value = rest & (1 << field["bit_width"]) - 1
            rest >>= field["bit_width"]
            if not field["is_constant"]:
                values[field["name"]] = value
            elif value != constant(field):
                raise ValueError(f"{value:#x} for {field['name']}")
        if rest or sum(field["bit_width"]
                       for field in self.fields) != 8 * len(message):
            raise ValueError(f"a message of {len(message)} bytes")
        return values

    def __call__(self, message):
        values, result = self.split(message), 0
        for stage, part, way in self.parts:
            led = bytearray(BYTES)
            for bit in way:
                value = values[bit["name"]] >> bit["field_bit"] & 1
                led[bit["byte_number"]] |= value << bit["bit_in_byte"]
            for bit in part["hash_bits"]:
                result |= stage.bit(part["hash_id"], bit["gfm_hash_bit"],
                                    led) << bit["p4_hash_bit"]
        return result


def calculations(described, registers):
    """By name: those of a dart.dynhash.json, and a folder of registers."""
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
