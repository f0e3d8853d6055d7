#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs that gather count the sockets and tracked connections of a network namespace, while the
module that tracks them comes and goes."""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))

from answers import Asker, Tap  # noqa: E402

NAMESPACE = "gather_sockets"
# Words of sockstat and sockstat6, with the names of samples.
WORDS = {"sockets used": "used", "TCP inuse": "tcp_inuse", "TCP tw": "tcp_tw",
         "UDP inuse": "udp_inuse", "UDPLITE inuse": "udplite_inuse", "RAW inuse": "raw_inuse",
         "FRAG inuse": "frag_inuse", "FRAG memory": "frag_memory", "TCP6 inuse": "tcp6_inuse",
         "UDP6 inuse": "udp6_inuse", "UDPLITE6 inuse": "udplite6_inuse", "RAW6 inuse": "raw6_inuse",
         "FRAG6 inuse": "frag6_inuse", "FRAG6 memory": "frag6_memory"}
tap = Tap()


def sockstat(process):
    values = {}
    for file in "sockstat", "sockstat6":
        for line in open(f"/proc/{process}/net/{file}"):
            title, words = line.split(":")
            words = words.split()
            for word, value in zip(words[::2], words[1::2]):
                name = WORDS.get(f"{title} {word}")
                if name:
                    values[name] = int(value)
    return values


def differences(asker, number, process):
    """Asks until the kernel has the same values before and after."""
    while True:
        before = sockstat(process)
        answer = asker.ask()[number]
        if before == sockstat(process):
            break
    values = answer["rows"][0]["values"]
    return [(name, value, values[name]) for name, value in before.items()
            if values[name] != value], values


def in_namespace(*command, **options):
    return subprocess.run(["ip", "netns", "exec", NAMESPACE, *command], check=True, **options)


HOLDER = """
import socket, sys
held = []
for family, address in (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"):
    server = socket.create_server((address, 0), family=family)
    for _ in range(3):
        client = socket.create_connection(server.getsockname()[:2])
        held += [client, server.accept()[0]]
    one = socket.create_connection(server.getsockname()[:2])
    other = server.accept()[0]
    one.close()
    other.close()
    held.append(server)
    held += [socket.socket(family, socket.SOCK_DGRAM) for _ in range(4)]
    for bound in held[-4:]:
        bound.bind((address, 0))
    held.append(socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_RAW))
print("ready", flush=True)
sys.stdin.read()
"""


def tracked(asker):
    values = asker.ask()[0]["rows"][0]["values"]
    return values["conntrack_limit"], values["conntrack_entries"]


def remove_module(name):
    """Removes a module and the modules that use it; False: it is still in use."""
    holders = f"/sys/module/{name}/holders"
    if not os.path.exists(holders):
        return True
    return all([remove_module(holder) for holder in os.listdir(holders)]) and \
        not subprocess.run(["modprobe", "-r", name], check=False).returncode


def stop_tracking():
    """Removes the module; namespaces of an earlier test may use it for a moment after their end."""
    end = time.monotonic() + 60
    while not remove_module("nf_conntrack"):
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def compare_tracking(asker):
    tap.check("the module that tracks connections is removed", stop_tracking())
    tap.check("without the module that tracks connections there are none", tracked(asker) == (0, 0))
    for attempt in 1, 2:
        subprocess.run(["modprobe", "nft_ct"], check=True)
        in_namespace("nft", "-f", "-", text=True, input="table inet t { chain c { "
                     "type filter hook output priority 0; ct state new counter; }; }")
        in_namespace("bash", "-c", "for i in 1 2 3; do echo x > /dev/udp/127.0.0.1/1$i; done")
        limit = int(open("/proc/sys/net/netfilter/nf_conntrack_max").read())
        count = int(in_namespace("cat", "/proc/sys/net/netfilter/nf_conntrack_count",
                                 capture_output=True, text=True).stdout)
        tap.check(f"the limit and the number of tracked connections equal the kernel's ({attempt})",
                  tracked(asker) == (limit, count) and count >= 3, tracked(asker), limit, count)
        in_namespace("nft", "flush", "ruleset")
        stop_tracking()
        tap.check(f"and there are none when the module is gone ({attempt})", tracked(asker) == (0, 0))


def main():
    subprocess.run(["ip", "netns", "add", NAMESPACE], check=True)
    in_namespace("ip", "link", "set", "lo", "up")
    inode = os.stat(f"/run/netns/{NAMESPACE}").st_ino
    own = os.stat("/proc/self/ns/net").st_ino
    holder = subprocess.Popen(["ip", "netns", "exec", NAMESPACE, "python3", "-c", HOLDER],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with Asker("gather/sockets", [f"sockets,netns={inode}", f"sockets,netns={own}"]) as asker:
        holder.stdout.readline()
        wrong, values = differences(asker, 0, holder.pid)
        tap.check("the sockets of a namespace equal those in its sockstat",
                  not wrong and values["tcp_inuse"] == 7 and values["udp6_inuse"] == 4 and
                  values["raw_inuse"] == 1 and values["tcp_tw"] >= 1, *wrong, values)
        wrong, values = differences(asker, 1, "self")
        tap.check("the sockets of another namespace equal those in its own", not wrong, *wrong)
        compare_tracking(asker)
        holder.stdin.close()
        holder.wait()
        subprocess.run(["ip", "netns", "del", NAMESPACE], check=True)
        end = time.monotonic() + 60
        while asker.ask()[0]["answer"] != "ended" and time.monotonic() < end:
            pass
        tap.check("a namespace that was deleted has ended", asker.ask()[0]["answer"] == "ended")
    tap.finish()


if __name__ == "__main__":
    main()
