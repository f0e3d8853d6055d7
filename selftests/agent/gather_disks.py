#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs that gather copy the counters of block devices, with requests in flight, and notice that a
device was removed."""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))

from answers import Asker, Tap, sums  # noqa: E402

DISKS = "/sys/kernel/config/nullb"
COLUMNS = ["read_ios", "read_merges", "read_sectors", "read_ticks", "write_ios", "write_merges",
           "write_sectors", "write_ticks", "in_flight", "io_ticks", "time_in_queue",
           "discard_ios", "discard_merges", "discard_sectors", "discard_ticks", "flush_ios",
           "flush_ticks"]
DISK_STATS = 152    # bytes of struct disk_stats: 19 words
tap = Tap()


def make_disk(name, completion_ns):
    os.mkdir(f"{DISKS}/{name}")
    # Requests end by a timer; a queue for each CPU.
    for key, value in (("size", 64), ("irqmode", 2), ("completion_nsec", completion_ns),
                       ("submit_queues", os.cpu_count()), ("power", 1)):
        with open(f"{DISKS}/{name}/{key}", "w") as file:
            file.write(str(value))
    with open(f"/sys/block/{name}/dev") as number:
        return "/sys/dev/block/" + number.read().strip()


def diskstats(name):
    for line in open("/proc/diskstats"):
        fields = line.split()
        if fields[2] == name:
            return dict(zip(COLUMNS, map(int, fields[3:])))
    return None


def transfer(name, direction, count):
    files = {"read": (f"if=/dev/{name}", "of=/dev/null", "iflag=direct"),
             "write": ("if=/dev/zero", f"of=/dev/{name}", "oflag=direct")}[direction]
    return subprocess.Popen(["dd", *files, "bs=8192", f"count={count}"], stderr=subprocess.DEVNULL)


def values_between(asker, name):
    before = diskstats(name)
    values = asker.ask()[0]["rows"][0]["values"]
    after = diskstats(name)
    # A tick of the kernel's clock has at most 10 ms.
    return [(column, before[column], values[column], after[column]) for column in COLUMNS
            if not before[column] <= values[column] <= after[column] + 10 *
            (column == "io_ticks" and values["in_flight"] > 0)], values


def main():
    subprocess.run(["modprobe", "null_blk", "nr_devices=0"], check=True)
    if not os.path.exists(DISKS):
        subprocess.run(["mount", "-t", "configfs", "none", "/sys/kernel/config"], check=True)
    fast = make_disk("fast", 100000)
    slow = make_disk("slow", 3000000000)
    with Asker("gather/disks",
               [f"disk:io,fd={fast}", f"disk,fd={fast},length={DISK_STATS}"]) as asker:
        transfer("fast", "write", 70).wait()
        transfer("fast", "read", 50).wait()
        wrong, values = values_between(asker, "fast")
        tap.check("a disk at rest has the values of /proc/diskstats",
                  not wrong and values["write_ios"] == 70 and values["read_ios"] >= 50 and
                  values["in_flight"] == 0, *wrong, values)
        words = sums(asker.ask()[1])
        tap.check("so have the copies of its counters per CPU",
                  words[0] // 1000000 == values["read_ticks"] and
                  words[4:6] == [values["read_sectors"], values["write_sectors"]] and
                  words[8:10] == [values["read_ios"], values["write_ios"]], words, values)
        writer = transfer("fast", "write", 4000)
        wrong = []
        while writer.poll() is None:
            wrong += values_between(asker, "fast")[0]
        wrong = [row for row in wrong if row[0] != "in_flight"]
        tap.check("a busy disk has values between two readings of /proc/diskstats", not wrong,
                  len(wrong), *wrong[:5])
        os.rmdir(f"{DISKS}/fast")
        tap.check("a disk that was removed has ended",
                  [answer["answer"] for answer in asker.ask()] == ["ended"] * 2)
    with Asker("gather/disks", [f"disk:io,fd={slow}"]) as asker:
        reader = transfer("slow", "read", 1)
        while not asker.ask()[0]["rows"][0]["values"]["in_flight"]:
            pass
        begin = time.monotonic()
        wrong, values = values_between(asker, "slow")
        tap.check("a disk with a request in flight has the values of /proc/diskstats",
                  not wrong and values["in_flight"] == 1, *wrong, values)
        first = values
        while values["io_ticks"] < first["io_ticks"] + 300 and time.monotonic() < begin + 2:
            values = asker.ask()[0]["rows"][0]["values"]
        passed = (time.monotonic() - begin) * 1000
        tap.check("io_ticks grow as time does, although nobody reads /proc/diskstats",
                  passed >= 280 and values["io_ticks"] >= first["io_ticks"] + 300 and
                  values["in_flight"] == 1, passed, first, values)
        reader.wait()
    # Other tests load it with other parameters.
    os.rmdir(f"{DISKS}/slow")
    subprocess.run(["modprobe", "-r", "null_blk"], check=True)
    with Asker("gather/disks", ["disk:io,fd=/sys/class/net/lo/", "disk:io,fd=/proc"]) as asker:
        tap.check("a directory of something else is no disk",
                  [answer["answer"] for answer in asker.ask()] == ["ended"] * 2)
    tap.finish()


if __name__ == "__main__":
    main()
