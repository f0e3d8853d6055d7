# SPDX-License-Identifier: GPL-2.0-only
"""The programs of a schedule, all real and on this machine: servers of ZooKeeper, invented hosts,
and members, each of which is a dart-controller and a dart-members-zookeeper."""
import json
import os
import signal
import socket
import subprocess
import time

import programs
from relay import Relay

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HELPERS = os.path.join(TOP, ".output/selftests/helpers")
CONTROLLER = os.path.join(TOP, ".output/bin/dart-controller")
WRITER = os.path.join(TOP, ".output/bin/dart-members-zookeeper")
JAR = "/usr/share/java/zookeeper.jar"
TICK_MS = 200
# Controllers have groups of their own, by which nftables knows their packets.
FIRST_GROUP = 64000
TABLE = "dart_controllers"


def missing():
    """The reason why the test cannot run here, or nothing."""
    for path in (CONTROLLER, WRITER, f"{HELPERS}/fleet_hosts", f"{HELPERS}/tls_files"):
        if not os.path.exists(path):
            return f"{path} is not built"
    if not os.path.exists(JAR):
        return "zookeeper is not installed"
    return ""


def nft(text):
    subprocess.run(["nft", "-f", "-"], input=text, text=True, check=True)


def soon(condition, seconds=60):
    """Waits until @condition() is true; False if that takes too long."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def tail(path, count=15):
    with open(path, encoding="utf-8", errors="replace") as log:
        return "\n".join(log.read().splitlines()[-count:])


def as_duration(interval_ms):
    """As agents write it in names of entries."""
    return f"{interval_ms}ms" if interval_ms % 1000 else f"{interval_ms // 1000}s"


class Process:
    """A program that a schedule kills, stops and starts again, with a log."""

    def __init__(self, log):
        self.log = log
        self.process = None

    def run(self, command, **options):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stderr=log, **options)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def send(self, number):
        if self.is_running():
            self.process.send_signal(number)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()


class Server(Process):
    """One server of ZooKeeper."""

    def __init__(self, directory, number, ports):
        self.directory = f"{directory}/server-{number}"
        os.makedirs(self.directory)
        super().__init__(f"{self.directory}/log")
        self.port = ports[number - 1][0]
        with open(f"{self.directory}/myid", "w", encoding="ascii") as file:
            file.write(str(number))
        lines = [f"tickTime={TICK_MS}", "initLimit=50", "syncLimit=10",
                 f"dataDir={self.directory}", f"clientPort={self.port}",
                 "clientPortAddress=127.0.0.1", "minSessionTimeout=400",
                 "maxSessionTimeout=600000", "maxClientCnxns=0", "admin.enableServer=false",
                 "4lw.commands.whitelist=srvr"]
        lines += [f"server.{i}=127.0.0.1:{peer}:{election}"
                  for i, (_, peer, election) in enumerate(ports, 1)]
        with open(f"{self.directory}/zoo.cfg", "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")

    def start(self):
        self.run(["java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", JAR,
                  "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                  f"{self.directory}/zoo.cfg"], stdout=subprocess.DEVNULL)

    def mode(self):
        """leader, follower, or nothing while it takes no requests."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.settimeout(1)
                connection.sendall(b"srvr")
                answer = b""
                while more := connection.recv(4096):
                    answer += more
        except OSError:
            return ""
        return answer.partition(b"Mode: ")[2].split(b"\n")[0].decode()


class Servers:
    def __init__(self, directory):
        ports = [[programs.free_ports() for _ in range(3)] for _ in range(3)]
        self.all = [Server(directory, i, ports) for i in (1, 2, 3)]

    def start(self):
        for server in self.all:
            server.start()

    def have_quorum(self):
        return sorted(server.mode() for server in self.all)[-2:] in (
            ["follower", "leader"],)

    def stop(self):
        for server in self.all:
            server.kill()


class Hosts(Process):
    """Invented hosts, all good ones, and their log of answers."""

    def __init__(self, directory, count, interval_ms):
        super().__init__(f"{directory}/hosts-log")
        self.directory = directory
        self.count = count
        self.interval_ms = interval_ms
        self.first_port = 0

    def start(self):
        subprocess.run([f"{HELPERS}/tls_files", self.directory, "127.0.0.1", "controller"],
                       check=True, stdout=subprocess.DEVNULL)
        self.first_port = programs.free_ports(self.count)
        self.run([f"{HELPERS}/fleet_hosts", self.directory, str(self.first_port),
                  str(self.count), "0", "1", str(self.interval_ms)], stdout=subprocess.PIPE)
        if self.process.stdout.readline() != b"ready\n":
            self.kill()
            return tail(self.log)
        targets = [self.name(host) for host in range(self.count)]
        with open(f"{self.directory}/agents.json", "w", encoding="ascii") as file:
            json.dump([{"targets": targets}], file)
        return ""

    def name(self, host):
        return f"127.0.0.1:{self.first_port + host}"

    def number(self, name):
        return int(name.rpartition(":")[2]) - self.first_port

    def hold(self):
        """From now on no host answers; the log is complete."""
        self.send(signal.SIGUSR1)

        def is_held():
            with open(f"{self.directory}/log", "rb") as file:
                file.seek(max(0, os.path.getsize(f"{self.directory}/log") - 5))
                return file.read() == b"held\n"
        return soon(is_held)

    def answers(self):
        """[{update: ms}] of all hosts."""
        found = [{} for _ in range(self.count)]
        with open(f"{self.directory}/log", encoding="ascii") as file:
            for line in file:
                if line.startswith("answer "):
                    _, host, _, update, at = line.split()
                    found[int(host)][int(update)] = int(at) // 1000000
        return found


class Member:
    """A host with a controller, the program that writes its list, and its way to ZooKeeper."""

    def __init__(self, directory, number, settings, servers, receivers):
        self.directory = directory
        self.number = number
        self.socket = f"{directory}/socket-{number}"
        self.list = f"{directory}/members-{number}.json"
        self.can_be_cut = settings.can_cut_hosts
        self.chain = f"member_{number}"
        self.relay = Relay([server.port for server in servers.all])
        self.controller = Process(f"{directory}/controller-log-{number}")
        self.writer = Process(f"{directory}/writer-log-{number}")
        controller = {
            "interval": f"{settings.interval_ms}ms", "transport": "tcp",
            "entries": [f"fleet:row+{as_duration(settings.interval_ms)}"],
            "tls": {"certificate": f"{directory}/controller.pem",
                    "key": f"{directory}/controller.key",
                    "authorities": f"{directory}/authority.pem"},
            "shard": {"member": number, "members_file": self.list, "replication": 2,
                      "standby": f"{settings.standby_ms}ms",
                      "handover": f"{settings.session_ms}ms"},
            "replica": str(number),
            "sources": [{"file_sd": f"{directory}/agents.json"}],
            "outputs": [self.output(receiver, settings) for receiver in receivers],
        }
        writer = {"servers": self.relay.addresses(), "member": number,
                  "session": f"{settings.session_ms}ms", "file": self.list,
                  "controller": self.socket, "unreachable": settings.unreachable}
        for name, text in (("controller", controller), ("writer", writer)):
            with open(f"{directory}/{name}-{number}.yaml", "w", encoding="ascii") as file:
                json.dump(text, file)

    def output(self, receiver, settings):
        """A receiver that thins out does not see which controller sent a sample."""
        spool = f"{self.directory}/spool-{self.number}-{receiver.program}"
        os.makedirs(spool)
        output = {receiver.kind: receiver.url + receiver.write_path, "version": receiver.version,
                  "delay": f"{settings.delay_ms}ms", "timeout": "5s", "spool": spool}
        if "dedup_ms" in receiver.options:
            output["write_relabel_configs"] = [{"regex": "replica", "action": "labeldrop"}]
        return output

    def start_controller(self):
        self.controller.run([CONTROLLER, "--config",
                             f"{self.directory}/controller-{self.number}.yaml",
                             "--socket", self.socket], stdout=subprocess.DEVNULL,
                            group=FIRST_GROUP + self.number if self.can_be_cut else None)

    def cut_from_hosts(self, hosts, only_half, silently):
        """From now on the packets of its controller to hosts are lost, or refused."""
        last = hosts.first_port + hosts.count // (2 if only_half else 1) - 1
        verdict = "drop" if silently else "reject with tcp reset"
        nft(f"add table inet {TABLE}\n"
            f"add chain inet {TABLE} {self.chain} {{ type filter hook output priority 0; }}\n"
            f"add rule inet {TABLE} {self.chain} meta skgid {FIRST_GROUP + self.number}"
            f" tcp dport {hosts.first_port}-{last} {verdict}\n")

    def reach_hosts(self):
        nft(f"flush chain inet {TABLE} {self.chain}\ndelete chain inet {TABLE} {self.chain}\n")

    def start_writer(self):
        self.writer.run([WRITER, "--config", f"{self.directory}/writer-{self.number}.yaml"])

    def start(self):
        if not self.controller.is_running():
            self.start_controller()
        if not self.writer.is_running():
            self.start_writer()

    def status(self):
        """Nothing if it does not answer."""
        try:
            answer = subprocess.run([CONTROLLER, "status", "-j", "--socket", self.socket],
                                    capture_output=True, timeout=5, check=True)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return {}
        return json.loads(answer.stdout)

    def stop(self):
        self.relay.stop()
        self.writer.kill()
        self.controller.kill()
