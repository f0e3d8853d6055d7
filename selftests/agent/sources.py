#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Each source has values between two readings of the kernel's files, or dartd says why it has
none: gathered, and read where they lie.

A point for each source says "source NAME: CELL" (or "source NAME, direct: CELL"), of which
selftests/sources_table makes a table. CELL is "equal N/M": of the M values of an object, N were
compared with files, and agreed; "served M": no file shows any of them; or the reason of dartd.
GATHERER in the environment is the way that dartd gathers (see host_up).
"""
import json
import os
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import kernel_values  # noqa: E402
from answers import Agreement, Tap, kind, read_files  # noqa: E402

ROUNDS = 6
# More rounds follow, up to these, until the values that UNSTEADY names have agreed so often.
ROUNDS_MAX = 24
AGREEMENTS = 2
# Gauges, which may change between the file and the value; and counters that readers of files
# change, that a CPU keeps to itself for a while, or whose files are of another moment: these agree
# in AGREEMENTS rounds, others in each.
UNSTEADY = (r"(memory|swap|hugepages|load|tasks|reclaim|processes|files|sockets|sockets:host|"
            r"node:.*|filesystem|cgroup:(memory|pids))/.*|clock/maxerror|"
            r"snmp:tcp/currestab|disk:.*/(io_ticks|time_in_queue|in_flight)|rdma:ports/.*")
# Direct, a CPU that sleeps has not counted its sleep yet (see Documentation/sources.md).
LAGGING = r"cpustat/(idle|iowait)"
# Fields that name the row, or the time of the record.
PLACES = r".*/(time|cpu|port)|node:.*/node|cgroup:disks/(major|minor|device)"
INTERVAL = "+100ms"
# Scrapes after a reading of the files, of which one at least has each record whole, and new; and so
# many more while a record at rest is older, see "rest" in dartd.yaml(5).
SCRAPES = 3
SCRAPES_OF_REST = 8

DISK, DEVICE, CGROUP, MOUNT = "sources0", "sources0", "/load", "/run/sources"
NULL_BLK = f"/sys/kernel/config/nullb/{DISK}"
OF_OBJECT = {"none": [], "netns": [], "netdev": ["--netdev", DEVICE], "disk": ["--disk", DISK],
             "cgroup": ["--cgroup", CGROUP], "filesystem": ["--filesystem", MOUNT]}
# Uses memory and disks, forks, is throttled, opens sockets, and then waits for its input to end.
LOAD = """
echo $$ >"/sys/fs/cgroup$0/cgroup.procs"
text=$(head -c 3000000 /dev/zero | tr "\\0" x)
dd if=/dev/zero of=/dev/shm/sources bs=1M count=4
for i in 1 2 3; do
	dd if=/dev/zero of="$1/file" bs=64k count=16 oflag=direct
	dd if="$1/file" of=/dev/null bs=64k count=4 iflag=direct
	echo x >/dev/udp/127.0.0.1/9
	echo x >/dev/udp/192.0.2.2/9
	echo x >/dev/udp/::1/9
	echo x >/dev/tcp/127.0.0.1/9
done
exec 8</dev/udp/127.0.0.1/53
echo "5000 50000" >"/sys/fs/cgroup$0/cpu.max"
timeout 0.5 sh -c "while :; do :; done"
echo "max 50000" >"/sys/fs/cgroup$0/cpu.max"
echo ready
read -r _
"""


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def run(*command):
    return subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)


def dartctl(*arguments):
    return json.loads(subprocess.run(["dartctl", "-j", *arguments], check=True,
                                     stdout=subprocess.PIPE).stdout)


def make_objects():
    """Prints what fails."""
    for command in (["many_objects", "2", "2"], ["modprobe", "null_blk", "nr_devices=0"],
                    ["modprobe", "nf_conntrack"],
                    ["sh", "-c", "mountpoint -q /sys/kernel/config ||"
                     " mount -t configfs none /sys/kernel/config"],
                    ["ip", "link", "add", DEVICE, "type", "veth", "peer", "name", "sources1"],
                    ["ip", "link", "set", DEVICE, "up"], ["ip", "link", "set", "sources1", "up"],
                    ["ip", "address", "add", "192.0.2.1/24", "dev", DEVICE]):
        done = run(*command)
        if done.returncode:
            print("#", " ".join(command), done.stdout)
    os.mkdir(NULL_BLK)
    for name, value in (("memory_backed", "1"), ("size", "64"), ("power", "1")):
        write(f"{NULL_BLK}/{name}", value)
    os.makedirs(MOUNT)
    subprocess.run(["mkfs.ext4", "-q", f"/dev/{DISK}"], check=True)
    subprocess.run(["mount", f"/dev/{DISK}", MOUNT], check=True)
    os.mkdir(f"/sys/fs/cgroup{CGROUP}")


def remove_objects():
    os.remove("/dev/shm/sources")
    for command in (["umount", MOUNT], ["rmdir", MOUNT], ["rmdir", NULL_BLK],
                    ["ip", "link", "del", DEVICE], ["rmdir", f"/sys/fs/cgroup{CGROUP}"],
                    ["modprobe", "-r", "null_blk", "nf_conntrack"]):
        run(*command)


def start_load():
    process = subprocess.Popen(["bash", "-c", LOAD, CGROUP, MOUNT], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return process, process.stdout.readline() == "ready\n"


def take_elsewhere():
    """The sources that a whole host leaves out, because others have their values."""
    kernel_values.take_disks_of_cgroup(f"/sys/fs/cgroup{CGROUP}", CGROUP)
    kernel_values.take_disk_stats(DISK)
    kernel_values.take_veth_stats(DEVICE)


def is_gathered(entry):
    return entry.endswith(INTERVAL)


def source_of(entry):
    return re.split("[@+]", entry)[0]


def added_up(copies):
    """The sum of the copies of each CPU, of gauges as well."""
    return {field: sum(copy[field] for copy in copies) for field in copies[0]}


def rows_of(read):
    """The rows of an entry in a scrape, by their numbers, with "sum" for the sum of all."""
    if "cpus" in read:
        return dict(enumerate(read["cpus"])) | {"sum": added_up(read["cpus"])}
    rows = {row["major"] << kernel_values.MINOR_BITS | row["minor"]
            if row and "minor" in row else number: row
            for number, row in read.get("rows", {}).items()} | {"sum": read.get("sum")}
    return {number: row for number, row in rows.items() if row}


class Controller:
    """A controller that scrapes this host, and a thread that keeps the last scrape."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["dart-controller", "--json", "-i", "250ms", "localhost"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.news = threading.Condition()
        self.last = None
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.process.stdout:
            with self.news:
                self.last = line
                self.news.notify()
        with self.news:
            self.last = ""
            self.news.notify()

    def scrapes(self):
        """New scrapes, each as the entries and the time when it began."""
        while True:
            with self.news:
                self.last = None
                self.news.wait_for(lambda: self.last is not None)
                line = self.last
            if not line:
                raise EOFError("dart-controller has ended")
            scrape = json.loads(line)
            if "entries" in scrape:
                yield scrape["entries"], scrape["start_ns"]

    def values(self):
        """Values from after this call: {"ENTRY/COPY/FIELD": VALUE}, gathered and direct."""
        asked = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        gathered, direct, seen, left = {}, {}, set(), SCRAPES
        for entries, start in self.scrapes():
            if start <= asked:
                continue
            is_whole = True
            for entry, read in entries.items():
                rows = rows_of(read) if read["kind"] == "source" else None
                if entry in seen or not rows:
                    continue
                if is_gathered(entry) and min(row["time"] for row in rows.values()) <= asked:
                    is_whole = False
                    continue
                seen.add(entry)
                values = gathered if is_gathered(entry) else direct
                name = entry.removesuffix(INTERVAL)
                values.update({f"{name}/{number}/{field}": value
                               for number, row in rows.items() for field, value in row.items()
                               if not isinstance(value, str) and
                               not re.fullmatch(PLACES, f"{source_of(name)}/{field}")})
            left -= 1
            if left <= 0 and is_whole or left == -SCRAPES_OF_REST:
                return gathered, direct

    def close(self):
        self.process.terminate()
        self.process.wait()


def without_object(value):
    """The source and field of a value that names no copy."""
    return re.sub("@.*/", "/", value)


def without_lagging(values):
    return {name: value for name, value in values.items()
            if not re.fullmatch(LAGGING, without_object(kind(name)))}


def is_unsteady(value):
    return re.fullmatch(UNSTEADY, without_object(kind(value)))


def is_settled(agreement):
    """Have all unsteady values agreed with the files often enough?"""
    return not any(map(is_unsteady, agreement.wrong("", AGREEMENTS)))


class Verdict:
    """Of a source: its cell of the table, and the values that prove it wrong.

    expected: the entries with values in the kernel's files
    """

    def __init__(self, source, agreement, expected=()):
        prefixes = (f"{source}/", f"{source}@")
        answered = {value for value in agreement.answered if value.startswith(prefixes)}
        served = set(map(without_object, answered))
        compared = {without_object(kind(name)) for name in agreement.agreed
                    if name.startswith(prefixes)}
        self.wrong = {name: count for name, count in
                      agreement.wrong(prefixes, agreement.rounds).items()
                      if not is_unsteady(name) or count < AGREEMENTS}
        absent = {entry for entry in expected if f"{entry}/".startswith(prefixes)} - \
            {value.rpartition("/")[0] for value in answered}
        self.details = agreement.explain(self.wrong) + \
            [f"{entry}: no values" for entry in sorted(absent)]
        self.cell = f"equal {len(compared)}/{len(served)}" if compared else \
            f"served {len(served)}" if served else None
        self.unknown = sorted(served - compared)


def entries_of(source, listed):
    return [name for name in listed if source_of(name) == source]


def register(source, *options):
    """Returns None, or the reason why dartd refuses it."""
    done = run("dartctl", "source", "add", source["name"], *OF_OBJECT[source["selector"]],
               *options)
    return done.stdout.strip().removeprefix("dartctl: ") if done.returncode else None


def judge(tap, label, verdict, reason):
    cell = verdict.cell or reason
    tap.check(f"source {label}: {cell or 'neither values nor a reason'}",
              cell and not verdict.details, *verdict.details)
    if verdict.cell and verdict.unknown:
        print(f"# no file shows {' '.join(verdict.unknown)}")


def compare():
    """Returns how the gathered values and the direct ones agree with the files, and the last round:
    the files, the gathered values, and the files after them."""
    gathered, direct = Agreement(), Agreement()
    takers = [kernel_values.take_host, take_elsewhere]
    controller = Controller()
    for round_ in range(ROUNDS_MAX):
        if round_ >= ROUNDS and is_settled(gathered) and is_settled(direct):
            break
        before = read_files(takers)
        values, direct_values = controller.values()
        after = read_files(takers)
        gathered.compare(before, values, after)
        direct.compare(before, without_lagging(direct_values), after)
    controller.close()
    return gathered, direct, [before, values, after]


def main():
    tap = Tap()
    up = run("host_up")
    tap.check("the agent starts", up.returncode == 0, up.stdout)
    way = {"auto": "module"}.get(os.environ.get("GATHERER", "auto"), os.environ.get("GATHERER"))
    tap.check(f"values are gathered by the way that was asked for: {way}",
              dartctl("status")["gatherer"] == way)
    make_objects()
    load, is_ready = start_load()
    tap.check("a process uses memory, disks and sockets, forks and is throttled", is_ready)

    host = dartctl("register", "host", "--gather", INTERVAL[1:])
    reasons = {left_out["source"]: left_out["reason"] for left_out in host["left_out"]}
    sources = dartctl("source", "list")
    listed = [entry["name"] for entry in dartctl("list") if is_gathered(entry["name"])]
    for source in sources:
        if not entries_of(source["name"], listed) and source["name"] not in reasons:
            refusal = register(source, "--gather", INTERVAL[1:])
            reasons |= {source["name"]: refusal} if refusal else {}
    direct_reasons = {source["name"]: register(source) for source in sources
                      if not source["gathered_only"]}
    covered = next(line for line in dartctl("status")["coverage"] if line["kind"] == "sources")
    missing = {left_out["source"] for left_out in host["left_out"]}
    tap.check("coverage counts the sources that the host leaves out",
              covered["present"] - covered["served"] == len(missing), covered, missing)

    gathered, direct, last = compare()
    expected = {name.rsplit("/", 2)[0] for name in last[0]}
    for source in sources:
        name = source["name"]
        judge(tap, name, Verdict(name, gathered, () if name in reasons else expected),
              reasons.get(name))
        if name in direct_reasons:
            judge(tap, f"{name}, direct", Verdict(name, direct), direct_reasons[name])
    last[1]["vmstat/sum/pgfault"] += 1 << 32
    planted = Agreement()
    planted.compare(*last)
    tap.check("a value that is not the kernel's is found",
              "vmstat/sum/pgfault" in Verdict("vmstat", planted).wrong)

    load.stdin.close()
    load.wait()
    down = run("host_down")
    tap.check("the agent stops", down.returncode == 0, down.stdout)
    remove_objects()
    tap.finish()


if __name__ == "__main__":
    main()
