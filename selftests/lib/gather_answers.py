# SPDX-License-Identifier: GPL-2.0-only
"""Asks eBPF programs that gather, and prints TAP, for tests that compare their answers with the
kernel's files."""
import json
import os
import re
import subprocess
import sys

OUTPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".output")
QUESTIONS_MAX = 256     # GATHER_QUESTIONS

points = 0
failures = 0


def check(name, is_true, *details):
    """One line of TAP; details are printed if it fails."""
    global points, failures
    points += 1
    if is_true:
        print(f"ok {points} - {name}")
    else:
        failures += 1
        print(f"not ok {points} - {name}")
        for detail in details:
            print(f"# {detail}"[:2000])
    sys.stdout.flush()


def finish():
    print(f"1..{points}")
    sys.exit(1 if failures else 0)


class Asker:
    """A process that holds an object, and asks it the same questions again and again."""

    def __init__(self, program, questions, *options):
        self.process = subprocess.Popen(
            [os.path.join(OUTPUT, "selftests/helpers/ask_programs"), *options,
             os.path.join(OUTPUT, f"bpf/gather/{program}.bpf.o"), *questions],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.longest = 0    # ns of a run, in the last call
        self.runs = 0

    def ask(self):
        """The answers, in the order of the questions."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = json.loads(self.process.stdout.readline())
        self.longest = line["longest"]
        self.runs = line["runs"]
        return line["answers"]

    def close(self):
        self.process.stdin.close()
        return self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


def sums(answer):
    """The words of counters per CPU, added up as the kernel does."""
    return [sum(words) & (1 << 64) - 1 for words in zip(*(row["values"] for row in answer["rows"]))]


class Types:
    """Constants and sizes of the running kernel."""

    def __init__(self):
        text = subprocess.run(["bpftool", "btf", "dump", "file", "/sys/kernel/btf/vmlinux",
                               "format", "c"], check=True, capture_output=True, text=True).stdout
        self.enums = {name: int(value) for name, value in
                      re.findall(r"^\t([A-Z_][A-Z0-9_]*) = (\d+),$", text, re.MULTILINE)}


def differences(before, values, after):
    """The names of values that are not between those of two readings, with all three."""
    return [(name, before[name], value, after[name]) for name, value in values.items()
            if not min(before[name], after[name]) <= value <= max(before[name], after[name])]
