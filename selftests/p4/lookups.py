# SPDX-License-Identifier: GPL-2.0-only
"""A second implementation of <dart/tea.h>, from its text: rows, requests, responses.

A Server answers requests as soft-RoCE does, in the memory of this process.
"""

import ipaddress
import struct
import zlib

import generate

READ_RESPONSE, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE = 0x10, 0x11, 0x12
WRITE, READ, COMPARE_SWAP, FETCH_ADD = 0x0A, 0x0C, 0x13, 0x14
ACK, NAK_SEQUENCE, NAK_ACCESS = 0x1F, 0x60, 0x62
PSNS = 2**24
PAST = 64  # PSNs between the first outstanding one and that of the first probe
SWITCH_QPN = 0x746561
UDP_SOURCE = 0xC7EA
SWITCH_MAC, SWITCH_IP = "02:00:0a:00:00:02", "10.0.0.2"  # as in dartctl


def table_of(low):
    """The CRCs of all bytes, with the bits of the polynomial in reverse order."""
    reverse = int(f"{low:032b}"[::-1], 2)
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (reverse if byte & 1 else 0)
        table.append(byte)
    return table


POLYNOMIALS = {name: generate.polynomial_for(f"TEA {name}")
               for name in ("row 0", "row 1", "check", "share")}
TABLES = {name: table_of(low) for name, low in POLYNOMIALS.items()}


def crc(name, data):
    value, table = 2**32 - 1, TABLES[name]
    for byte in data:
        value = value >> 8 ^ table[(value ^ byte) & 0xFF]
    return value ^ 2**32 - 1


def share_of(key):
    return crc("share", key) % 1024


def entry_check(key, value):
    return crc("check", key + value) or 1


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def rdma(source, destination, qpn, opcode, psn, behind, pad=0, acknowledge=0,
         udp_source=UDP_SOURCE, damage=0):
    """A frame; source and destination: (MAC, IPv4 address); @damage: of the ICRC."""
    bth = struct.pack(">BBHIBBH", opcode, 0x40 | pad << 4, 0xFFFF, qpn,
                      acknowledge, psn >> 16, psn & 0xFFFF)
    udp_length = 8 + len(bth + behind) + 4
    udp = struct.pack(">HHHH", udp_source, 4791, udp_length, 0)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + udp_length, 0, 0x4000, 64, 17,
                     0) + b"".join(ipaddress.ip_address(there[1]).packed
                                   for there in (source, destination))
    ip = ip[:10] + struct.pack(">H", generate.inverse_sum(ip)) + ip[12:]
    masked = bytearray(b"\xff" * 8 + ip + udp + bth + behind)
    for offset in (8 + 1, 8 + 8, 8 + 10, 8 + 11, 8 + 26, 8 + 27, 8 + 32):
        masked[offset] = 0xFF
    icrc = struct.pack("<I", zlib.crc32(masked) ^ damage)
    return (mac(destination[0]) + mac(source[0]) + b"\x08\x00" + ip + udp +
            bth + behind + icrc)


class Geometry:
    """The sizes of a table for switches."""

    def __init__(self, rows_log2=4, cells=8, key=13, value=7, packet=1514):
        self.rows_log2, self.cells = rows_log2, cells
        self.key, self.value, self.packet = key, value, packet
        self.cell = (4 + key + value + 3) // 4 * 4
        self.row = 12 + 2 * cells * self.cell
        self.row_log2 = next(log2 for log2 in range(9, 13)
                             if 2**log2 >= self.row + 12 + packet)

    def home(self, key):
        return (crc("row 0", key) + crc("row 1", key)) % 2**self.rows_log2

    def cell_of(self, key, value, check=None):
        check = entry_check(key, value) if check is None else check
        return (struct.pack(">I", check) + key + value).ljust(self.cell,
                                                              b"\0")

    def row_of(self, cells, epoch, sequence=0, end=None, stashed=0):
        """A row with @cells, by their number, 0 to 2C - 1."""
        inside = b"".join(cells.get(number, bytes(self.cell))
                          for number in range(2 * self.cells))
        return (struct.pack(">IB", sequence, stashed) +
                epoch.to_bytes(3, "big") + inside +
                struct.pack(">I", sequence if end is None else end))


def tag_of(psn, packet, port, key, epoch, tries=0):
    begin = struct.pack(">IHH", psn, len(packet), tries << 12 | port)
    return begin + struct.pack(
        ">I", crc("check", begin + epoch.to_bytes(3, "big") + key))


class Server:
    """A table server whose memory contains rows for one switch."""

    def __init__(self, number=0, port=3, geometry=None, **changes):
        self.geometry = geometry or Geometry()
        self.number, self.port = number, port
        self.mac = f"52:54:00:00:01:{number:02x}"
        self.ip = f"10.0.1.{number + 1}"
        self.qpn, self.rkey, self.base = 17 + number, 0x1234, 0x3A5F00000000
        self.first_psn, self.epoch = 0, 0x10203
        self.switch = SWITCH_MAC, SWITCH_IP
        vars(self).update(changes)
        self.expected = self.first_psn
        self.acknowledged = (self.first_psn - 1) % PSNS  # READs left out
        self.nak_sent = False
        self.memory = bytearray()
        if self.geometry.rows_log2 < 10:
            self.memory += bytes(2**(self.geometry.rows_log2 +
                                     self.geometry.row_log2))
            for number in range(2**self.geometry.rows_log2):
                self.set_row(number, {})

    def set_row(self, number, cells, **fields):
        fields.setdefault("epoch", self.epoch)
        at = number << self.geometry.row_log2
        row = self.geometry.row_of(cells, **fields)
        self.memory[at:at + len(row)] = row

    def add(self, key, value, cell=0):
        """Gives the row of @key this entry alone."""
        self.set_row(self.geometry.home(key),
                     {cell: self.geometry.cell_of(key, value)})

    def address(self, key):
        return self.base + (self.geometry.home(key) <<
                            self.geometry.row_log2)

    # ---- frames that a switch sends

    def _request(self, opcode, psn, address, length, payload=b"",
                 acknowledge=0):
        pad = -len(payload) % 4
        return rdma(self.switch, (self.mac, self.ip), self.qpn,
                    opcode, psn % PSNS,
                    struct.pack(">QII", address, self.rkey, length) +
                    payload + bytes(pad), pad, acknowledge)

    def write(self, psn, packet, key, port=1, tries=0):
        payload = tag_of(psn % PSNS, packet, port, key, self.epoch,
                         tries) + packet
        return self._request(WRITE, psn,
                             self.address(key) + self.geometry.row,
                             len(payload), payload)

    def read(self, psn, packet, key):
        return self._request(READ, psn + 1, self.address(key),
                             self.geometry.row + 12 + len(packet))

    def lookup(self, psn, packet, key, **tag):
        return [self.write(psn, packet, key, **tag),
                self.read(psn, packet, key)]

    def probe(self, psn):
        return self._request(WRITE, psn, 0, 0, acknowledge=0x80)

    # ---- answers of a server

    def respond(self, opcode, psn, behind, source=None, to=SWITCH_IP,
                qpn=SWITCH_QPN, **fields):
        pad = -len(behind) % 4
        return rdma(source or (self.mac, self.ip), (SWITCH_MAC, to), qpn,
                    opcode, psn % PSNS, behind + bytes(pad), pad,
                    udp_source=0xC123, **fields)

    def response(self, psn, data, syndrome=ACK, **fields):
        return self.respond(READ_RESPONSE, psn,
                            struct.pack(">I", syndrome << 24) + data,
                            **fields)

    def acknowledge(self, psn, syndrome=ACK, **fields):
        return self.respond(ACKNOWLEDGE, psn,
                            struct.pack(">I", syndrome << 24), **fields)

    def found(self, psn, packet, key, value, cell=0, row=None, tag=None,
              **fields):
        """A response to READ @psn whose row contains the entry."""
        geometry = self.geometry
        row = row if row is not None else geometry.row_of(
            {cell: geometry.cell_of(key, value)}, self.epoch)
        tag = tag or tag_of((psn - 1) % PSNS, packet, 1, key, self.epoch)
        return self.response(psn, row + tag + packet, **fields)

    def handle(self, frame):
        """The responses to a request, as of soft-RoCE."""
        opcode, qpn = frame[42], int.from_bytes(frame[47:50], "big")
        wants, psn = frame[50] & 0x80, int.from_bytes(frame[51:54], "big")
        assert qpn == self.qpn, f"queue pair {qpn:x}"
        ahead = (psn - self.expected) % PSNS
        if ahead and ahead < PSNS // 2:
            if self.nak_sent:
                return []
            self.nak_sent = True
            return [self.acknowledge(self.expected, NAK_SEQUENCE)]
        address, rkey, length = struct.unpack(">QII", frame[54:70])
        at = address - self.base
        if length:
            assert rkey == self.rkey, f"rkey {rkey:x}"
            assert 0 <= at <= len(self.memory) - length, f"address {address:x}"
        if not ahead:
            self.expected = (psn + 1) % PSNS
            self.nak_sent = False
        if opcode == READ:
            return [self.response(psn, bytes(self.memory[at:at + length]))]
        assert opcode == WRITE, f"opcode {opcode:x}"
        if not ahead:
            self.acknowledged = psn
            self.memory[at:at + length] = frame[70:70 + length]
        return [self.acknowledge(self.acknowledged)] if wants else []
