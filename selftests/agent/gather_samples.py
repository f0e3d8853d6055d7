#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Without the module: the samples of the host that programs of bpf/samples answer with, between
the kernel's own before and after."""
import ctypes
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import kernel_values  # noqa: E402
from answers import Asker, Comparison, Question, ROUNDS, Tap  # noqa: E402

# Values that readers of files change, too, need not agree in each round.
MOST = ROUNDS // 2

LIBC = ctypes.CDLL(None, use_errno=True)
# Modes of adjtimex(2), and bits of its status.
ADJ_OFFSET, ADJ_FREQUENCY, ADJ_MAXERROR, ADJ_ESTERROR, ADJ_STATUS, ADJ_TIMECONST, ADJ_TICK = (
    0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x4000)
STA_PLL, STA_NANO = 0x1, 0x2000


class Timex(ctypes.Structure):
    """struct timex"""
    _fields_ = [("modes", ctypes.c_uint),
                *((name, ctypes.c_long) for name in ("offset", "freq", "maxerror", "esterror")),
                ("status", ctypes.c_int),
                *((name, ctypes.c_long) for name in ("constant", "precision", "tolerance", "sec",
                                                     "usec", "tick", "ppsfreq", "jitter")),
                ("shift", ctypes.c_int),
                *((name, ctypes.c_long) for name in ("stabil", "jitcnt", "calcnt", "errcnt",
                                                     "stbcnt")),
                ("tai", ctypes.c_int), ("pad", ctypes.c_int * 11)]


def adjtimex(**values):
    timex = Timex(**values)
    if LIBC.adjtimex(ctypes.byref(timex)) < 0:
        raise OSError(ctypes.get_errno(), "adjtimex")
    return timex


def take_clock():
    timex = adjtimex()
    for field, value in (("status", timex.status), ("maxerror", timex.maxerror * 1000),
                         ("esterror", timex.esterror * 1000), ("frequency", timex.freq),
                         ("time_constant", timex.constant), ("tick", timex.tick)):
        kernel_values.put("clock", "sum", field, value)
    unit = 1 if timex.status & STA_NANO else 1000
    kernel_values.put("clock", "sum", "offset", timex.offset * unit, unit)


def take_inotify():
    """Of all processes: the root of the machine sees them."""
    counts = {"inotify_instances": 0, "inotify_watches": 0}
    for path in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(path) == "anon_inode:inotify":
                counts["inotify_instances"] += 1
                info = kernel_values.lines(path.replace("/fd/", "/fdinfo/"))
                counts["inotify_watches"] += sum(line.startswith("inotify ") for line in info)
        except FileNotFoundError:  # a process has ended
            pass
    for field, count in counts.items():
        kernel_values.put("files", "sum", field, count)


# Values that differ from those of a clock that nobody has set.
adjtimex(modes=ADJ_STATUS, status=STA_PLL)
adjtimex(modes=ADJ_OFFSET | ADJ_FREQUENCY | ADJ_MAXERROR | ADJ_ESTERROR | ADJ_TIMECONST | ADJ_TICK,
         offset=3000, freq=-12 * 65536, maxerror=5000, esterror=4000, constant=4, tick=10001)
inotify = LIBC.inotify_init()
for directory in (b"/proc", b"/sys", b"/run"):
    LIBC.inotify_add_watch(inotify, directory, 1)

tap = Tap()
for name, takers in (
        ("swap", [kernel_values.take_memory]),
        ("hugepages", [kernel_values.take_memory]),
        ("tasks", [kernel_values.take_load, kernel_values.take_cpus]),
        ("reclaim", [kernel_values.take_vmstat]),
        ("sockets:host", [kernel_values.take_sockets]),
        ("files", [kernel_values.take_load, take_inotify]),
        ("clock", [take_clock]),
        ("pressure", [lambda: kernel_values.take_pressure("pressure", "/proc/pressure", "")])):
    asker = Asker(f"samples/{name.replace(':', '_')}", [Question(name)])
    comparison = Comparison(asker, takers)
    asker.close()
    tap.agree(name, comparison, f"{name}/", MOST)
tap.finish()
