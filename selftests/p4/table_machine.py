# SPDX-License-Identifier: GPL-2.0-only
"""A virtual machine that serves the lookup table of a switch, and obeys commands."""

import socket
import subprocess
from pathlib import Path

from needs import TREE

from lookups import SWITCH_IP, SWITCH_MAC
from switch import SECONDS, THRIFT_PORT

ADDRESS = "10.77.0.100"  # of this host, for the first machine
CONTROL = 7000  # a port
BOOT = 400  # seconds


class Machine:
    """It takes commands over TCP, beyond the interface "machines"; it is the server of @port.

    @bridge: made for that interface, and for interfaces added later. @peers: more
    machines; "on NAME COMMAND" runs a command there. @number: not 0 for a machine with
    another interface and another network, 10.(77 + @number). @seconds: the test ends it
    then.
    """

    def __init__(self, port, bridge=None, peers=(), number=0, seconds=1500):
        self.port, self.bridge = port, bridge
        tap, own = "machines", ()
        address = ADDRESS
        if number:
            tap += str(number)
            network = f"10.{77 + number}.0."
            address, own = network + "100", (network + "1",)
        commands = [f"tuntap add dev {tap} mode tap",
                    f"link set {tap} mtu 9000 up",
                    f"link set host{port} mtu 9000",
                    f"link set port{port} mtu 9000"]
        # A bridge that snoops sends IGMP reports, and QEMU 7.2 may crash when a frame
        # comes while it starts: it does not listen yet where its hub passes it on.
        if bridge:
            commands += [f"link add {bridge} type bridge mcast_snooping 0",
                         f"link set {tap} master {bridge}",
                         f"link set {bridge} mtu 9000 up"]
        commands.append(f"address add {address}/24 dev {bridge or tap}")
        subprocess.run(["ip", "-batch", "-"], check=True,
                       input="\n".join(commands).encode())
        listener = socket.create_server((address, CONTROL))
        listener.settimeout(1)
        self.process = subprocess.Popen(
            [TREE / "selftests/qemu/run", "--tap", tap, "--timeout",
             str(seconds), *(word for peer in peers for word in ("--peer", peer)),
             "--", TREE / "selftests/p4/tea_to_table_in_guest",
             str(CONTROL), SWITCH_IP, SWITCH_MAC, *own],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.connection = self._accept(listener).makefile("rwb", buffering=0)

    def _accept(self, listener):
        """The connection of the machine, unless it ends before."""
        for _ in range(BOOT):
            try:
                return listener.accept()[0]
            except TimeoutError:
                if self.process.poll() is not None:
                    break
        self.process.terminate()
        raise TimeoutError(self.process.communicate()[0].decode())

    def do(self, command):
        """The output of a command, which must succeed."""
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

    def attach(self):
        """Connects the bridge with the port, by a cable without mishaps."""
        subprocess.run(["ip", "link", "set", f"host{self.port}", "master",
                        self.bridge], check=True)

    def set_switch(self, table, directory, *options):
        """Sets the switch up from the server's export, as dartctl does."""
        path = directory / "tables.json"
        path.write_text(self.do(f"dartctl table export {table}"),
                        encoding="utf-8")
        done = subprocess.run(
            [TREE / ".output/bin/dartctl", "switch", "push", "--target",
             "bmv2", "--thrift", f"127.0.0.1:{THRIFT_PORT}", *options, path],
            capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def machine_itself(self):
        """The process that is the whole machine without peers."""
        parents, found = {}, []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                status = (process / "stat").read_text(encoding="utf-8")
                command = (process / "cmdline").read_bytes()
            except (FileNotFoundError, ProcessLookupError):  # it ended
                continue
            number = int(process.name)
            parents[number] = int(status.rpartition(") ")[2].split()[1])
            if command.startswith(b"qemu-system"):
                found.append(number)
        itself, = (number for number in found
                   if self.process.pid in self._line(number, parents))
        return itself

    @staticmethod
    def _line(number, parents):
        """The parent of a process, its parent, and so on."""
        while number := parents.get(number):
            yield number

    def end(self):
        """Ends the machine, and fails if its kernel complained."""
        self.connection.write(b"end\n")
        output, _ = self.process.communicate(timeout=SECONDS * 6)
        assert self.process.returncode == 0, output.decode()
