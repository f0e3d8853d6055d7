# SPDX-License-Identifier: GPL-2.0-only
"""Asks the programs of bpf/gather as dartd does, and compares their answers with the files of
the kernel, read before and after each answer."""
import json
import os
import subprocess
import sys

import kernel_values

OUTPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.output")
ASK = f"{OUTPUT}/selftests/helpers/ask_programs"
ROUNDS = 20
EXAMPLES = 10
NO_MEMBER = 3  # exit status of ask_programs
QUESTIONS_MAX = 256  # GATHER_QUESTIONS


class Question:
    """A question of ask_programs, and the names of its values as in kernel_values.py.

    entry: the name of its entry, otherwise its source
    copies: a row for each CPU or node; otherwise the sum over all rows
    fields: names of the numbers of a member, None for those that are left out; or None
            for a sample, whose members have names
    """

    def __init__(self, text, entry=None, copies=False, fields=None):
        self.text = text
        self.entry = entry or text.split(",")[0]
        self.copies = copies
        self.fields = fields

    def named(self, row):
        values = row["values"]
        if self.fields:
            values = {field: number for field, number in zip(self.fields, values) if field}
        return values

    def values(self, answer):
        """Converts an answer to {"ENTRY/COPY/FIELD": VALUE}."""
        values = {}
        for row in answer["rows"]:
            copy = row["number"] if self.copies else "sum"
            for field, value in self.named(row).items():
                name = f"{self.entry}/{copy}/{field}"
                values[name] = values.get(name, 0) + value
        return values


class Asker:
    """A process that holds the program of an object, and asks it the same questions again and
    again; NAME is the path of the object below .output/bpf."""

    def __init__(self, name, questions, *options):
        self.questions = [question if isinstance(question, Question) else Question(question)
                          for question in questions]
        self.process = subprocess.Popen(
            [ASK, *options, f"{OUTPUT}/bpf/{name}.bpf.o",
             *(question.text for question in self.questions)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.longest = 0  # time of a run, ns
        self.runs = 0  # for the last answers

    def ask(self):
        """Returns the answers, in the order of the questions; raises EOFError if the process has
        ended."""
        try:
            print(file=self.process.stdin, flush=True)
        except BrokenPipeError:
            raise EOFError from None
        line = self.process.stdout.readline()
        if not line:
            raise EOFError
        line = json.loads(line)
        self.longest, self.runs = line["longest"], line["runs"]
        return line["answers"]

    def values(self):
        values = {}
        for question, answer in zip(self.questions, self.ask()):
            for name, value in question.values(answer).items():
                values[name] = values.get(name, 0) + value
        return values

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


def for_this_kernel(questions):
    """Leaves out questions for members that the kernel lacks."""
    return [question for question in questions
            if subprocess.run([ASK, "-", question.text], check=False).returncode != NO_MEMBER]


def kind(name):
    """The name of a value, but for its copy."""
    entry, _, field = name.rsplit("/", 2)
    return f"{entry}/{field}"


def read_files(takers):
    kernel_values.is_exact = True
    kernel_values.values.clear()
    for take in takers:
        take()
    return dict(kernel_values.values)


class Agreement:
    """How often each value was between those of the files, in all rounds together."""

    def __init__(self):
        self.rounds = 0
        self.agreed = {}
        self.examples = {}
        self.answered = set()  # kinds of values
        self.unknown = set()  # kinds of values that no file shows

    def compare(self, before, values, after):
        """A round."""
        self.rounds += 1
        answered = {kind(name) for name in values}
        self.answered |= answered
        self.unknown |= answered - {kind(name) for name in before}
        for name in set(before) & set(after):
            if kind(name) not in answered:  # a line of a file that no source has
                continue
            low = min(before[name][0], after[name][0])
            high = max(before[name][1], after[name][1])
            agrees = name in values and low <= values[name] < high
            self.agreed[name] = self.agreed.get(name, 0) + agrees
            if not agrees:
                self.examples[name] = f"{values.get(name)} is not in {low} ... {high - 1}"

    def wrong(self, prefixes, times):
        """Values of entries with these prefixes that agreed less often."""
        return {name: count for name, count in self.agreed.items()
                if name.startswith(prefixes) and count < times}

    def count(self, prefixes):
        return sum(name.startswith(prefixes) for name in self.agreed)

    def explain(self, wrong):
        """A line for each of these values, for some of them."""
        return [f"{value}: agreed {agreed} times of {self.rounds}, "
                f"{self.examples.get(value, 'it had no value')}"
                for value, agreed in sorted(wrong.items())][:EXAMPLES]


class Comparison(Agreement):
    """Asks as often, and reads the files before and after each answer."""

    def __init__(self, asker, takers, rounds=ROUNDS):
        super().__init__()
        for _ in range(rounds):
            before = read_files(takers)
            values = asker.values()
            self.compare(before, values, read_files(takers))


class Tap:
    """Points of a test in the format TAP."""

    def __init__(self):
        self.points = 0
        self.failures = 0

    def check(self, name, is_true, *details):
        self.points += 1
        self.failures += not is_true
        for line in () if is_true else details:
            print(f"# {line}"[:2000])
        print("ok" if is_true else "not ok", f"{self.points} - {name}", flush=True)

    def agree(self, name, comparison, prefixes, times=ROUNDS):
        """A point: each value of these entries agreed so many times."""
        wrong = comparison.wrong(prefixes, times)
        count = comparison.count(prefixes)
        self.check(f"{name} ({count} values)", count and not wrong, *comparison.explain(wrong))
        for value in sorted(comparison.unknown):
            if value.startswith(prefixes):
                print(f"# no file shows {value}")

    def finish(self):
        print(f"1..{self.points}")
        sys.exit(self.failures != 0)
