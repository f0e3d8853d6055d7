#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""flows_host.py: a host on one side of a network function, which does what lines on its input say

    listen PORT [ADDRESS]       echoes at this port, over TCP and UDP
    unlisten PORT ADDRESS       refuses connections from now on; others go on
    open COUNT ADDRESS PORT     opens connections, talks over each, and keeps them
    talk                        sends over all kept connections, and waits for all echoes
    broken COUNT                likewise, but so many of them must be reset, and are kept no longer
    shut                        ends them by FIN of both sides
    reset                       ends them by RST
    datagrams COUNT ADDRESS PORT    sends over UDP, and waits for all echoes
    ping ADDRESS                sends an ICMP echo request, and waits for the reply
    refused ADDRESS PORT        a connection must be refused by RST
    silent ADDRESS PORT         a connection must get no answer
    prohibited ADDRESS PORT     a datagram must be answered by an ICMP error
    unreachable ADDRESS PORT    a datagram must be answered by the ICMP error "host unreachable"
    path_mtu LENGTH ADDRESS PORT MTU    a datagram of so many bytes must be answered by an ICMP
                                error with this MTU, and one that fills it by its echo
    probe ADDRESS PORT FLAGS... sends a segment with each of these flags, as S, FPU or 0

and answers each line by "ok", or by a sentence that says what is wrong.
"""

import errno
import os
import select
import socket
import struct
import sys
import threading
import time

PATIENCE_S = 60
SILENCE_S = 2
FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, "A": 16, "U": 32, "0": 0}
IP_MTU_DISCOVER, IP_PMTUDISC_DO, IP_RECVERR, IP_MTU = 10, 2, 11, 14  # of <linux/in.h>
IPV6_MTU_DISCOVER, IPV6_MTU = 23, 24  # of <linux/in6.h>

kept = []
listeners = {}


class Wrong(Exception):
    pass


def family_of(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def udp(address):
    return socket.socket(family_of(address), socket.SOCK_DGRAM)


def echo(listener, datagrams):
    """Serves both sockets, until the process ends."""
    sockets = [listener, datagrams]
    while True:
        for ready in select.select(sockets, [], [])[0]:
            if ready is listener:
                try:
                    sockets.append(listener.accept()[0])
                except OSError:  # shut down
                    sockets.remove(listener)
                    listener.close()
                continue
            if ready is datagrams:
                data, peer = datagrams.recvfrom(2048)
                datagrams.sendto(data, peer)
                continue
            try:
                data = ready.recv(65536)
                ready.sendall(data)
            except OSError:
                data = b""
            if not data:
                sockets.remove(ready)
                ready.close()


def listen(port, address=""):
    family = socket.AF_INET if address and ":" not in address else socket.AF_INET6
    listener = socket.create_server((address, int(port)), family=family, backlog=128,
                                    dualstack_ipv6=not address)
    datagrams = socket.socket(family, socket.SOCK_DGRAM)
    datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if not address:
        datagrams.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    datagrams.bind((address, int(port)))
    listeners[port, address] = listener
    threading.Thread(target=echo, args=(listener, datagrams), daemon=True).start()


def unlisten(port, address):
    listeners.pop((port, address)).shutdown(socket.SHUT_RDWR)


def exchange(sockets):
    """Each socket sends something, and gets it back."""
    for number, peer in enumerate(sockets):
        peer.settimeout(PATIENCE_S)
        peer.send(b"%07d\n" % number)
    for number, peer in enumerate(sockets):
        got = b""
        while len(got) < 8:
            more = peer.recv(8 - len(got))
            if not more:
                raise Wrong(f"connection {number} has ended")
            got += more
        if got != b"%07d\n" % number:
            raise Wrong(f"connection {number} got {got}")


def open_some(count, address, port):
    new = [socket.create_connection((address, int(port)), PATIENCE_S)
           for _ in range(int(count))]
    exchange(new)
    kept.extend(new)


def talk():
    exchange(kept)


def broken(count):
    lost = []
    for peer in kept:
        try:
            exchange([peer])
        except ConnectionResetError:
            lost.append(peer)
    for peer in lost:
        peer.close()
        kept.remove(peer)
    if len(lost) != int(count):
        raise Wrong(f"{len(lost)} connections were reset")


def shut():
    for peer in kept:
        peer.shutdown(socket.SHUT_WR)
    for peer in kept:
        if peer.recv(1):
            raise Wrong("there is something left to be read")
        peer.close()
    kept.clear()


def reset():
    for peer in kept:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
    kept.clear()


def datagrams(count, address, port):
    new = [udp(address) for _ in range(int(count))]
    for one in new:
        one.connect((address, int(port)))
    exchange(new)
    for one in new:
        one.close()


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def ping6(address):
    """The kernel writes the checksum, and passes on no header of IPv6."""
    raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    rest = struct.pack("!HH", os.getpid() & 0xffff, 1)
    raw.sendto(b"\x80\0\0\0" + rest, (address, 0))
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        raw.settimeout(PATIENCE_S)
        data = raw.recv(2048)
        if data[0] == 129 and data[4:8] == rest:
            return
    raise Wrong("no reply")


def ping(address):
    if ":" in address:
        ping6(address)
        return
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    rest = struct.pack("!HH", os.getpid() & 0xffff, 1)
    raw.sendto(b"\x08\0" + struct.pack("!H", checksum(b"\x08\0" + rest)) + rest, (address, 0))
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        raw.settimeout(PATIENCE_S)
        data = raw.recv(2048)
        if data[20] == 0 and data[24:28] == rest:
            return
    raise Wrong("no reply")


def attempt(address, port, patience):
    """The error of a connection."""
    try:
        socket.create_connection((address, int(port)), patience).close()
    except OSError as error:
        return error
    raise Wrong("the connection was accepted")


def refused(address, port):
    error = attempt(address, port, PATIENCE_S)
    if error.errno != errno.ECONNREFUSED:
        raise Wrong(f"{error}")


def silent(address, port):
    error = attempt(address, port, SILENCE_S)
    if not isinstance(error, TimeoutError):
        raise Wrong(f"{error}")


def prohibited(address, port):
    one = udp(address)
    one.connect((address, int(port)))
    one.settimeout(PATIENCE_S)
    one.send(b"x")
    try:
        one.recv(1)
    except OSError as error:
        if error.errno == (errno.EACCES if ":" in address else errno.EHOSTUNREACH):
            return
        raise
    raise Wrong("an answer came")


def unreachable(address, port):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
    one.connect((address, int(port)))
    one.settimeout(PATIENCE_S)
    one.send(b"x")
    try:
        one.recv(1)
    except OSError as error:
        if error.errno == errno.EHOSTUNREACH:
            return
        raise
    raise Wrong("an answer came")


def path_mtu(length, address, port, mtu):
    is_ipv6 = ":" in address
    level = socket.IPPROTO_IPV6 if is_ipv6 else socket.IPPROTO_IP
    one = udp(address)
    one.setsockopt(level, IPV6_MTU_DISCOVER if is_ipv6 else IP_MTU_DISCOVER, IP_PMTUDISC_DO)
    one.connect((address, int(port)))
    one.settimeout(PATIENCE_S)
    one.send(bytes(int(length)))
    try:
        one.recv(1)
    except OSError as error:
        if error.errno != errno.EMSGSIZE:
            raise
    found = one.getsockopt(level, IPV6_MTU if is_ipv6 else IP_MTU)
    if found != int(mtu):
        raise Wrong(f"the MTU is {found}")
    data = os.urandom(found - (48 if is_ipv6 else 28))
    one.send(data)
    if one.recv(65536) != data:
        raise Wrong("another datagram came back")


def probe(address, port, *flags):
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    raw.connect((address, 0))
    ends = socket.inet_aton(raw.getsockname()[0]) + socket.inet_aton(address)
    for number, letters in enumerate(flags):
        header = struct.pack("!HHIIBBHHH", 5000 + number, int(port), 1, 1, 5 << 4,
                             sum(FLAGS[letter] for letter in letters), 1024, 0, 0)
        value = checksum(ends + struct.pack("!HH", socket.IPPROTO_TCP, len(header)) + header)
        raw.send(header[:16] + struct.pack("!H", value) + header[18:])


COMMANDS = {"listen": listen, "unlisten": unlisten, "broken": broken, "open": open_some,
            "talk": talk, "shut": shut, "reset": reset, "datagrams": datagrams, "ping": ping,
            "refused": refused, "silent": silent, "prohibited": prohibited,
            "unreachable": unreachable, "path_mtu": path_mtu, "probe": probe}

for line in sys.stdin:
    name, *words = line.split()
    try:
        COMMANDS[name](*words)
        print("ok", flush=True)
    except (OSError, Wrong) as wrong:
        print(f"{line.strip()}: {wrong or 'nothing came'}", flush=True)
