#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""pcp_fetch.py HOST COUNT INTERVAL_MS METRIC...: fetches metrics from pmcd on a host.

METRIC is a name or the beginning of names, such as kernel.all. It fetches all at once,
COUNT times, from one context that stays open. Prints a JSON object: times of a fetch (ns,
without looking up names), and the bytes and values of one. It needs Debian's Python, for
which the package pcp is installed.
"""
import json
import os
import socket
import sys
import time

import cpmapi
from pcp import pmapi

BYTES_RECEIVED = 128  # offset of tcpi_bytes_received in struct tcp_info, 64 bits


def bytes_received():
    """Payload that this process received on TCP connections."""
    received = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            connection = socket.socket(fileno=os.dup(int(name)))
        except OSError:  # no socket, or the directory that was listed
            continue
        with connection:
            if connection.family in (socket.AF_INET, socket.AF_INET6):
                info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
                received += int.from_bytes(
                    info[BYTES_RECEIVED:BYTES_RECEIVED + 8], sys.byteorder)
    return received


def count_values(result):
    return sum(max(0, result.contents.get_numval(i))
               for i in range(result.contents.numpmid))


def fetch(host, count, interval, metrics):
    context = pmapi.pmContext(cpmapi.PM_CONTEXT_HOST, host)
    names = []
    for metric in metrics:
        context.pmTraversePMNS(metric, names.append)
    ids = context.pmLookupName(names)
    times = []
    before = bytes_received()
    due = time.monotonic_ns()
    for _ in range(count):
        time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
        start = time.monotonic_ns()
        result = context.pmFetch(ids)
        times.append(time.monotonic_ns() - start)
        values = count_values(result)
        context.pmFreeResult(result)
        due = max(due + interval, time.monotonic_ns())
    times.sort()

    def rank(percent):
        return times[(count * percent + 99) // 100 - 1]

    return {"bytes": (bytes_received() - before) // count, "values": values,
            "latency_ns": {"min": times[0], "p50": rank(50), "p90": rank(90),
                           "p99": rank(99), "max": times[-1]}}


def main():
    if len(sys.argv) < 5 or not (sys.argv[2].isdecimal() and sys.argv[3].isdecimal()
                                 and int(sys.argv[2])):
        sys.exit("usage: pcp_fetch.py HOST COUNT INTERVAL_MS METRIC...")
    try:
        print(json.dumps(fetch(sys.argv[1], int(sys.argv[2]),
                               int(sys.argv[3]) * 1_000_000, sys.argv[4:])))
    except pmapi.pmErr as error:
        sys.exit(f"pcp_fetch.py: {sys.argv[1]}: {error}")


main()
