#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Without the module: the values of cgroups that programs of bpf/samples answer with, between the
kernel's own before and after; and what they answer about a cgroup without controllers, and about
one that has ended."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import kernel_values  # noqa: E402
from answers import Asker, Comparison, Question, ROUNDS, Tap  # noqa: E402

ROOT = "/sys/fs/cgroup"
TOP = f"{ROOT}/answers"
WORK = f"{TOP}/work"
BELOW = f"{WORK}/below"
DISKS = "/sys/kernel/config/nullb"
CONTROLLERS = ("memory", "pids", "cpu", "io")
# Sources, and their programs.
SOURCES = {"memory": "memory", "pids": "pids", "bandwidth": "bandwidth", "pressure": "pressure",
           "io": "io", "disks": "disk"}
# Values of a process that waits agree, but its kernel memory is added up by CPU.
MOST = ROUNDS // 2
# Uses memory and disks, forks, is throttled, and then waits for its input to end.
LOAD = """
echo $$ >"$0/cgroup.procs"
text=$(head -c 3000000 /dev/zero | tr "\\0" x)
dd if=/dev/zero of=/dev/shm/answers bs=1M count=4 2>/dev/null
for disk in nullb0 nullb1; do
	dd if=/dev/zero of=/dev/$disk bs=64k count=16 oflag=direct 2>/dev/null
done
dd if=/dev/nullb0 of=/dev/null bs=64k count=4 iflag=direct 2>/dev/null
echo "5000 50000" >"$0/cpu.max"
timeout 0.5 sh -c "while :; do :; done"
echo ready
read -r _
"""


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_disks():
    subprocess.run(["modprobe", "null_blk", "nr_devices=0"], check=True)
    subprocess.run(["mount", "-t", "configfs", "none", "/sys/kernel/config"], check=False,
                   stderr=subprocess.DEVNULL)
    for disk in ("nullb0", "nullb1"):
        os.mkdir(f"{DISKS}/{disk}")
        for name, value in (("memory_backed", "1"), ("size", "64"), ("power", "1")):
            write(f"{DISKS}/{disk}/{name}", value)


def take_work():
    kernel_values.take_cgroup(WORK, "work")
    kernel_values.take_disks_of_cgroup(WORK, "work")


def make_cgroups():
    for directory in (TOP, WORK, BELOW):
        for controller in CONTROLLERS if directory != BELOW else ():
            write(f"{os.path.dirname(directory)}/cgroup.subtree_control", f"+{controller}")
        os.mkdir(directory)


def asker_of(source, path):
    return Asker(f"samples/cgroup_{SOURCES[source]}",
                 [Question(f"cgroup:{source},fd={path}", f"cgroup:{source}@work",
                           copies=source == "disks")])


def answer_of(asker):
    return asker.ask()[0]["answer"]


tap = Tap()
make_disks()
make_cgroups()
load = subprocess.Popen(["sh", "-c", LOAD, WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        text=True)
tap.check("a process uses memory and disks, forks and is throttled",
          load.stdout.readline() == "ready\n")
for source in SOURCES:
    asker = asker_of(source, WORK)
    comparison = Comparison(asker, [take_work])
    asker.close()
    tap.agree(f"cgroup:{source}", comparison, f"cgroup:{source}@", MOST)

bare = {source: asker_of(source, BELOW) for source in SOURCES}
for source, asker in bare.items():
    # Each cgroup has a pressure.
    expected = "values" if source == "pressure" else "absent"
    answer = answer_of(asker)
    tap.check(f"cgroup:{source} is {expected} where no controller is enabled",
              answer == expected, f"answer: {answer}")
os.rmdir(BELOW)
for source, asker in bare.items():
    answer = answer_of(asker)
    tap.check(f"cgroup:{source} has ended when its cgroup was removed", answer == "ended",
              f"answer: {answer}")
for asker in bare.values():
    asker.close()
load.stdin.close()
load.wait()
os.rmdir(WORK)
os.rmdir(TOP)
for directory in os.listdir(DISKS):
    if os.path.isdir(f"{DISKS}/{directory}"):
        os.rmdir(f"{DISKS}/{directory}")
tap.finish()
