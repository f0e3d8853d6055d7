#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Prints golden vectors: lookup tables, their rows, and the frames that READ them.

This is a second implementation of <dart/tea.h> and <dart/tea_access.h>, from their
text alone: it even finds the polynomials again, and computes CRCs bit by bit.
"""

import json
import struct

from generate import crc, flow, polynomial_for, roce_frame

ROW_0, ROW_1, CHECK, SHARE = (polynomial_for(f"TEA {purpose}") for purpose in (
    "row 0", "row 1", "check", "share"))
SWITCH_QPN = 0x746561


def sizes(table):
    """Derived sizes of a table with these five numbers."""
    cell = (4 + table["key_length"] + table["value_length"] + 3) // 4 * 4
    row = 12 + 2 * table["cells"] * cell
    row_log2 = next(log2 for log2 in range(9, 13)
                    if row + 12 + table["packet_length"] <= 2**log2)
    places = 2**max(table["rows_log2"] + 3 - 6, 4)
    rows = 2**table["rows_log2"]
    stride = (row + 7) // 8 * 8
    return {
        "cell_length": cell, "row_length": row, "row_log2": row_log2,
        "stride": stride, "stash": rows * stride, "stash_places": places,
        "stash_cells": places + 7,
        "length": rows * stride + (places + 7) * cell,
        "view_length": rows * 2**row_log2,
    }


def home_of(table, key):
    return (crc(ROW_0, key) + crc(ROW_1, key)) % 2**table["rows_log2"]


def stash_place_of(table, key):
    return (crc(SHARE, key) >> 10) % sizes(table)["stash_places"]


def check_of(entry):
    return crc(CHECK, entry) or 1


def cell_of(table, key, value):
    cell = check_of(key + value).to_bytes(4, "big") + key + value
    return cell.ljust(sizes(table)["cell_length"], b"\0")


class Bucket:
    """The cells of a bucket, and how often they were changed."""

    def __init__(self, cells):
        self.cells = [None] * cells
        self.changes = 0

    def put(self, cell):
        if None not in self.cells:
            return False
        self.cells[self.cells.index(None)] = cell
        self.changes += 1
        return True

    def bytes(self, length):
        return b"".join(cell or bytes(length) for cell in self.cells)


class Home:
    """The row that is the home of some keys: its bucket and the next one."""

    def __init__(self, table, home):
        self.table, self.home = table, home
        self.buckets = [Bucket(table["cells"])]
        self.stash = {}  # number of a cell: cell
        if table["rows_log2"]:
            self.buckets.append(Bucket(table["cells"]))
        self.shadow = self.buckets[-1]

    def insert(self, key, value):
        assert home_of(self.table, key) == self.home
        cell = cell_of(self.table, key, value)
        if any(bucket.put(cell) for bucket in self.buckets):
            return
        place = stash_place_of(self.table, key)
        self.stash[next(number for number in range(place, place + 8)
                        if number not in self.stash)] = cell

    def row(self, epoch):
        length = sizes(self.table)["cell_length"]
        changes = (sum(bucket.changes for bucket in self.buckets) +
                   len(self.stash))
        sequence = struct.pack(">I", 2 * changes)
        return (sequence + bytes([min(len(self.stash), 255)]) +
                epoch.to_bytes(3, "big") + self.buckets[0].bytes(length) +
                self.shadow.bytes(length) + sequence)


def bth(opcode, qpn, psn, pad=0, migrated=1):
    return struct.pack(">BBHII", opcode, migrated << 6 | pad << 4, 0xFFFF, qpn,
                       psn)


def exchange(table, key, home, packet, number, changes):
    """A WRITE, the READ after it, and its response."""
    server = {
        "mac": "52:54:00:00:00:01", "ip": "10.0.0.1", "qpn": 17,
        "rkey": 0x1234, "base": 0x3A5F00000000, "first_psn": 0,
    }
    switch = {"mac": "52:54:00:00:00:02", "ip": "10.0.0.2"}
    response = {"source_port": 0xC7EA, "migrated": 1, "msn": 1,
                "syndrome": 0x1F}
    for part in (server, switch, response):
        part.update((name, changes[name]) for name in part if name in changes)
    port, epoch = changes.get("port", 3), changes["epoch"]

    size = sizes(table)
    assert len(packet) <= table["packet_length"]
    psn = (server["first_psn"] + number) % 2**24
    address = server["base"] + home.home * 2**size["row_log2"]
    tag = struct.pack(">IHH", psn, len(packet), port)
    tag += struct.pack(">I", crc(CHECK, tag + epoch.to_bytes(3, "big") + key))
    scratchpad = tag + packet
    pad = -len(scratchpad) % 4
    row = home.row(epoch)
    ends = ((switch["mac"], switch["ip"]), (server["mac"], server["ip"]))

    write = roce_frame(*ends, 0xC7EA, (
        bth(0x0A, server["qpn"], psn, pad) +
        struct.pack(">QII", address + size["row_length"], server["rkey"],
                    len(scratchpad)) + scratchpad + bytes(pad)))
    read_psn = (psn + 1) % 2**24
    read = roce_frame(*ends, 0xC7EA, (
        bth(0x0C, server["qpn"], read_psn) +
        struct.pack(">QII", address, server["rkey"],
                    len(row) + len(scratchpad))))
    answer = roce_frame(*reversed(ends), response["source_port"], (
        bth(0x10, SWITCH_QPN, read_psn, pad, response["migrated"]) +
        struct.pack(">I", response["syndrome"] << 24 | response["msn"]) +
        row + scratchpad + bytes(pad)))
    return {
        "server": {**server, "base": f"{server['base']:#x}"},
        "switch": switch, "response_fields": response, "port": port,
        "number": number, "psn": psn, "tag": tag.hex(), "packet": packet.hex(),
        "write": write.hex(), "read": read.hex(), "response": answer.hex(),
    }


def keys_with_home(table, home, count):
    """Other keys that have the same home."""
    found, number = [], 1
    while len(found) < count:
        key = number.to_bytes(8, "big").ljust(table["key_length"], b"\xa5")
        key = key[:table["key_length"]]
        number += 1
        if home_of(table, key) == home and key not in found:
            found.append(key)
    return found


def vector(key, value, neighbours=0, packet=None, **changes):
    """An entry, inserted after the given number of others with the same home."""
    table = {"rows_log2": 4, "cells": 8, "key_length": len(key),
             "value_length": len(value), "packet_length": 1514}
    table.update((name, changes.pop(name)) for name in table
                 if name in changes)
    epoch = changes.setdefault("epoch", 1)
    number = changes.pop("number", 0)
    home = Home(table, home_of(table, key))
    entries = [(other, bytes([index + 1]) * len(value)) for index, other in
               enumerate(keys_with_home(table, home.home, neighbours))]
    entries.append((key, value))
    for entry in entries:
        home.insert(*entry)
    return {
        "geometry": table, **sizes(table), "epoch": epoch, "key": key.hex(),
        "value": value.hex(), "home": home.home,
        "share": crc(SHARE, key) % 1024,
        "stash_place": stash_place_of(table, key),
        "check": f"{check_of(key + value):#010x}",
        "cell": cell_of(table, key, value).hex(),
        "entries": [{"key": each.hex(), "value": other.hex()}
                    for each, other in entries],
        "row": home.row(epoch).hex(),
        "stash_entries": [{"number": number, "cell": cell.hex()}
                          for number, cell in sorted(home.stash.items())],
        "exchange": packet and exchange(table, key, home, packet, number,
                                        changes),
    }


def packet_of(key, length):
    """An Ethernet frame with the UDP datagram that a NAT's key is taken from."""
    udp = key[8:12] + struct.pack(">HH", length - 34, 0)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, length - 14, 7, 0, 63, key[12],
                     0) + key[:8]
    frame = bytes.fromhex("020000000001" "020000000002" "0800") + ip + udp
    return frame + bytes(n % 251 for n in range(length - len(frame)))


def vectors():
    nat = flow("10.1.0.2", "10.3.1.3", 49152, 443, 17)
    address = bytes.fromhex("c6336407" "1f90" "01")

    # Each size of a bucket, with entries in both buckets and, at last, in the stash.
    for cells in range(1, 9):
        for neighbours in (0, cells - 1, cells, 2 * cells - 1):
            yield vector(nat, address, neighbours, cells=cells)
    for cells in (1, 2, 8):
        for neighbours in (cells, cells + 3):
            yield vector(nat, address, neighbours, rows_log2=0, cells=cells)
    # Each number of rows.
    for rows_log2 in range(29):
        yield vector(nat, address, rows_log2=rows_log2)
    # Keys and values of each length modulo 4, the shortest and the longest.
    for length in (*range(1, 9), 13, 37, 61, 62, 63, 64):
        yield vector(bytes(range(64 - length, 64)), address, rows_log2=20)
        yield vector(nat, bytes(range(length)), rows_log2=20)
    yield vector(bytes(64), b"\xff" * 64, cells=8)
    # Keys of zeros and of ones, which differ only in their length.
    for length in (1, 2, 13, 64):
        yield vector(bytes(length), bytes(4), rows_log2=28)
        yield vector(b"\xff" * length, bytes(4), rows_log2=28)
    # Rows for switches of each size: with the longest packet, and with one byte more.
    for log2 in range(9, 12):
        longest = 2**log2 - 12 - 12 - 2 * 2 * 24
        yield vector(nat, address, cells=2, packet_length=longest)
        yield vector(nat, address, cells=2, packet_length=longest + 1)
    yield vector(nat, address, packet_length=4096 - 12 - 12 - 2 * 8 * 24)
    yield vector(nat, address, cells=1, packet_length=64)
    # Frames: each pad, ends of the lengths, entries in each bucket.
    for length in (42, 60, 61, 62, 63, 128):
        yield vector(nat, address, length % 3, packet_of(nat, length), cells=2,
                     packet_length=128, rows_log2=10)
    yield vector(nat, address, 3, packet_of(nat, 1514), epoch=0xABCDEF,
                 rows_log2=10)
    yield vector(nat, address, 4, packet_of(nat, 100), cells=4, rows_log2=0)
    yield vector(nat, address, 0, packet_of(nat, 3688), packet_length=3688)
    # The numbers of a server and of its response, from the smallest to the largest.
    yield vector(nat, address, 0, packet_of(nat, 60), cells=4, rows_log2=28,
                 epoch=0xFFFFFF, qpn=0xFFFFFF, rkey=0xFFFFFFFF, port=511,
                 base=0xFFFFF00000000000, number=2**24 - 4)
    yield vector(nat, address, 2, packet_of(nat, 60), cells=4, qpn=2, rkey=0,
                 base=0, port=0, migrated=0, syndrome=0, msn=0xFFFFFF,
                 source_port=0xDEAD)
    # The PSN of the READ wraps.
    for first_psn, number in ((0xFFFFFF, 0), (0xFFFFFE, 0), (0x800000, 2**24)):
        yield vector(nat, address, 0, packet_of(nat, 60), cells=1,
                     first_psn=first_psn, number=number)
    # Keys that count up, like the keys of a range.
    for index in range(16):
        yield vector(flow("10.1.0.2", "10.3.1.3", 49152, 1024 + index, 17),
                     address, rows_log2=8)


if __name__ == "__main__":
    print("[\n" + ",\n".join(map(json.dumps, vectors())) + "\n]")
