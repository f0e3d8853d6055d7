#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""functions COUNT [LINES...]: check what controllers showed of short functions

LINES are files with the lines of dart-controller --json while selftests/helpers/functions ran
COUNT functions. In each file each function must appear, once: in scrapes without a gap between
them, with calls that never fall, and at last with its final count, 1,000,000 + its number. A line
with functions that were just added, of a controller with a mirror, may come before each scrape.
Prints a line for each finding, and exits with 1 if there is one.
"""

import json
import sys


class Function:
    """The appearances of a function in the scrapes of a controller."""

    def __init__(self):
        self.calls = None   # that were shown last
        self.last = None    # number of the scrape that showed it last
        self.was_added = False    # a line of added entries showed it
        self.faults = []

    def see(self, scrape, calls):
        """It was shown with @calls in a scrape."""
        if self.last is not None and self.last != scrape - 1:
            self.faults.append(f"disappeared for scrapes {self.last + 1} to {scrape - 1}")
        self.last = scrape
        self.count(calls)

    def count(self, calls):
        """It was shown with @calls."""
        if self.calls is not None and calls < self.calls:
            self.faults.append(f"fell from {self.calls} to {calls} calls")
        self.calls = calls


def numbers_of(entries):
    """Yields the number of each function in @entries, and its calls."""
    for name, entry in entries.items():
        kind, _, number = name.partition("-")
        if kind == "function" and entry["rows"]:
            yield int(number), entry["rows"][0]["calls"]


def functions_of(lines):
    """({number: Function}, scrapes) in the lines of a controller."""
    functions = {}
    scrapes = 0
    for line in lines:
        if not line.endswith("\n"):    # it is being written
            break
        line = json.loads(line)
        for number, calls in numbers_of(line.get("added", {})):
            function = functions.setdefault(number, Function())
            function.was_added = True
            function.count(calls)
        entries = line.get("entries")
        if entries is None:
            continue
        scrapes += 1
        for number, calls in numbers_of(entries):
            functions.setdefault(number, Function()).see(scrapes, calls)
    return functions, scrapes


def findings_of(path, count):
    """Yields a sentence for each fault."""
    with open(path, encoding="utf-8") as lines:
        functions, scrapes = functions_of(lines)
    added = sum(function.was_added for function in functions.values())
    print(f"# {path}: {len(functions)} of {count} functions in {scrapes} scrapes, "
          f"{added} of them when they were added")
    for number in range(count):
        function = functions.get(number)
        if not function:
            yield f"function {number} was never shown"
            continue
        for fault in function.faults:
            yield f"function {number} {fault}"
        if function.calls != 1000000 + number:
            yield f"function {number} ended with {function.calls} calls"


def main():
    """Checks all files."""
    found = False
    for path in sys.argv[2:]:
        for finding in findings_of(path, int(sys.argv[1])):
            print(f"{path}: {finding}")
            found = True
    sys.exit(found)


if __name__ == "__main__":
    main()
