#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Without the module: the samples of the host that programs of bpf/samples answer with, between
the kernel's own before and after."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import kernel_values  # noqa: E402
from answers import Asker, Comparison, Question, ROUNDS, Tap  # noqa: E402

# Values that readers of files change, too, need not agree in each round.
MOST = ROUNDS // 2

tap = Tap()
for name, takers in (
        ("swap", [kernel_values.take_memory]),
        ("hugepages", [kernel_values.take_memory]),
        ("tasks", [kernel_values.take_load, kernel_values.take_cpus]),
        ("reclaim", [kernel_values.take_vmstat]),
        ("sockets:host", [kernel_values.take_sockets]),
        ("files", [kernel_values.take_load]),
        ("pressure", [lambda: kernel_values.take_pressure("pressure", "/proc/pressure", "")])):
    asker = Asker(f"samples/{name.replace(':', '_')}", [Question(name)])
    comparison = Comparison(asker, takers)
    asker.close()
    tap.agree(name, comparison, f"{name}/", MOST)
tap.finish()
