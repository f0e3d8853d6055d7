#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""redis.py TOP: compare the fields of a redis-server with INFO, before and after.

Starts Debian's redis-server and a replica of it, uses them, and compares each line of the table
in Documentation/redis.md with INFO, in TAP. Prints a reason to skip if no layout is for this
redis-server.
"""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

top = os.path.abspath(sys.argv[1])
HELPER = os.path.join(top, ".output/selftests/helpers/application_values")
LAYOUTS = os.path.join(top, "schemas/applications/layouts")
WORDS = {"ok": 1, "err": 0, "yes": 1, "no": 0, "standalone": 0, "sentinel": 1, "cluster": 2,
         "master": 1, "slave": 0, "noeviction": 1792, "no-failover": 0}
# INFO itself, or the time that passes, changes them between both looks.
DISTURBED = {
    "used_memory", "used_memory_peak_perc", "used_memory_peak", "mem_clients_normal",
    "allocator_allocated", "mem_fragmentation_ratio", "mem_fragmentation_bytes",
}
USES = (
    ("GET", "key7"), ("GET", "nothing"), ("LPUSH", "key1", "a wrong type"),
    ("EVAL", "return 1", "0"),
    ("FUNCTION", "LOAD",
     "#!lua name=library\nredis.register_function('f', function() return 1 end)"),
    ("CONFIG", "SET", "appendonly", "yes"),
)
points = failures = 0


def point(ok, name, why=""):
    global points, failures
    points += 1
    failures += not ok
    print(f"{'ok' if ok else 'not ok'} {points} - {name}")
    if not ok:
        print(f"# {why}")


class Redis:
    """A redis-server on a socket of a directory, whose INFO and memory are asked for."""

    def __init__(self, directory, port, *options):
        self.port = port
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(port), "--dir", directory, "--dbfilename",
             f"{port}.rdb", "--save", "", *options], stdout=subprocess.DEVNULL)
        for _ in range(200):
            try:
                self.connection = socket.create_connection(("127.0.0.1", port))
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        self.answers = self.connection.makefile("rb")
        self.reader = subprocess.Popen([HELPER, str(self.process.pid), LAYOUTS], text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, *words):
        parts = [word.encode() for word in words]
        self.connection.sendall(b"*%d\r\n" % len(parts) + b"".join(
            b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
        line = self.answers.readline()
        if line[:1] == b"$" and line[1:2] != b"-":
            return self.answers.read(int(line[1:]) + 2).decode()
        return line.decode().strip()

    def info(self):
        text = self.ask("INFO", "everything").replace("\r", "")
        return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)

    def read(self):
        self.reader.stdin.write("\n")
        self.reader.stdin.flush()
        line = self.reader.stdout.readline()
        return json.loads(line)

    def end(self):
        self.reader.stdin.close()
        self.reader.wait()
        self.process.terminate()
        self.process.wait()


def lines_of_page():
    """(field of INFO, "exact" or "formula", expression or formula)"""
    with open(os.path.join(top, "Documentation/redis.md"), encoding="utf-8") as page:
        return re.findall(r"^\| `(\w+)` \| (exact|formula) \| `([^`]+)` \|", page.read(), re.M)


def number(text):
    if text in WORDS:
        return WORDS[text]
    try:
        return float(text.rstrip("%"))
    except ValueError:
        return text


def computed(formula, row):
    try:
        return eval(formula, {"__builtins__": {"sum": sum, "max": max}}, row)  # our own page
    except ZeroDivisionError:
        return 0


def lies_between(value, before, after):
    """Within the precision that INFO prints."""
    values = [number(before), number(after)]
    if isinstance(value, str) or isinstance(values[0], str):
        return value in (before, after)
    digits = max((len(text.rstrip("%").partition(".")[2]) for text in (before, after)),
                 default=0)
    slack = 10 ** -digits if digits else 0
    return min(values) - slack <= value <= max(values) + slack


def values_of(field, kind, text, row):
    if kind == "exact":
        return [row[field]]
    value = computed(text, row)
    return list(value) if isinstance(value, tuple) else [value]


def texts_of(field, text):
    """db0 is keys=1,expires=0,avg_ttl=0"""
    if field == "db0":
        return [part.partition("=")[2] for part in text.split(",")][:3]
    return [text]


def compare(redis, when):
    """Returns the fields that were compared."""
    before = redis.info()
    rows = redis.read()
    row = dict(rows["redis"][0], time=time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000)
    after = redis.info()
    wrong, compared = [], set()
    for field, kind, text in lines_of_page():
        if field not in before or field not in after:
            continue
        # Redis samples its rates ten times a second, up and down: no bounds, if it just did.
        if field.startswith("instantaneous_") and before[field] != after[field]:
            continue
        for value, first, last in zip(values_of(field, kind, text, row),
                                      texts_of(field, before[field]),
                                      texts_of(field, after[field])):
            if field not in DISTURBED and not lies_between(value, first, last):
                wrong.append(f"{field}: {value}, INFO {first} and {last}")
        compared.add(field)
    # INFO is larger by its own client's buffers, and by at most these.
    for field in ("used_memory", "used_memory_peak"):
        if abs(row[field] - int(before[field])) > 1 << 20:
            wrong.append(f"{field}: {row[field]}, INFO {before[field]}")
    point(not wrong, f"{when}: {len(compared)} fields equal INFO", "; ".join(wrong))
    commands = {command["cmd"].lower(): command for command in rows["redis:commands"]}
    wrong = []
    for field in before:
        name = field.removeprefix("cmdstat_")
        if name == field or name in ("info",) or "|" in name:
            continue
        shown = dict(part.split("=") for part in before[field].split(","))
        for key in ("calls", "usec", "rejected_calls", "failed_calls"):
            if commands[name][key] != int(shown[key]):
                wrong.append(f"{name}.{key}: {commands[name][key]}, INFO {shown[key]}")
    point(not wrong, f"{when}: the statistics of commands equal INFO", "; ".join(wrong))
    return compared


def has_layout():
    path = os.path.realpath(subprocess.run(["sh", "-c", "command -v redis-server"],
                                           capture_output=True, text=True).stdout.strip())
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: (\w+)", notes)
    return build_id and os.path.exists(os.path.join(LAYOUTS, build_id[1] + ".yaml"))


def main():
    if not has_layout():
        print("1..0 # SKIP no layout is for this redis-server")
        return
    with tempfile.TemporaryDirectory() as directory:
        redis = Redis(directory, 17771)
        try:
            compared = compare(redis, "an idle server")
            for i in range(300):
                redis.ask("SET", f"key{i}", "value" * i, *(["EX", "1000"] if i % 2 else []))
            for command in USES:
                redis.ask(*command)
            compared |= compare(redis, "a server with keys, scripts and an append-only file")
            redis.ask("CONFIG", "SET", "rdb-key-save-delay", "20000")
            redis.ask("BGSAVE")
            compared |= compare(redis, "a server that saves")
            other = Redis(directory, 17772, "--replicaof", "127.0.0.1", "17771")
            try:
                redis.ask("CONFIG", "SET", "rdb-key-save-delay", "0")
                for _ in range(200):
                    if other.info().get("master_link_status") == "up":
                        break
                    time.sleep(0.1)
                redis.ask("SET", "after", "replication")
                compared |= compare(redis, "a master")
                compared |= compare(other, "a replica")
            finally:
                other.end()
            listed = {field for field, *_ in lines_of_page()}
            point(compared == listed, "each line of redis.md was compared",
                  ", ".join(sorted(listed - compared)))
        finally:
            redis.end()
    print(f"1..{points}")
    sys.exit(failures > 0)


main()
