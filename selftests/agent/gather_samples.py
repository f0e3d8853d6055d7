#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Without the module: the samples of the host that programs of bpf/samples answer with, between
the kernel's own before and after."""
import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import kernel_values  # noqa: E402
from answers import Asker, Comparison, Question, ROUNDS, Tap  # noqa: E402

# Values that readers of files change, too, need not agree in each round.
MOST = ROUNDS // 2

# Modes of adjtimex(2), and a bit of its status.
ADJ_OFFSET, ADJ_FREQUENCY, ADJ_MAXERROR, ADJ_ESTERROR, ADJ_STATUS, ADJ_TIMECONST, ADJ_TICK = (
    0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x4000)
STA_PLL = 0x1

# Values that differ from those of a clock that nobody has set.
kernel_values.adjtimex(modes=ADJ_STATUS, status=STA_PLL)
kernel_values.adjtimex(modes=ADJ_OFFSET | ADJ_FREQUENCY | ADJ_MAXERROR | ADJ_ESTERROR | ADJ_TIMECONST |
                       ADJ_TICK, offset=3000, freq=-12 * 65536, maxerror=5000, esterror=4000, constant=4, tick=10001)
libc = ctypes.CDLL(None, use_errno=True)
inotify = libc.inotify_init()
for directory in (b"/proc", b"/sys", b"/run"):
    libc.inotify_add_watch(inotify, directory, 1)

tap = Tap()
for name, takers in (
        ("swap", [kernel_values.take_memory]),
        ("hugepages", [kernel_values.take_memory]),
        ("tasks", [kernel_values.take_load, kernel_values.take_cpus]),
        ("reclaim", [kernel_values.take_vmstat]),
        ("sockets:host", [lambda: kernel_values.take_sockets("")]),
        ("files", [kernel_values.take_load, kernel_values.take_inotify]),
        ("clock", [kernel_values.take_clock]),
        ("pressure", [lambda: kernel_values.take_pressure("pressure", "/proc/pressure", "")])):
    asker = Asker(f"samples/{name.replace(':', '_')}", [Question(name)])
    comparison = Comparison(asker, takers)
    asker.close()
    tap.agree(name, comparison, f"{name}/", MOST)
tap.finish()
