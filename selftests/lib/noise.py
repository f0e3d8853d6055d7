#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""noise.py MAP: fills a pinned eBPF array map that can be mapped with 64 KiB at random, many times
a second, until it is killed. It notifies that it is ready (sd_notify(3)) after the first time."""
import ctypes
import mmap
import os
import sys
import time

SIZE = 65536
descriptor = ctypes.CDLL("libbpf.so.1").bpf_obj_get(sys.argv[1].encode())
if descriptor < 0:
    sys.exit(f"cannot open {sys.argv[1]}: {os.strerror(-descriptor)}")
values = mmap.mmap(descriptor, SIZE)
values[:] = os.urandom(SIZE)
ctypes.CDLL("libsystemd.so.0").sd_notify(0, b"READY=1")
while True:
    values[:] = os.urandom(SIZE)
    time.sleep(0.02)
