# SPDX-License-Identifier: GPL-2.0-only
"""mmv_file.py PATH PORT: maps a new mmv(5) file of version 1 to write to, listens on a TCP port,
which names it, and obeys lines of its input.

  set NUMBER       the counters m0, m1 ... become NUMBER, NUMBER + 1 ...
  leave            the program has no file any more
  make COUNT       another file takes the place: COUNT metrics, another generation
  lie BYTES HEX    writes bytes at an offset
  truncate         the file has no bytes any more
  unlink           the file has no name any more
Each line is answered with "done".
"""
import mmap
import os
import socket
import struct
import sys

HEADER, CONTENT, METRIC, VALUE = 40, 16, 104, 32
LENGTH = 65536
path = sys.argv[1]


class File:
    def __init__(self, count, generation):
        if os.path.lexists(path):
            os.unlink(path)
        self.file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(self.file, LENGTH)
        self.bytes = mmap.mmap(self.file, LENGTH)
        self.count = count
        metrics = HEADER + 2 * CONTENT
        self.values = metrics + count * METRIC
        struct.pack_into("<IIq", self.bytes, HEADER, 3, count, metrics)
        struct.pack_into("<IIq", self.bytes, HEADER + CONTENT, 4, count, self.values)
        for i in range(count):
            at = metrics + i * METRIC
            # name, item, 64-bit unsigned, counter, no dimension, no instances, no texts
            struct.pack_into("<64sIIiIIIqq", self.bytes, at, b"m%d" % i, i + 1, 3, 1, 0,
                             0xffffffff, 0, 0, 0)
            struct.pack_into("<QqqII", self.bytes, self.values + i * VALUE, 0, 0, at, 0, 0)
        # The generation at last: the file is complete.
        struct.pack_into("<4sIqqIIiI", self.bytes, 0, b"MMV", 1, generation, generation, 2, 0,
                         os.getpid(), 0)

    def set(self, number):
        for i in range(self.count):
            struct.pack_into("<Q", self.bytes, self.values + i * VALUE, number + i)

    def close(self):
        self.bytes.close()
        os.close(self.file)


def main():
    server = socket.create_server(("127.0.0.1", int(sys.argv[2])))
    file = File(3, 7)
    print("done", flush=True)
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "set":
            file.set(int(rest[0]))
        elif word == "leave":
            file.close()
        elif word == "make":
            file = File(int(rest[0]), 8)
        elif word == "lie":
            piece = bytes.fromhex(rest[1])
            file.bytes[int(rest[0]):int(rest[0]) + len(piece)] = piece
        elif word == "truncate":
            os.ftruncate(file.file, 0)
        elif word == "unlink":
            os.unlink(path)
        print("done", flush=True)
    server.close()


main()
