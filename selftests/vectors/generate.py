#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints golden vectors: reports, and all values that they are made from.

This is a second implementation of <dart/store.h>, from its text alone: it even
finds the polynomials again, and computes CRCs bit by bit.
"""

import hashlib
import ipaddress
import json
import struct

ORDER = 2**32 - 1
FACTORS = (3, 5, 17, 257, 65537)  # of ORDER


def times_modulo(a, b, polynomial):
    """The product of two polynomials over GF(2), modulo a third."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        b >>= 1
        a <<= 1
        if a >> 32:
            a ^= polynomial
    return product


def power_of_x(exponent, polynomial):
    result, base = 1, 2
    while exponent:
        if exponent & 1:
            result = times_modulo(result, base, polynomial)
        base = times_modulo(base, base, polynomial)
        exponent >>= 1
    return result


def is_primitive(polynomial):
    """Is the order of x modulo the polynomial the largest possible?"""
    return power_of_x(ORDER, polynomial) == 1 and all(
        power_of_x(ORDER // factor, polynomial) != 1 for factor in FACTORS)


def polynomial_for(purpose):
    digest = hashlib.sha256(f"DART {purpose}".encode()).digest()
    low = int.from_bytes(digest[:4], "big") | 1
    while not is_primitive(2**32 | low):
        low += 2
    return low


SLOTS = [polynomial_for(f"slot {n}") for n in range(8)]
CHECKSUMS = [polynomial_for(f"checksum {n}") for n in range(2)]
SHARE = polynomial_for("share")
ETHERNET = 0x04C11DB7


def crc(low, data):
    """The CRC of IEEE 802.3, section 3.2.9, with any polynomial.

    It is the complement of the remainder of the message, with its first 32 bits
    complemented, times x^32.  The first bit of the message is the least significant
    of its first byte; the first bit of the remainder is the least significant of
    the CRC.
    """
    bits = [byte >> n & 1 for byte in data for n in range(8)] + [0] * 32
    for i in range(32):
        bits[i] ^= 1
    remainder = 0
    for bit in bits:
        remainder = remainder << 1 | bit
        if remainder >> 32:
            remainder ^= 2**32 | low
    remainder ^= 2**32 - 1
    return int(f"{remainder:032b}"[::-1], 2)


def checksum_of(key, width):
    value = crc(CHECKSUMS[0], key)
    if width == 64:
        value = value << 32 | crc(CHECKSUMS[1], key)
    return value % 2**width or 1


def inverse_sum(header):
    """The checksum of an IPv4 header (RFC 791)."""
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def roce_frame(source, destination, source_port, transport):
    """A frame from source to destination, (MAC, IPv4 address) each.

    transport is all from the BTH to the pad.
    """
    udp_length = 8 + len(transport) + 4
    udp = struct.pack(">HHHH", source_port, 4791, udp_length, 0)
    addresses = b"".join(ipaddress.ip_address(address).packed
                         for _, address in (source, destination))
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + udp_length, 0, 0x4000, 64, 17,
                     0) + addresses
    ip = ip[:10] + struct.pack(">H", inverse_sum(ip)) + ip[12:]

    masked = bytearray(b"\xff" * 8 + ip + udp + transport)
    for offset in (8 + 1, 8 + 8, 8 + 10, 8 + 11, 8 + 26, 8 + 27, 8 + 32):
        masked[offset] = 0xFF
    icrc = struct.pack("<I", crc(ETHERNET, masked))
    ethernet = b"".join(bytes.fromhex(mac.replace(":", ""))
                        for mac, _ in (destination, source)) + b"\x08\x00"
    return ethernet + ip + udp + transport + icrc


def frame_of(entry, source_mac, share, slot, address, psn, transport):
    pad = -len(slot) % 4
    bth = struct.pack(">BBHII", 0x0A if transport == "rc" else 0x2A, 0x40 | pad << 4,
                      0xFFFF, entry["qpn"], psn)
    reth = struct.pack(">QII", address, entry["rkey"], len(slot))
    return roce_frame((source_mac, entry["reporter"]),
                      (entry["mac"], entry["ip"]),
                      0xC000 + (entry["qpn"] % 1024 if transport == "rc" else share),
                      bth + reth + slot + bytes(pad))


def probe(entry, source_mac, psn):
    """Asks a reliable connection for the expected PSN."""
    bth = struct.pack(">BBHII", 0x0A, 0x40, 0xFFFF, entry["qpn"], 2**31 | psn)
    reth = struct.pack(">QII", int(entry["base"], 16), entry["rkey"], 0)
    return roce_frame((source_mac, entry["reporter"]), (entry["mac"], entry["ip"]),
                      0xC000 + entry["qpn"] % 1024, bth + reth)


def answer(entry, psn, syndrome):
    """An acknowledgement (@syndrome 0) or a NAK of a reliable connection."""
    bth = struct.pack(">BBHII", 0x11, 0x40, 0xFFFF, entry["qpn"], psn % 2**24)
    return roce_frame((entry["mac"], entry["ip"]), ("02:00:0a:00:00:02", entry["reporter"]),
                      4791, bth + bytes([syndrome]) + bytes(3))


def vector(key, value, number=0, **changes):
    """Report @number to a collector, with copy @copy of the key."""
    entry = {
        "name": "paths", "reporter": "10.0.0.2", "mac": "52:54:00:00:00:01",
        "ip": "10.0.0.1", "qpn": 17, "rkey": 0x1234,
        "base": "0x3a5f00000000", "slots_log2": 20, "value_length": len(value),
        "checksum_bits": 32, "redundancy": 2, "first_psn": 0,
    }
    source_mac = "52:54:00:00:00:02"
    copy = changes.pop("copy", 0)
    entry.update(changes)
    share = crc(SHARE, key) % 1024
    slots = [crc(SLOTS[n], key) % 2**entry["slots_log2"]
             for n in range(entry["redundancy"])]
    checksum = checksum_of(key, entry["checksum_bits"])
    slot = checksum.to_bytes(entry["checksum_bits"] // 8, "big") + value
    address = int(entry["base"], 16) + slots[copy] * len(slot)
    psn = (entry["first_psn"] + number) % 2**24
    return {
        "key": key.hex(), "value": value.hex(), "collector": entry,
        "source_mac": source_mac, "share": share, "slots": slots,
        "checksum": f"{checksum:#x}", "copy": copy, "number": number,
        "psn": psn, "address": f"{address:#x}",
        "frame": frame_of(entry, source_mac, share, slot, address, psn, "uc").hex(),
        "frame_rc": frame_of(entry, source_mac, share, slot, address, psn, "rc").hex(),
    }


def flow(source, destination, *rest):
    return (ipaddress.ip_address(source).packed +
            ipaddress.ip_address(destination).packed +
            struct.pack(">HHB", *rest))


def path(*switches):
    return struct.pack(">5I", *switches, *[0] * (5 - len(switches)))


def vectors():
    ipv4 = flow("10.1.0.2", "10.3.1.3", 49152, 443, 6)
    ipv6 = flow("2001:db8::1", "2001:db8:ffff::2", 1024, 53, 17)
    hops = path(0x0A030101, 0x0A030301, 0x0A040102, 0x0A010301, 0x0A010001)

    # Each redundancy and each width, with a path as value.
    for redundancy in range(1, 9):
        for bits in (8, 16, 32, 64):
            yield vector(ipv4 if redundancy % 2 else ipv6, hops,
                         redundancy=redundancy, checksum_bits=bits,
                         copy=redundancy - 1)
    # Each copy of one key.
    for copy in range(8):
        yield vector(ipv4, hops, redundancy=8, copy=copy)
    # Each pad with each width; the shortest value and the longest one.
    for bits in (8, 16, 32, 64):
        for length in (4, 5, 6, 7, 61, 62, 63, 64):
            yield vector(ipv4, bytes(range(1, length + 1)),
                         checksum_bits=bits)
    # Keys of each length.
    for length in range(1, 65):
        yield vector(bytes(range(64 - length, 64)), hops)
    # Keys of zeros and of ones, which differ only in their length.
    for length in (1, 2, 13, 64):
        yield vector(bytes(length), path(1))
        yield vector(b"\xff" * length, path(1))
    # Stores of each size.
    for slots_log2 in range(33):
        yield vector(ipv6, hops, slots_log2=slots_log2, copy=1)
    # The PSN wraps.
    for first, number in ((0, 5), (0xFFFFFE, 0), (0xFFFFFE, 1),
                          (0xFFFFFE, 2), (0xFFFFFE, 3), (0x800000, 2**24),
                          (5, 2**40 + 3)):
        yield vector(ipv4, hops, first_psn=first, number=number)
    # No checksum is 0.
    for bits in (8, 16):
        key = next(key for key in (struct.pack(">I", n) for n in range(2**20))
                   if crc(CHECKSUMS[0], key) % 2**bits == 0)
        yield vector(key, hops, checksum_bits=bits)
    # The largest and the smallest numbers of an entry, and other addresses.
    yield vector(ipv4, hops, qpn=0xFFFFFF, rkey=0xFFFFFFFF,
                 base="0xfffffffff0000000", reporter="223.255.255.254",
                 ip="1.0.0.1", mac="fe:ff:ff:ff:ff:ff")
    yield vector(ipv4, hops, qpn=2, rkey=0, base="0x0", slots_log2=0)


if __name__ == "__main__":
    print("[\n" + ",\n".join(map(json.dumps, vectors())) + "\n]")
