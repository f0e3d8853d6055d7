#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""functions COUNT [LINES...]: check what controllers showed of short functions

LINES are files with the lines of dart-controller --json while selftests/helpers/functions ran
COUNT functions. In each file each function must appear, once: in scrapes without a gap between
them, with calls that never fall, and at last with its final count, 1,000,000 + its number.
Prints a line for each finding, and exits with 1 if there is one.
"""

import json
import sys


class Function:
    """The appearances of a function in the scrapes of a controller."""

    def __init__(self):
        self.calls = None   # that were shown last
        self.last = None    # number of the scrape that showed it last
        self.faults = []

    def see(self, scrape, calls):
        """It was shown with @calls in a scrape."""
        if self.last is not None and self.last != scrape - 1:
            self.faults.append(f"disappeared for scrapes {self.last + 1} to {scrape - 1}")
        if self.calls is not None and calls < self.calls:
            self.faults.append(f"fell from {self.calls} to {calls} calls")
        self.calls = calls
        self.last = scrape


def functions_of(lines):
    """({number: Function}, scrapes) in the lines of a controller."""
    functions = {}
    scrapes = 0
    for line in lines:
        if not line.endswith("\n"):    # it is being written
            break
        entries = json.loads(line).get("entries")
        if entries is None:    # not a scrape; entries that were just added are in the next one
            continue
        scrapes += 1
        for name, entry in entries.items():
            kind, _, number = name.partition("-")
            if kind == "function" and entry["rows"]:
                functions.setdefault(int(number), Function()).see(
                    scrapes, entry["rows"][0]["calls"])
    return functions, scrapes


def findings_of(path, count):
    """Yields a sentence for each fault."""
    with open(path, encoding="utf-8") as lines:
        functions, scrapes = functions_of(lines)
    print(f"# {path}: {len(functions)} of {count} functions in {scrapes} scrapes")
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
