# SPDX-License-Identifier: GPL-2.0-only
"""Virtual machines with tables, beside a P4 switch."""

import json
import socket
import subprocess

from needs import TREE
from lookups import SWITCH_IP, SWITCH_MAC, Geometry, Server
from switch import SECONDS

CONTROL = 7000  # a port
BOOT = 400  # seconds
LIFE = 1500
TAP = "machines"  # the interface to all machines
ADDRESS = "10.77.0.100"  # of this host


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
    """Keys and values of the stash, as the export has them."""
    table, = json.loads(export)["tables"]
    there, = table["servers"]
    return [(entry["key"], entry["value"]) for entry in there["stash"]]


class Machine:
    """The first machine; it does what it is told over TCP.

    @bridge: a bridge that connects the machines, or None.  @peers: names of
    further machines; "on NAME COMMAND" does something there.
    """

    def __init__(self, bridge=None, peers=()):
        commands = [f"tuntap add dev {TAP} mode tap",
                    f"link set {TAP} mtu 9000 up"]
        if bridge:
            commands += [f"link add {bridge} type bridge",
                         f"link set {TAP} master {bridge}",
                         f"link set {bridge} mtu 9000 up"]
        commands.append(f"address add {ADDRESS}/24 dev {bridge or TAP}")
        subprocess.run(["ip", "-batch", "-"], check=True,
                       input="\n".join(commands).encode())
        listener = socket.create_server((ADDRESS, CONTROL))
        listener.settimeout(BOOT)
        self.process = subprocess.Popen(
            [TREE / "selftests/qemu/run", "--tap", TAP, "--timeout", str(LIFE),
             *(word for peer in peers for word in ("--peer", peer)), "--",
             TREE / "selftests/p4/tea_to_table_in_guest", str(CONTROL),
             SWITCH_IP, SWITCH_MAC],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.connection = listener.accept()[0].makefile("rwb", buffering=0)

    def do(self, command):
        """The output of a command, which has to succeed."""
        self.begin(command)
        return self.answer(command)

    def begin(self, command):
        self.connection.write(command.encode() + b"\n")

    def answer(self, command=""):
        status, lines = map(int, self.connection.readline().split())
        output = b"".join(self.connection.readline()
                          for _ in range(lines)).decode()
        assert status == 0, f"{command}: {status}\n{output}"
        return output

    def end(self):
        """Ends the machine, and fails if its kernel complained."""
        self.connection.write(b"end\n")
        output, _ = self.process.communicate(timeout=SECONDS * 6)
        assert self.process.returncode == 0, output.decode()
