#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""redis.py TOP PROGRAM: compare the fields of a redis-server with INFO, before and after.

Starts Debian's redis-server, or valkey-server, and a replica of it, uses them, and compares each
line of the tables in Documentation/redis.md for this version with INFO, in TAP: the field, and the
series that dart-controller makes of it. Prints a reason to skip if no layout is for this build.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

import application
from application import point, top

sys.path.insert(0, os.path.join(top, "selftests/lib"))
from redis_fields import DISTURBED, lies_between, parse_info, read_page, texts_of, values_of

PAGE = {}
# Series in another unit than INFO.  (Milliseconds are whole in INFO only.)
SCALES = {"redis_latest_fork_seconds": 1e6}
DATABASE = ("redis_db_keys", "redis_db_keys_expiring", "redis_db_avg_ttl_seconds")
COMMANDS = (
    ("redis_commands_total", "calls", 1),
    ("redis_commands_duration_seconds_total", "usec", 1e6),
    ("redis_commands_failed_calls_total", "failed_calls", 1),
    ("redis_commands_rejected_calls_total", "rejected_calls", 1),
)
USES = (
    ("GET", "key7"), ("GET", "nothing"), ("LPUSH", "key1", "a wrong type"),
    ("EVAL", "return 1", "0"),
    ("FUNCTION", "LOAD",
     "#!lua name=library\nredis.register_function('f', function() return 1 end)"),
    ("CONFIG", "SET", "appendonly", "yes"),
)


class Redis:
    """A redis-server on a socket of a directory, whose INFO and memory are asked for."""

    def __init__(self, directory, port, *options):
        self.port = port
        self.process = subprocess.Popen(
            [sys.argv[2], "--port", str(port), "--dir", directory, "--dbfilename",
             f"{port}.rdb", "--save", "", *options], stdout=subprocess.DEVNULL)
        self.connection = application.connect(self.process, port)
        self.answers = self.connection.makefile("rb")
        self.reader = application.Reader(self.process.pid)

    def ask(self, *words):
        parts = [word.encode() for word in words]
        self.connection.sendall(b"*%d\r\n" % len(parts) + b"".join(
            b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
        line = self.answers.readline()
        if line[:1] == b"$" and line[1:2] != b"-":
            return self.answers.read(int(line[1:]) + 2).decode()
        return line.decode().strip()

    def info(self):
        return parse_info(self.ask("INFO", "everything"))

    def await_info(self, field, text):
        for _ in range(200):
            if self.info().get(field) == text:
                return
            time.sleep(0.1)

    def end(self):
        self.reader.end()
        self.process.terminate()
        self.process.wait()


def lines_of_page():
    """The lines of fields that are served."""
    return [line[:4] for line in PAGE.values() if line[1] != "not"]


def names_of_exporter():
    """{field of INFO: family of redis_exporter}"""
    with open(os.path.join(os.path.dirname(__file__), "redis_exporter"),
              encoding="utf-8") as lines:
        pairs = [line.split() for line in lines if not line.startswith("#")]
    return {field: "redis_" + name for field, name in pairs}


def series_of_page(series, before, after):
    """Compares the series with INFO. Returns the families that have one, and the faults."""
    found, wrong = set(), []
    for field, _, _, family in lines_of_page():
        value = series.get(family + '{application="test"}')
        if not family or value is None or field not in before or field not in after:
            continue
        found.add(family)
        value = round(value * SCALES.get(family, 1), 6)
        if "_ms_" in family:
            value //= 1
        if field not in DISTURBED and not lies_between(value, before[field], after[field]):
            wrong.append(f"{family}: {value}, INFO {before[field]} and {after[field]}")
    return found, wrong


def series_of_database(series, before, after):
    """Compares the series of the first database with INFO. Returns the faults."""
    wrong = []
    for family, scale, first, last in zip(DATABASE, (1, 1, 1000), texts_of("db0", before["db0"]),
                                          texts_of("db0", after["db0"])):
        value = series.get(family + '{application="test",db="db0"}')
        if value is None or not lies_between(round(value * scale), first, last):
            wrong.append(f"{family}: {value}, INFO {first} and {last}")
    return wrong


def series_of_role(series, info):
    """Compares the series that have other labels with INFO. Returns the faults."""
    is_replica = info["role"] == "slave"
    labels = ('application="test",master_replid="{master_replid}",process_id="{process_id}",'
              'role="{role}",run_id="{run_id}",tcp_port="{tcp_port}"').format(**info)
    wanted = {'redis_up{application="test"}': 1, f"redis_instance_info{{{labels}}}": 1}
    if is_replica:
        master = 'application="test",master_port="{master_port}"'.format(**info)
        wanted |= {
            f"redis_master_link_up{{{master}}}": info["master_link_status"] == "up",
            f"redis_master_sync_in_progress{{{master}}}": int(info["master_sync_in_progress"]),
            f'redis_slave_info{{{master},read_only="{info["slave_read_only"]}"}}': 1,
            'redis_slave_priority{application="test"}': int(info["slave_priority"]),
        }
    wrong = [f"{name}: {series.get(name)}, INFO {value}" for name, value in wanted.items()
             if series.get(name) != value]
    if is_replica != any("redis_slave_info" in name for name in series):
        wrong.append("only a replica has redis_slave_info")
    return wrong


def series_of_commands(series, info):
    """Compares the series of commands with INFO. Returns the faults."""
    wrong = []
    for field, text in info.items():
        name = field.removeprefix("cmdstat_")
        if name == field or name == "info" or "|" in name:
            continue
        shown = dict(part.split("=") for part in text.split(","))
        for family, key, scale in COMMANDS:
            value = series.get(f'{family}{{application="test",cmd="{name}"}}')
            if value is None and not int(shown[key]):
                continue
            if value is None or round(value * scale) != int(shown[key]):
                wrong.append(f"{family} of {name}: {value}, INFO {shown[key]}")
    return wrong


def compare(redis, when):
    """Returns the fields that were compared, and the families that have a series."""
    before = redis.info()
    rows = redis.reader.read()
    row = dict(rows["redis"][0], time=time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000)
    after = redis.info()
    wrong, compared = [], set()
    for field, kind, text, _ in lines_of_page():
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
    families, wrong = series_of_page(rows["series"], before, after)
    wrong += series_of_role(rows["series"], after) + series_of_commands(rows["series"], before)
    if "db0" in before:
        wrong += series_of_database(rows["series"], before, after)
    point(not wrong, f"{when}: the series of {len(families)} fields and of commands equal INFO",
          "; ".join(wrong))
    return compared, families


def check_names():
    """The page names the families that redis_exporter has, and where one is missing says why."""
    names = {field: family for field, family in names_of_exporter().items() if field in PAGE}
    wrong = []
    for field, _, _, family in lines_of_page():
        if family and family != names.get(field):
            wrong.append(f"{field}: {family}, redis_exporter {names.get(field)}")
    served = {family for *_, family in lines_of_page()} - {""}
    missing = set(names.values()) - served
    for field, family in names.items():
        if family in missing and not PAGE[field][4]:
            wrong.append(f"{family} is missing without a reason")
    point(not wrong, f"{len(served)} of {len(names)} families of redis_exporter, by their names",
          "; ".join(wrong))


def main():
    application.skip_without_layout(sys.argv[2])
    with tempfile.TemporaryDirectory() as directory:
        redis = Redis(directory, 17771)
        try:
            PAGE.update(read_page(redis.info()))
            unknown = {field for field in redis.info() if not re.match(
                "(cmdstat|errorstat|latency_percentiles|module|db0_distrib)", field)} - set(PAGE)
            point(not unknown, "each field of INFO is listed", ", ".join(sorted(unknown)))
            results = [compare(redis, "an idle server")]
            for i in range(300):
                redis.ask("SET", f"key{i}", "value" * i, *(["EX", "1000"] if i % 2 else []))
            for command in USES:
                redis.ask(*command)
            results.append(compare(redis, "a server with keys, scripts and an append-only file"))
            redis.ask("CONFIG", "SET", "rdb-key-save-delay", "20000")
            redis.await_info("aof_rewrite_in_progress", "0")
            redis.ask("BGSAVE")
            results.append(compare(redis, "a server that saves"))
            other = Redis(directory, 17772, "--replicaof", "127.0.0.1", "17771")
            try:
                redis.ask("CONFIG", "SET", "rdb-key-save-delay", "0")
                other.await_info("master_link_status", "up")
                redis.ask("SET", "after", "replication")
                results.append(compare(redis, "a master"))
                results.append(compare(other, "a replica"))
            finally:
                other.end()
            compared = set().union(*(fields for fields, _ in results))
            families = set().union(*(found for _, found in results))
            listed = {field for field, *_ in lines_of_page()}
            named = {family for *_, family in lines_of_page()} - {""}
            point(compared == listed and families == named, "each line of redis.md was compared",
                  ", ".join(sorted((listed - compared) | (named - families))))
            check_names()
        finally:
            redis.end()
    application.end()


main()
