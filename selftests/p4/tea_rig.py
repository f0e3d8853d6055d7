# SPDX-License-Identifier: GPL-2.0-only
"""A P4 switch with two table servers in virtual machines, to measure lookups.

    host 1, host 2 (here) -- switch -- ports 3 and 4 -- bridge -- machines: main, other

Only a bridge lies between a port and its server; it passes the frames of server 0,
main, to port 3, and the frames of server 1, other, to port 4.
"""

import atexit
import json
import random
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import generate
import packets
from functions import (OUT, SERVERS, UP, Function, for_switch, tunnelled)
from loads import Load
from lookups import (ACK, READ, READ_RESPONSE, SWITCH_IP, SWITCH_MAC,
                     Geometry, Server, mac, rdma)
from switch import ETH_P_ALL, SOURCE, enter_namespace
from table_machine import Machine

BRIDGE = "network"
OTHER_MAC = "52:54:00:00:00:03"  # of the switch, as server 1 knows it
READER_IP = "10.0.0.9"  # a requester without a switch
ENTRIES = 20000
TIMEOUT = 300000  # microseconds: the emulated machines are slow at times
PLACES = ("", "on other ")  # of servers, in front of a command
USED = 500  # keys in a measurement
SECONDS = 7200  # more than all measurements take on a busy machine

# Lengths of keys and of values.
SIZES = {"nat": (13, 7), "balancer": (13, 6), "firewall": (13, 1),
         "gateway": (7, 7)}
OPEN = b"\3"  # a state of the firewall


def note(text):
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def ip(*commands, program="ip"):
    subprocess.run([program, "-batch", "-"], check=True,
                   input="\n".join(commands).encode())


def table_of(name):
    """A table whose entries need no schema."""
    return f"{name}-entries"


def entries_of(name, server=0):
    """Entries by key, with the values of one server."""
    dice, found = random.Random(18), {}
    while len(found) < ENTRIES:
        if name == "gateway":
            key = dice.randbytes(7)
        else:
            key = generate.flow(b"\x0a" + dice.randbytes(3),
                                b"\xc0\x00\x02" + dice.randbytes(1),
                                dice.randrange(1024, 2**16), 443, 17)
        address = b"\xc6\x33\x64" + bytes([server])
        found[key] = {"nat": address + b"\x1f\x90\0", "firewall": OPEN,
                      "balancer": address + b"\x1f\x90",
                      "gateway": address + b"\0\0\5"}[name]
    return found


def server_of(export, number, port, switch=SWITCH_IP):
    """The server that a table was exported from, for a switch."""
    table, = json.loads(export)["tables"]
    there, = table["servers"]
    requester, = (one for one in there["requesters"]
                  if one["address"] == switch)
    return Server(number, port, Geometry(
        table["rows_log2"], table["cells"], table["key_length"],
        table["value_length"], table["packet_length"]),
        ip=requester["server"], mac=requester["mac"], qpn=requester["qpn"],
        rkey=requester["rkey"], base=int(requester["base"], 0),
        first_psn=requester["first_psn"], epoch=there["epoch"])


def stash_of(export):
    """Keys and values of the stash, as in the export."""
    table, = json.loads(export)["tables"]
    there, = table["servers"]
    return [(entry["key"], entry["value"]) for entry in there["stash"]]


def packet_of(name, key, length):
    """A packet to look up, of the given bytes including the Ethernet header."""
    if name == "gateway":
        packet = tunnelled(int.from_bytes(key[:3], "big"),
                           socket.inet_ntoa(key[3:]), bytes(length - 92),
                           checksum=0)
    else:
        packet = for_switch(key, bytes(length - 42), udp={"chksum": 0})
    assert len(packet) == length, len(packet)
    return packet


def forwarded(packet, port=OUT):
    """The same packet, to a host: the switch only forwards it."""
    return mac(packets.host(port)) + packet[6:]


class Reads:
    """READs of a queue pair from here, without the switch."""

    def __init__(self, server):
        self.server, self.psn = server, server.first_psn
        link, = json.loads(subprocess.check_output(
            ["ip", "-json", "link", "show", BRIDGE]))
        self.mac = link["address"]
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.bind((BRIDGE, ETH_P_ALL))
        self.socket.settimeout(1)

    def nanoseconds(self, length, count):
        """Times of READs, one after the other."""
        server, took = self.server, []
        for _ in range(count):
            frame = rdma((self.mac, READER_IP), (server.mac, server.ip),
                         server.qpn, READ, self.psn,
                         struct.pack(">QII", server.base, server.rkey,
                                     length))
            begin = time.perf_counter_ns()
            self.socket.send(frame)
            while not self._answers(self.socket.recv(65536), length):
                pass
            took.append(time.perf_counter_ns() - begin)
            self.psn = (self.psn + 1) % 2**24
        return took

    def _answers(self, frame, length):
        if frame[6:12] != mac(self.server.mac) or frame[36:38] != b"\x12\xb7":
            return False
        opcode, psn = frame[42], int.from_bytes(frame[51:54], "big")
        assert (opcode, frame[54]) == (READ_RESPONSE, ACK), frame.hex()
        assert len(frame) == 58 + length + -length % 4 + 4, len(frame)
        return psn == self.psn


class Rig:
    """The machines, and one switch at a time."""

    def __init__(self):
        self.directory = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, self.directory)
        self.switch, self.servers, self.load = None, [], None
        self.tables = set()
        enter_namespace()
        note("machines boot")
        self.machine = Machine(SERVERS[0], BRIDGE, ("other",),
                               seconds=SECONDS)
        atexit.register(self.machine.process.kill)
        links = []
        for port, there in zip(SERVERS, (SWITCH_MAC, OTHER_MAC)):
            ip(f"link set host{port} master {BRIDGE}")
            # Packets for hosts 3 and 4 end in the bridge, which returns none.
            links += [f"link set dev host{port} learning off flood off",
                      *(f"fdb add {address} dev host{port} master static"
                        for address in (there, packets.host(port)))]
        ip(*links, program="bridge")
        self._neighbour("on other ", SWITCH_IP, OTHER_MAC)
        for place in PLACES:
            self.machine.do(f"{place}host_up")

    def _neighbour(self, place, address, there):
        for command in ("ip link set eth0 mtu 9000",
                        f"ip route replace {address} dev eth0",
                        f"ip neighbour replace {address} lladdr {there} "
                        "dev eth0"):
            self.machine.do(place + command)

    def table(self, name, server=0):
        """Makes a table in a server, and returns its entries."""
        place, values = PLACES[server], entries_of(name, server)
        if (name, server) in self.tables:
            return values
        self.tables.add((name, server))
        path = Path(self.directory) / f"{name}{server}.csv"
        path.write_text("key,value\n" + "".join(
            f"{key.hex()},{value.hex()}\n" for key, value in values.items()),
            encoding="ascii")
        key, value = SIZES[name]
        there = table_of(name)
        for command in (f"table create {there} --entries {ENTRIES} "
                        f"--key {key} --value {value}",
                        f"table import {there} {path}",
                        f"requester add {there} {SWITCH_IP}"):
            self.machine.do(f"{place}dartctl {command}")
        return values

    def export(self, name, server=0):
        return self.machine.do(f"{PLACES[server]}dartctl table export "
                               f"{table_of(name)}")

    def reads(self, name):
        """READs of a table in server 0."""
        link, = json.loads(subprocess.check_output(
            ["ip", "-json", "link", "show", BRIDGE]))
        self._neighbour("", READER_IP, link["address"])
        self.machine.do(f"dartctl requester add {table_of(name)} "
                        f"{READER_IP}")
        return Reads(server_of(self.export(name), 0, SERVERS[0], READER_IP))

    def run(self, name, servers=1):
        """Starts a switch with a program whose lookup table lies in the given number of servers."""
        if self.switch:
            self.switch.end()
        note(f"switch: {name}")
        self.switch = Function(name, timeout=TIMEOUT)
        for port in SERVERS:
            self.switch.hosts[port].close()
        self.load = Load(self.switch.hosts[SOURCE], self.switch.hosts[OUT])
        # Another switch may have used the queue pairs before.
        for place in PLACES[:servers]:
            self.machine.do(f"{place}dartctl requester renew "
                            f"{table_of(name)} {SWITCH_IP}")
        exports = [self.export(name, number) for number in range(servers)]
        self.servers = [server_of(export, number, SERVERS[number])
                        for number, export in enumerate(exports)]
        for server in self.servers:
            self.switch.add(server)
        for key, value in stash_of(exports[0]):
            self.switch.do("table_add tea_stash tea_stashed", f"0x{key}",
                           "=>", f"0x{value}")
        for share in range(1024):
            self.switch.assign(share, self.servers[0], self.servers[-1])

    def cache(self, values):
        for key, value in values.items():
            self.switch.do("table_add tea_cache tea_cached", f"0x{key.hex()}",
                           "=>", f"0x{value.hex()}")

    def calm(self, packet):
        """Sends packets until no request is outstanding, and servers are up."""
        for _ in range(100):
            waits = [self.switch.get("outstanding", server) or
                     self.switch.get("state", server) != UP
                     for server in self.servers]
            if not any(waits):
                return
            self.load.one_by_one([packet] * 2)
        raise TimeoutError("requests are outstanding, or a server is silent")

    def keys(self, values):
        """Keys in random order, and keys of consecutive rows."""
        by_row = sorted(values, key=self.servers[0].geometry.home)
        return random.Random(1).sample(list(values), USED), by_row[:USED]
