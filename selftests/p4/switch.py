# SPDX-License-Identifier: GPL-2.0-only
"""The program in simple_switch, in a separate network namespace.

This process is the host at each port.  Switch and namespace end with it and are not
visible outside, so tests can run in parallel.
"""

import atexit
import ctypes
import ipaddress
import json
import os
import re
import select
import socket
import struct
import subprocess
import sys
from functools import cache, partial
from pathlib import Path

import generate
import packets
from needs import PROGRAMS

CLONE_NEWNET = 0x40000000
ETH_P_ALL = 3
SO_RCVBUFFORCE = 33
SOL_PACKET = 263
PACKET_AUXDATA = 8  # struct tpacket_auxdata
TP_STATUS_VLAN_VALID = 1 << 4
ETHERTYPE_FENCE = 0x88B5  # for experiments (IEEE 802)
THRIFT_PORT = 9090
SECONDS = 120  # for any answer, on a busy machine
BATCH = 16  # frames at once: simple_switch loses some of 32
PORTS = (1, 2, 3, 4)
SOURCE = 1  # the port where packets arrive
COLLECTORS = 3  # the port of collectors, by default
PROMPT = b"RuntimeCmd: "
SILENCE = {port: [] for port in PORTS}

# shared/outcome.p4
OUTCOMES = ("report", "other", "truncated", "malformed", "incomplete",
            "anonymous", "unassigned", "unchanged", "damaged",
            "tagged", "extensions", "answer", "forged")


def polynomial(field):
    """The polynomial of the CRC in a field; None if the field is not ours."""
    found = re.search(r"(?:^|_)(?:(slot|checksum)(\d)|(share))(?:_\d+)?$",
                      field)
    if not found:
        return None
    if found[3]:
        return generate.SHARE
    return {"slot": generate.SLOTS,
            "checksum": generate.CHECKSUMS}[found[1]][int(found[2])]


def polynomials(program, polynomial_of=polynomial):
    """The polynomials of all custom CRCs in a compiled program, by calculation."""
    custom = {calculation["name"] for calculation in program["calculations"]
              if calculation["algo"] == "crc32_custom"}
    found = {}
    for action in program["actions"]:
        for primitive in action["primitives"]:
            if primitive["op"] != "modify_field_with_hash_based_offset":
                continue
            field, _, calculation, _ = (
                parameter["value"] for parameter in primitive["parameters"])
            if calculation in custom:
                low = polynomial_of(field[-1])
                assert low is not None, field
                assert found.setdefault(calculation, low) == low, calculation
    assert found.keys() == custom, custom - found.keys()
    return found


def entry_of(**changes):
    """The collector of the golden vectors, with @changes."""
    return generate.vector(bytes(13), bytes(20), **changes)["collector"]


def report(entry, key, value, copy=0, number=0):
    """The report number @number to a collector."""
    return bytes.fromhex(generate.vector(key, value, number, copy=copy,
                                         **entry)["frame"])


def share_of(key):
    return generate.crc(generate.SHARE, key) % 1024


class CommandLine:
    """One simple_switch_CLI process for all commands."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "simple_switch_CLI",
             "--thrift-port", str(THRIFT_PORT)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(self.process.kill)  # it complains at length when the switch ends
        self._answer()

    def _answer(self):
        answer = b""
        while not answer.endswith(PROMPT):
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                raise EOFError(f"simple_switch_CLI: {answer.decode()}")
            answer += part
        return answer[:-len(PROMPT)].decode()

    def do(self, *words):
        """The answer to a command; a refusal raises ValueError."""
        command = " ".join(map(str, words))
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()
        answer = self._answer()
        if re.search(r"^(Invalid|Error|\*\*\*)", answer, re.MULTILINE):
            raise ValueError(f"{command}: {answer}")
        return answer


@cache
def enter_namespace():
    """Once, for all programs that run one after the other."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "no network namespace")
    # Without IPv6 only the test sends packets.
    ipv6 = Path("/proc/sys/net/ipv6/conf/default/disable_ipv6")
    if ipv6.exists():
        ipv6.write_text("1", encoding="ascii")
    commands = ["link set lo up"]
    for port in PORTS:
        commands += [f"link add host{port} mtu 9000 type veth "
                     f"peer name port{port} mtu 9000",
                     f"link set host{port} up", f"link set port{port} up"]
    subprocess.run(["ip", "-batch", "-"], input="\n".join(commands).encode(),
                   check=True)


def host_socket(port):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 2**22)
    sock.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    sock.bind((f"host{port}", ETH_P_ALL))
    sock.settimeout(SECONDS)
    return sock


def receive(sock):
    """The next frame, with the VLAN tag that the kernel takes out of it."""
    frame, ancillary, _, _ = sock.recvmsg(65536, socket.CMSG_SPACE(20))
    for level, kind, data in ancillary:
        if level == SOL_PACKET and kind == PACKET_AUXDATA:
            status, tag, ethertype = struct.unpack("=I12xHH", data)
            if status & TP_STATUS_VLAN_VALID:
                return (frame[:12] + struct.pack("!HH", ethertype, tag) +
                        frame[12:])
    return frame


class Running:
    """A running program. Host n, packets.host(n), is at port n."""

    options = ()  # more options of simple_switch

    def __init__(self, name):
        enter_namespace()
        self.hosts = {port: host_socket(port) for port in PORTS}
        self.fences = 0
        self.before = {}
        self.program = PROGRAMS / f"{name}.json"
        self._start()
        self.command_line = CommandLine()
        for port in PORTS:
            self.do("table_add forward forward_to", packets.host(port), "=>",
                    port)
            self.do("mirroring_add", 1 + port, port)
        self.settle()

    def _start(self):
        interfaces = [argument for port in PORTS
                      for argument in ("-i", f"{port}@port{port}")]
        # simple_switch looks for interfaces in sysfs, which shows those of the
        # namespace that mounted it.
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "sh",
             "-c", 'mount -t sysfs sysfs /sys && exec simple_switch "$@"',
             "sh", *interfaces, "--thrift-port", str(THRIFT_PORT),
             "--device-id", str(os.getpid()), *self.options,
             str(self.program)],
            stdout=sys.stderr)
        # Its end is an event to wait for; its listening is not.
        end = select.poll()
        end.register(os.pidfd_open(self.process.pid), select.POLLIN)
        for _ in range(SECONDS * 50):
            try:
                socket.create_connection(("127.0.0.1", THRIFT_PORT)).close()
                return
            except ConnectionRefusedError:
                if end.poll(20):
                    raise RuntimeError("simple_switch ended early") from None
        raise TimeoutError("simple_switch does not listen in time")

    def do(self, *words):
        return self.command_line.do(*words)

    def end(self):
        """Leaves the ports to another program."""
        for process in (self.command_line.process, self.process):
            process.kill()
            process.wait()
        for host in self.hosts.values():
            host.close()

    def _fence(self, port, source):
        """Sends a host a unique frame from another host."""
        self.fences += 1
        fence = (bytes.fromhex(packets.host(port).replace(":", "")) +
                 bytes(6) + ETHERTYPE_FENCE.to_bytes(2, "big") +
                 self.fences.to_bytes(46, "big"))
        self.hosts[source].send(fence)
        return fence

    def settle(self, source=SOURCE):
        """All frames that hosts received, by port, when none is on its way.

        @source: the origin of the last frames.  Frames of a port do not overtake each
        other, and a clone is in the queue of its port before its original leaves.  So
        another frame may follow a frame that leaves, and none is left after a round
        without frames.
        """
        frames = {port: [] for port in PORTS}
        count = -1
        while count != sum(map(len, frames.values())):
            count = sum(map(len, frames.values()))
            for port, fence in [(port, self._fence(port, source))
                                for port in PORTS]:
                frames[port] += iter(partial(receive, self.hosts[port]),
                                     fence)
        return frames

    def send(self, *frames, source=SOURCE):
        """The frames that leave when these arrive from a host, by port."""
        got = {port: [] for port in PORTS}
        for start in range(0, len(frames), BATCH):
            for frame in frames[start:start + BATCH]:
                self.hosts[source].send(frame)
            for port, there in self.settle(source).items():
                got[port] += there
        return got

    def set_crc(self, calculation, low):
        self.do("set_crc32_parameters", calculation, hex(low), "0xffffffff",
                "0xffffffff", "true", "true")

    def counter(self, name, index):
        answer = self.do("counter_read", name, index)
        return int(re.search(r"(\d+) packets", answer)[1])

    def changes(self, name, outcomes):
        """Counts since the last call, by outcome; "other" without fences."""
        now = {outcome: self.counter(name, index)
               for index, outcome in enumerate(outcomes)}
        now["other"] -= self.fences
        changes = {outcome: count - self.before.get(outcome, 0)
                   for outcome, count in now.items()
                   if count != self.before.get(outcome, 0)}
        self.before = now
        return changes


class Switch(Running):
    """Reports telemetry; mirroring session n + 1 leads to port n."""

    def __init__(self, name="dart"):
        super().__init__(name)
        with open(self.program, encoding="utf-8") as file:
            calculations = polynomials(json.load(file))
        for calculation, low in calculations.items():
            self.set_crc(calculation, low)

    def collect(self, entries, shares, all_copies=False):
        """Replaces all collectors by @entries, by number, with an optional "port".

        @shares: numbers of collectors by share.
        """
        reporter = next(iter(entries.values()))
        self.do("table_clear dart_share")
        for table in ("dart_collector", "dart_connection", "dart_answer"):
            self.do("table_clear", table)
        self.do("table_set_default dart_reporter dart_report_from",
                "52:54:00:00:00:02", reporter["reporter"],
                reporter["checksum_bits"] // 8, int(all_copies))
        for number, entry in entries.items():
            self.add_collector(number, entry)
            self.set_psn(number, entry["first_psn"])
            if entry.get("transport") == "rc":
                self.connect(number, entry)
        for share, number in shares.items():
            self.do("table_add dart_share dart_assign", share, "=>", number,
                    1 + entries[number].get("port", COLLECTORS))

    def add_collector(self, number, entry):
        """Adds @entry as collector @number, without its first PSN."""
        self.do("table_add dart_collector dart_send_to", number, "=>",
                entry["mac"], entry["ip"], entry["qpn"], entry["rkey"],
                entry["base"], 2**entry["slots_log2"] - 1,
                entry["redundancy"])

    def connect(self, number, entry):
        """Makes the connection of collector @number a reliable one."""
        self.do("register_write dart_state", number, 0)
        self.do("table_add dart_connection dart_reliable", number, "=>", entry["first_psn"])
        source = int(ipaddress.ip_address(entry["ip"])) << 24 | entry["qpn"]
        self.do("table_add dart_answer dart_answer_of", source, "=>", number,
                1 + entry.get("port", COLLECTORS))

    def register(self, name, index):
        answer = self.do("register_read", name, index)
        return int(answer.split("=")[1])

    def set_psn(self, number, psn):
        self.do("register_write dart_psn", number, psn)

    def sink(self, mode, port=None):
        """Selects the reported paths: "all", "changes", or "none", which keeps INT."""
        if port is None:
            self.do("table_set_default dart_sink", f"dart_sink_{mode}")
        else:
            self.do("table_add dart_sink", f"dart_sink_{mode}", port, "=>")

    def outcomes(self):
        """Counts of packets since the last call, by outcome."""
        return self.changes("dart_packets", OUTCOMES)
