#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Metrics of a Python program that controllers read, without a library: see <dart/registration.h>.

    class Web(ctypes.Structure):
        _fields_ = [("requests", ctypes.c_uint64), ("connections", ctypes.c_uint32)]

    memory = Memory()
    site = memory.show("shop/site", Web, {"requests": "counter"})
    site.requests += 1

An entry needs dartd once, when show() is called: the service manager keeps the memory when dartd
restarts.  Call register() again after a dartd that was not there has started.
"""

import ctypes
import fcntl
import json
import mmap
import os
import platform
import socket
import sys

SOCKET = "/run/dart/dartd.sock"
LINE = 64                   # bytes: slices begin at multiples
F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_FUTURE_WRITE = 2, 4, 16
F_ADD_SEALS = 1033


def seals():
    """The seals that dartd demands on this kernel."""
    release = tuple(int(part) for part in platform.release().split(".")[:2])
    return F_SEAL_SHRINK | F_SEAL_GROW | (F_SEAL_FUTURE_WRITE if release >= (6, 2) else 0)


class Memory:
    """Memory of this process, which dartd shows while the process lives."""

    def __init__(self, size=mmap.PAGESIZE, path=SOCKET):
        self.path, self.used, self.requests, self.proof = path, 0, [], None
        self.fd = os.memfd_create("zero.py", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, size)
        self.memory = mmap.mmap(self.fd, size)
        fcntl.fcntl(self.fd, F_ADD_SEALS, seals())

    def show(self, name, structure, kinds):
        """Returns a ctypes structure whose members of these kinds are the entry NAME."""
        offset = self.used
        self.used += -(-ctypes.sizeof(structure) // LINE) * LINE
        value = structure.from_buffer(self.memory, offset)
        fields = [{"name": member, "offset": getattr(structure, member).offset,
                   "width": getattr(structure, member).size, "kind": kinds.get(member, "gauge")}
                  for member, _ in structure._fields_]
        self.requests.append({"request": "new-slice", "name": name, "offset": offset,
                              "schema": {"name": structure.__name__,
                                         "length": ctypes.sizeof(structure), "fields": fields}})
        self.register(self.requests[-1:])
        return value

    def register(self, requests=None):
        """Asks dartd; a program works without it."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
                peer.connect(self.path)
                for request in self.requests if requests is None else requests:
                    self.ask(peer, request)
        except OSError as error:
            print(f"nobody can see the metrics yet: {error}", file=sys.stderr)

    def ask(self, peer, request):
        socket.send_fds(peer, [json.dumps(request).encode() + b"\n"], [self.fd])
        reply, descriptors = b"", []
        while not reply.endswith(b"\n"):
            part, more, _, _ = socket.recv_fds(peer, 65536, 1)
            if not part:
                raise ConnectionResetError("dartd disconnected")
            reply, descriptors = reply + part, descriptors + list(more)
        # The entries end with the last copy of this descriptor.
        if descriptors:
            if self.proof is not None:
                os.close(self.proof)
            self.proof = descriptors[0]
            os.set_inheritable(self.proof, False)
        answer = json.loads(reply)
        if not answer["ok"]:
            print(f"{request['name']}: {answer['message']}", file=sys.stderr)


class Web(ctypes.Structure):
    _fields_ = [("requests", ctypes.c_uint64), ("connections", ctypes.c_uint32)]


def main():
    memory = Memory()
    site = memory.show(f"{sys.argv[1]}/site", Web, {"requests": "counter"})
    other = memory.show(f"{sys.argv[1]}/other", Web, {"requests": "counter"})
    for _ in sys.stdin:
        site.requests += 1
        other.requests += 2
        site.connections = 7
        print(site.requests, flush=True)


if __name__ == "__main__":
    main()
