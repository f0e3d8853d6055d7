#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""ldms_fetch.py sock|rdma HOST PORT INTERVAL_MS [COUNT]: fetches all metric sets of an ldmsd.

Connects once and looks the sets up, then asks for all of them at the same time again and
again, by default until it is killed. Prints a line for each time: duration in s, bytes
of the sets' values, and their number. The module ovis_ldms is a part of LDMS.
"""
import queue
import sys
import time

from ovis_ldms import ldms

CONNECT_S = 10


def update(sets):
    """Like the updater of an ldmsd: does not wait for one set before it asks for the next."""
    ended = queue.SimpleQueue()
    for metrics in sets:
        metrics.update(lambda _set, flags, _: ended.put(flags))
    for _ in sets:
        flags = ended.get()
        if flags:
            raise ConnectionError(f"a set was not updated ({flags:#x})")


def fetch(transport, host, port, interval, count):
    ldms.init(16 << 20)
    connection = ldms.Xprt(transport)
    connection.connect(host, port, timeout=CONNECT_S)
    sets = [connection.lookup(found.name) for found in connection.dir()]
    if not sets:
        raise ConnectionError("it has no metric sets")
    size = sum(metrics.data_sz for metrics in sets)
    values = sum(len(metrics) for metrics in sets)
    due = time.monotonic_ns()
    while count:
        time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
        start = time.monotonic_ns()
        update(sets)
        print((time.monotonic_ns() - start) / 1e9, size, values, flush=True)
        due = max(due + interval, time.monotonic_ns())
        count -= 1
    connection.close()


def main():
    if len(sys.argv) not in (5, 6) or not all(map(str.isdecimal, sys.argv[3:])):
        sys.exit("usage: ldms_fetch.py sock|rdma HOST PORT INTERVAL_MS [COUNT]")
    transport, host, port, interval = sys.argv[1:5]
    count = int(sys.argv[5]) if len(sys.argv) == 6 else -1
    try:
        fetch(transport, host, int(port), int(interval) * 1_000_000, count)
    except OSError as error:
        sys.exit(f"ldms_fetch.py: {host} by {transport}: {error}")


main()
