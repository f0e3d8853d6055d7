#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs that gather find 40 network namespaces, their counters and devices; namespaces come
and go meanwhile."""
import ctypes
import fcntl
import os
import re
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))

from answers import QUESTIONS_MAX, Asker, Tap, sums  # noqa: E402

NAMESPACES = 40
# Each question has a run of its own, which uses the address that an earlier run found.
RUN_EACH = ("--budget", "1")
CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS = 0x8914
IFF_UP = 1
RTMGRP_LINK = 1
RTM_DELLINK = 17
# Sources with the prefix of their constants, in C.
MIBS = {"ip": "IPSTATS_MIB_", "ip6": "IPSTATS_MIB_", "tcp": "TCP_MIB_", "tcpext": "LINUX_MIB_",
        "udp": "UDP_MIB_", "udp6": "UDP_MIB_", "icmp": "ICMP_MIB_", "icmp6": "ICMP6_MIB_"}
# Names of the kernel's files that differ from its constants.
RENAMED = {"INRECEIVES": "INPKTS", "FORWDATAGRAMS": "OUTFORWDATAGRAMS", "OUTTRANSMITS": "OUTPKTS",
           "INCSUMERRORS": "CSUMERRORS"}

libc = ctypes.CDLL(None, use_errno=True)


def kernel_enums():
    """The values of all constants of the kernel that have a name."""
    text = subprocess.run(["bpftool", "btf", "dump", "file", "/sys/kernel/btf/vmlinux",
                           "format", "c"], check=True, capture_output=True, text=True).stdout
    return {name: int(value) for name, value in
            re.findall(r"^\t([A-Z_][A-Za-z0-9_]*) = (\d+),$", text, re.MULTILINE)}


enums = kernel_enums()
tap = Tap()


def call(function, *arguments):
    if function(*arguments):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Namespace:
    """A new network namespace, which a descriptor holds."""

    def __init__(self):
        call(libc.unshare, CLONE_NEWNET)
        self.fd = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self.inode = os.fstat(self.fd).st_ino
        leave()

    def close(self):
        os.close(self.fd)

    def __enter__(self):
        call(libc.setns, self.fd, CLONE_NEWNET)

    def __exit__(self, *unused):
        leave()


home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def leave():
    call(libc.setns, home, CLONE_NEWNET)


def set_up(device):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", device, IFF_UP))


def traffic(datagrams):
    """Datagrams to a closed port, which ICMP refuses, and a TCP connection, on loopback."""
    for family, address in (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"):
        with socket.socket(family, socket.SOCK_DGRAM) as sender:
            for _ in range(datagrams):
                sender.sendto(b"x" * 10, (address, 9))
        with socket.create_server((address, 0), family=family) as server:
            with socket.create_connection(server.getsockname()[:2]) as client:
                client.sendall(b"hello")
                server.accept()[0].close()


def kernel_values(source):
    """The lines of this source in /proc/net of this namespace, with the names of constants."""
    values = {}
    if source in ("ip6", "udp6", "icmp6"):
        prefix = source[:-1].capitalize() + "6"
        for line in open("/proc/thread-self/net/snmp6"):
            name, value = line.split()
            if name.startswith(prefix) and not name.startswith("Icmp6InType"):
                values[name[len(prefix):].upper()] = int(value)
    else:
        prefix = {"ip": "Ip:", "tcp": "Tcp:", "udp": "Udp:", "icmp": "Icmp:",
                  "tcpext": "TcpExt:"}[source]
        file = "netstat" if source == "tcpext" else "snmp"
        lines = [line.split()[1:] for line in open(f"/proc/thread-self/net/{file}")
                 if line.startswith(prefix)]
        values = {name.upper(): int(value) for name, value in zip(*lines)}
    if source == "icmp":    # The others are not counted per CPU.
        values = {name: value for name, value in values.items() if name.endswith(("MSGS", "ERRORS"))}
    found = {}
    for name, value in values.items():
        for candidate in name, RENAMED.get(name):
            if candidate and MIBS[source] + candidate in enums:
                found[candidate] = value
                break
    return found


def words_of(source):
    """The number of counters of a source."""
    return enums["__" + MIBS[source] + "MAX"]


def question(source, inode):
    return f"{source},netns={inode},length={8 * words_of(source)}"


def compare(namespaces, source):
    """The number of values that are equal, and those that differ."""
    wanted = []
    for namespace in namespaces:
        with namespace:
            wanted.append(kernel_values(source))
    with Asker("gather/namespaces",
               [question(source, namespace.inode) for namespace in namespaces]) as asker:
        answers = asker.ask()
    equal, wrong = 0, []
    for namespace, values, answer in zip(namespaces, wanted, answers):
        if answer["answer"] != "values":
            wrong.append((namespace.inode, answer["answer"]))
            continue
        words = sums(answer)
        for name, value in values.items():
            # Both signs: MaxConn is -1.
            if words[enums[MIBS[source] + name]] == value & (1 << 64) - 1:
                equal += 1
            elif name not in ("FORWARDING", "DEFAULTTTL", "CURRESTAB"):
                wrong.append((namespace.inode, name, value, words[enums[MIBS[source] + name]]))
    return equal, wrong


def compare_sums(namespace):
    """The program adds up what it copies otherwise: for any number of CPUs, and any words."""
    adds_up = "KF_bpf_rdonly_cast" in enums
    questions = [f"{source},netns={namespace.inode},offset={8 * first},length={8 * count}"
                 for source in MIBS for first in (0, 1)
                 for count in (1, 2, 3, 5, 32, 33, words_of(source) - first)
                 if count <= words_of(source) - first]
    for places in 1, 2, 3, 4, 7, 8, 64:
        with Asker("gather/namespaces", questions + [f"{text},sum=1" for text in questions],
                   "--places", str(places)) as asker:
            answers = asker.ask()
        copies, added = answers[:len(questions)], answers[len(questions):]
        wrong = [(text, sums(copy), answer) for text, copy, answer in zip(questions, copies, added)
                 if len(copy["rows"]) != places or sums(copy) != sums(answer) or
                 len(answer["rows"]) != (1 if adds_up else places)]
        is_all = places < os.cpu_count() or any(sum(sums(answer)) for answer in added)
        tap.check(f"sums over {places} places of CPUs are those of the copies",
                  not wrong and is_all, *wrong[:3])


def listed():
    with Asker("gather/namespaces", ["namespaces"]) as asker:
        return [row["number"] for row in asker.ask()[0]["rows"]]


def compare_walks(namespaces):
    """Runs without time visit some namespaces each, and go on where the last one stopped."""
    inodes = {namespace.inode for namespace in namespaces}
    with Asker("gather/namespaces", ["namespaces"], *RUN_EACH) as asker:
        rows = [row["number"] for row in asker.ask()[0]["rows"]]
        tap.check("several runs list all namespaces, each once", asker.runs > 1 and
                  len(set(rows)) == len(rows) and inodes <= set(rows), asker.runs, rows)
    with Asker("gather/namespaces", [question("udp", namespaces[-1].inode)], *RUN_EACH) as asker:
        answer = asker.ask()[0]
        tap.check("several runs find the newest namespace", asker.runs > 1 and
                  sums(answer)[enums["UDP_MIB_OUTDATAGRAMS"]] > 0, asker.runs, answer)


def compare_all(namespaces):
    for source, least in (("ip", 15), ("ip6", 20), ("tcp", 10), ("tcpext", 80), ("udp", 7),
                          ("udp6", 7), ("icmp", 4), ("icmp6", 4)):
        equal, wrong = compare(namespaces, source)
        tap.check(f"{source}: the counters of {NAMESPACES} namespaces equal those in /proc/net",
                  not wrong and equal >= least * NAMESPACES, f"{equal} equal", *wrong[:10])


def loopback_counts():
    for line in open("/proc/thread-self/net/dev"):
        if line.strip().startswith("lo:"):
            fields = line.split(":")[1].split()
            return int(fields[1]), int(fields[0])    # packets, bytes
    return None


def compare_devices(namespaces):
    with Asker("gather/namespaces", [f"netdev,netns={namespace.inode},ifindex=1,length=16"
                              for namespace in namespaces]) as asker:
        answers = asker.ask()
    if all(answer["answer"] == "absent" for answer in answers):
        tap.check("netdev: the kernel does not tell the type of counters, so there are none", True)
        return
    wrong = []
    for namespace, answer in zip(namespaces, answers):
        with namespace:
            wanted = loopback_counts()
        if answer["answer"] != "values" or tuple(sums(answer)) != wanted:
            wrong.append((namespace.inode, wanted, answer))
    tap.check("netdev: packets and bytes of loopback equal /proc/net/dev", not wrong, *wrong[:3])


def dropped():
    return int(open("/sys/class/net/b0/statistics/rx_dropped").read())


def drop_packets(count):
    """Frames of a protocol that nobody receives, over a pair of devices: the kernel drops them."""
    subprocess.run(["ip", "link", "add", "a0", "type", "veth", "peer", "name", "b0"], check=True)
    for device in b"a0", b"b0":
        set_up(device)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind(("a0", 0))
        # Not before the kernel has noticed the carrier.
        while dropped() < count:
            sender.send(b"\xff" * 6 + b"\x02" * 6 + b"\x88\xb5" + b"x" * 50)


def compare_core():
    drop_packets(7)
    wanted = dropped()
    inode = os.fstat(home).st_ino
    ifindex = socket.if_nametoindex("b0")
    with Asker("gather/namespaces", [f"netdev:core,netns={inode},ifindex={ifindex},length=32",
                              f"netdev:core,netns={inode},ifindex=1,length=32",
                              f"netdev:core,netns={inode},ifindex=77777,length=32"]) as asker:
        answers = asker.ask()
        tap.check("netdev:core: packets that the kernel dropped equal rx_dropped",
                  sums(answers[0])[0] == wanted, wanted, answers[0])
        tap.check("netdev:core: a device that has dropped nothing has zeros",
                  sums(answers[1]) == [0] * 4,
                  answers[1])
        tap.check("netdev:core: a device that does not exist has ended",
                  answers[2]["answer"] == "ended", answers[2])
        subprocess.run(["ip", "link", "del", "a0"], check=True)
        tap.check("netdev:core: a device that was removed has ended",
                  asker.ask()[0]["answer"] == "ended")


def with_traffic(datagrams):
    namespace = Namespace()
    with namespace:
        set_up(b"lo")
        traffic(datagrams)
    return namespace


def end_with_device():
    """Ends a namespace, and waits until the kernel removes its device."""
    namespace = Namespace()
    with namespace:
        subprocess.run(["ip", "link", "add", "inside", "type", "veth", "peer", "name", "outside",
                        "netns", f"/proc/{os.getpid()}/fd/{home}"], check=True)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as events:
        events.bind((0, RTMGRP_LINK))
        namespace.close()
        while True:
            message = events.recv(65536)
            if struct.unpack_from("=IH", message)[1] == RTM_DELLINK and b"outside" in message:
                break


def await_free_numbers():
    """Waits until the kernel has freed the numbers of the namespaces that have ended.

    The kernel cleans namespaces up in batches, one after the other, and frees the numbers of a
    batch after it has removed the devices.  The batch of the second namespace here begins after
    the first device is gone, and with it after the end of any batch before."""
    end_with_device()
    end_with_device()


def kill_and_reuse():
    """Namespaces end, and others get their numbers: none of them answers for the first."""
    # The kernel gives the lowest number.  Lower ones that come free now would be given instead.
    await_free_numbers()
    firsts = [with_traffic(3) for _ in range(30)]
    inodes = [first.inode for first in firsts]
    with Asker("gather/namespaces", [question("udp", inode) for inode in inodes],
               *RUN_EACH) as asker:
        values = [sums(answer) for answer in asker.ask()]
        for first in firsts:
            first.close()
        foreign = []
        while True:
            answers = asker.ask()
            foreign += [answer for answer, words in zip(answers, values)
                        if answer["answer"] != "ended" and sums(answer) != words]
            if foreign or all(answer["answer"] == "ended" for answer in answers):
                break
        tap.check("namespaces that end are told, and keep their values until then", not foreign,
                  *foreign[:3])
        await_free_numbers()
        others = []
        while len(others) < 500 and not any(other.inode in inodes for other in others):
            others.append(Namespace())
        other = others[-1]
        tap.check("the kernel gives the number of one to another namespace", other.inode in inodes,
                  f"of {min(inodes)} to {max(inodes)}: {others[0].inode} to {other.inode}")
        with other:
            set_up(b"lo")
            traffic(11)
        tap.check("the other namespace does not answer for the first",
                  all(answer["answer"] == "ended" for answer in asker.ask()))
        with Asker("gather/namespaces", [question("udp", other.inode)]) as fresh:
            answer = fresh.ask()[0]
            tap.check("questions about the other namespace have its values",
                      answer["answer"] == "values" and
                      sums(answer)[enums["UDP_MIB_OUTDATAGRAMS"]] == 11, answer)
        for other in others:
            other.close()


def churn(namespaces, rounds):
    """While another process makes and ends namespaces, all others answer with the same values."""
    ready, tell = os.pipe()
    child = os.fork()
    if not child:
        made = []
        while True:
            made.append(Namespace())
            if len(made) == 20:
                os.write(tell, b"x")
                for namespace in made[::2]:
                    namespace.close()
                made = made[1::2] if len(made) < 40 else []
    os.read(ready, 1)
    inodes = {namespace.inode for namespace in namespaces}
    with Asker("gather/namespaces", ["namespaces"], *RUN_EACH) as lists, \
            Asker("gather/namespaces", [question("udp", namespace.inode)
                                 for namespace in namespaces], *RUN_EACH) as asker:
        first = [sums(answer) for answer in asker.ask()]
        lacks, wrong, lengths = [], [], set()
        for _ in range(rounds):
            rows = lists.ask()[0]["rows"]
            lengths.add(len(rows))
            if inodes - {row["number"] for row in rows}:
                lacks.append(inodes - {row["number"] for row in rows})
            for words, answer in zip(first, asker.ask()):
                if answer["answer"] != "values" or sums(answer) != words:
                    wrong.append((words, answer))
    os.kill(child, 9)
    os.waitpid(child, 0)
    os.close(ready)
    os.close(tell)
    tap.check("while namespaces come and go, the list always has the others", not lacks, *lacks[:3])
    tap.check("while namespaces come and go, the values of others stay", not wrong, *wrong[:3])
    tap.check("namespaces came and went", len(lengths) > 3, lengths)


def longest(namespaces):
    """Prints how long the program holds the RCU read lock.  The machine may take the CPU away, so
    only the shortest of 10 rounds has a limit; the first touches the memory of the exchange."""
    sources = [source for source in MIBS] + ["netdev"]
    questions = [f"netdev,netns={namespace.inode},ifindex=1,length=16,sum=1"
                 if source == "netdev" else question(source, namespace.inode) + ",sum=1"
                 for namespace in namespaces for source in sources]
    shortest, median, worst = 0, 0, 0
    for at in range(0, len(questions), QUESTIONS_MAX):
        with Asker("gather/namespaces", questions[at:at + QUESTIONS_MAX]) as asker:
            asker.ask()
            times = []
            for _ in range(10):
                asker.ask()
                times.append(asker.longest)
            times.sort()
            shortest = max(shortest, times[0])
            median = max(median, times[len(times) // 2])
            worst = max(worst, times[-1])
    print(f"# {len(questions)} questions about {len(namespaces)} namespaces, {QUESTIONS_MAX} at once: "
          f"the longest run took {shortest / 1000:.0f} us (shortest round), {median / 1000:.0f} us "
          f"(median), {worst / 1000:.0f} us (longest)")
    tap.check("no run needs more than 0.5 ms", shortest < 500000, shortest)


def main():
    namespaces = [Namespace() for _ in range(NAMESPACES)]
    for number, namespace in enumerate(namespaces):
        with namespace:
            set_up(b"lo")
            traffic(1 + number % 5)
    found = listed()
    tap.check("the list has all namespaces, each once",
              len(set(found)) == len(found) and
              {namespace.inode for namespace in namespaces} | {os.fstat(home).st_ino} <= set(found),
              found)
    compare_all(namespaces)
    compare_sums(namespaces[0])
    compare_walks(namespaces)
    compare_devices(namespaces)
    compare_core()
    longest(namespaces)
    kill_and_reuse()
    churn(namespaces, 60)
    with Asker("gather/namespaces", ["tcp,netns=1,length=8"]) as asker:
        tap.check("a namespace that never was has ended", asker.ask()[0]["answer"] == "ended")
    tap.finish()


if __name__ == "__main__":
    main()
