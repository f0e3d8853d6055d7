# SPDX-License-Identifier: GPL-2.0-only
"""A virtual machine that serves the lookup table of a switch; it does what it is told."""

import socket
import subprocess

from needs import TREE

from lookups import SWITCH_IP, SWITCH_MAC
from switch import SECONDS

ADDRESS = "10.77.0.100"  # of this host, for the machine
CONTROL = 7000  # a port
BOOT = 400  # seconds


class Machine:
    """It is told by TCP, and is behind the interface "machines"; the server of @port.

    @bridge: made for that interface, and for those that are added to it.  @peers: more
    machines; "on NAME COMMAND" does something there.
    """

    def __init__(self, port, bridge=None, peers=()):
        commands = ["tuntap add dev machines mode tap",
                    "link set machines mtu 9000 up",
                    f"link set host{port} mtu 9000",
                    f"link set port{port} mtu 9000"]
        if bridge:
            commands += [f"link add {bridge} type bridge",
                         f"link set machines master {bridge}",
                         f"link set {bridge} mtu 9000 up"]
        commands.append(f"address add {ADDRESS}/24 dev {bridge or 'machines'}")
        subprocess.run(["ip", "-batch", "-"], check=True,
                       input="\n".join(commands).encode())
        listener = socket.create_server((ADDRESS, CONTROL))
        listener.settimeout(BOOT)
        self.process = subprocess.Popen(
            [TREE / "selftests/qemu/run", "--tap", "machines", "--timeout",
             "1500", *(word for peer in peers for word in ("--peer", peer)),
             "--", TREE / "selftests/p4/tea_to_table_in_guest",
             str(CONTROL), SWITCH_IP, SWITCH_MAC],
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
