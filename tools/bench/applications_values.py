#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""applications_values.py CONTROLLER RECORDING INFOS

Compares the rows of redis-servers in RECORDING, which CONTROLLER (dart-controller) made, with the
answers to INFO in INFOS, which redis_info wrote on their host meanwhile. The clock is that of the
host: a row has the time just before it was copied, and was whole before the next row of the same
server began. So the last answer that ended before the row, and the first that was asked for after
the time of the next row, lie around it.

  - Each counter lies between these two answers.
  - If the server got no command between them but INFO, each gauge is equal to both. Gauges that INFO
    itself or the time moves, as two answers in a row show, are listed and left out, and so are those
    of the allocator.

Prints figures as JSON, and what lies outside to standard error; exits with 1 if a value does.
"""
import bisect
import collections
import json
import os
import re
import subprocess
import sys

top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(top, "selftests/lib"))
from redis_fields import DISTURBED, lies_between, number, parse_info, read_page, texts_of, values_of

# Redis samples its allocator ten times a second, and sets these variables to 0 before.
SAMPLED = "allocator_"
DESCRIPTIONS = {"7.0": "redis-server.yaml", "8.0": "redis-server-8.yaml"}
EXAMPLES = 10


def had_only(before, after, infos):
    """Did the server get so many INFOs, and nothing else, between these two answers?"""
    commands = int(after["total_commands_processed"]) - int(before["total_commands_processed"])
    return commands == infos and all(before[field] == after[field] for field in (
        "total_connections_received", "connected_clients"))


class Answers:
    """The answers of a server to INFO, in the order of time; parsed when they are looked at."""

    def __init__(self):
        self.begins, self.ends, self.texts, self.parsed = [], [], [], {}

    def add(self, begin, end, text):
        self.begins.append(begin)
        self.ends.append(end)
        self.texts.append(text)

    def __getitem__(self, index):
        if index not in self.parsed:
            if len(self.parsed) > 8:
                self.parsed.clear()
            self.parsed[index] = parse_info(self.texts[index].decode())
        return self.parsed[index]

    def moved(self):
        """Fields that differ in two answers in a row, between which nothing else happened"""
        moved, earlier = set(), None
        for index in range(len(self.texts)):
            info = self[index]
            if earlier and had_only(earlier, info, 1):
                moved |= {field for field in info if info[field] != earlier.get(field)}
            earlier = info
        return moved

    def around(self, first, last):
        """Indexes of the answers before the time @first and after @last, or None"""
        before = bisect.bisect_left(self.ends, first) - 1
        after = bisect.bisect_right(self.begins, last)
        return (before, after) if before >= 0 and after < len(self.begins) else None


def read_answers(path):
    """{port: Answers}"""
    answers = collections.defaultdict(Answers)
    with open(path, "rb") as file:
        while line := file.readline():
            port, begin, end, length = map(int, line.split())
            text = file.read(length)
            if len(text) < length:
                break
            answers[port].add(begin, end, text)
    return answers


def counters_of(version):
    """Names of the fields of the entry "redis" that are counters"""
    name = DESCRIPTIONS.get(version.rpartition(".")[0])
    if not name:
        sys.exit(f"applications_values: Redis {version} has no description")
    with open(os.path.join(top, "schemas/applications", name), encoding="utf-8") as lines:
        return set(re.findall(r"- \{name: (\w+), .*kind: counter", lines.read()))


def is_counter(field, kind, text, counters):
    """A field of INFO is a counter if it is one, or the sum of such, in another unit perhaps."""
    names = set(re.findall(r"[a-z]\w*", text))
    return field in counters if kind == "exact" else bool(names) and names <= counters


def scrapes_of(controller, recording):
    dump = subprocess.Popen([controller, "dump", "--format", "json", recording],
                            stdout=subprocess.PIPE)
    for line in dump.stdout:
        scrape = json.loads(line)
        if "entries" in scrape:
            yield scrape
    if dump.wait():
        sys.exit(f"applications_values: {controller} cannot read {recording}")


class Comparison:
    def __init__(self, answers):
        self.answers = answers
        info = next(iter(answers.values()))[0]
        self.page = [line[:3] for line in read_page(info).values() if line[1] != "not"]
        counters = counters_of(info["redis_version"])
        self.counters = {field for field, kind, text in self.page
                         if is_counter(field, kind, text, counters)}
        # Rows that the module gathers have a field for each element.
        self.arrays = set(re.findall(r"sum\((\w+)\)", " ".join(text for *_, text in self.page)))
        self.pending = {}  # {port: row, not compared yet}
        self.figures = collections.Counter()
        self.widths = []
        moved = set().union(*(one.moved() for one in answers.values()))
        fields = {field for field, *_ in self.page}
        self.moved_counters = moved & self.counters
        sampled = {field for field, _, text in self.page if SAMPLED in text}
        self.left_out = (moved | DISTURBED | sampled) & fields - self.counters
        self.wrong, self.servers = [], set()

    def differs(self, field, kind, text, row, before, after):
        for value, first, last in zip(values_of(field, kind, text, row),
                                      texts_of(field, before[field]),
                                      texts_of(field, after[field])):
            if not lies_between(value, first, last):
                return f"{field}: {value}, INFO {first} and {last}"
        return None

    def take(self, port, row):
        """Compares the row before this one."""
        earlier = self.pending.get(port)
        if earlier and earlier["time"] == row["time"]:
            self.figures["rows_read_again"] += 1
            return
        self.pending[port] = row
        if earlier:
            self.compare(port, earlier, row["time"])

    def compare(self, port, row, next_time):
        answers = self.answers[port]
        around = answers.around(row["time"], next_time)
        if not around:
            self.figures["rows_without_answers"] += 1
            return
        before, after = (answers[index] for index in around)
        row["time"] //= 1000
        for field in self.arrays:
            elements = [name for name in row if re.fullmatch(field + r"_\d+", name)]
            if elements:
                row[field] = [row[name] for name in elements]
        self.figures["rows"] += 1
        self.servers.add(port)
        self.widths.append(answers.begins[around[1]] - answers.ends[around[0]])
        is_quiescent = had_only(before, after, around[1] - around[0])
        self.figures["quiescent_rows"] += is_quiescent
        for field, kind, text in self.page:
            if field not in before or field not in after:
                continue
            if field in self.counters:
                what = "counters"
                if number(before[field]) > number(after[field]):
                    self.wrong.append(f"port {port}: INFO's {field} falls")
            elif not is_quiescent or field in self.left_out:
                continue
            else:
                what = "gauges"
            self.figures[what] += 1
            wrong = self.differs(field, kind, text, row, before, after)
            if wrong:
                self.wrong.append(f"port {port}: {wrong}")

    def report(self):
        widths = sorted(self.widths)
        return dict(self.figures, servers=len(self.servers), fields=len(self.page),
                    counter_fields=sorted(self.counters),
                    moved_by_info=sorted(self.moved_counters), left_out=sorted(self.left_out),
                    width_ns={"p50": widths[len(widths) // 2], "max": widths[-1]} if widths else None,
                    outside=len(self.wrong))


def main():
    comparison = Comparison(read_answers(sys.argv[3]))
    scrapes = incomplete = 0
    first_whole, latencies = None, []
    for scrape in scrapes_of(sys.argv[1], sys.argv[2]):
        scrapes += 1
        whole = 0
        for entry, read in scrape["entries"].items():
            label = re.fullmatch(r"redis@(\d+)\+\w+", entry)
            if not label:
                continue
            row = read.get("sum")
            if row:
                whole += 1
                comparison.take(int(label[1]), dict(row))
        if whole == len(comparison.answers):
            first_whole = first_whole or scrape["time_ns"]
        else:
            incomplete += 1
    print(json.dumps(dict(comparison.report(), scrapes=scrapes, incomplete_scrapes=incomplete,
                          first_whole_ns=first_whole)))
    for line in comparison.wrong[:EXAMPLES]:
        print(line, file=sys.stderr)
    sys.exit(bool(comparison.wrong) or not comparison.figures["rows"])


main()
