#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""values_between.py BEFORE AFTER SCRAPES

Compares the values of the last scrape of a whole host (lines of dart-controller --json)
with the kernel's values before and after it (kernel_values.py). Prints the number of
compared values, and the values that the kernel's files do not show, by source and
field; exits with 1 if a value lies outside or an entry of the kernel lacks values.
"""
import json
import re
import sys

EXAMPLES = 10


# A record that the kernel writes during the READ shows no values in a scrape.
LAST_SCRAPES = 3


def scraped(path):
    """The last whole values of each entry: {"ENTRY/COPY/FIELD": VALUE}."""
    with open(path) as file:
        scrapes = [line["entries"] for line in map(json.loads, file) if "entries" in line]
    last = {entry: read for scrape in scrapes[-LAST_SCRAPES:]
            for entry, read in scrape.items() if read.get("sum") or read.get("rows")}
    values = {}
    for entry, read in last.items():
        entry, _, interval = entry.rpartition("+")
        if not interval.endswith("s"):  # not gathered
            continue
        copies = read.get("rows") or {"sum": read.get("sum")}
        for copy, fields in copies.items():
            for field, value in (fields or {}).items():
                values[f"{entry}/{copy}/{field}"] = value
    return values


def kind(name):
    """A value without the name of its object."""
    entry, _, field = re.match(r"(.*)/([^/]*)/([^/]*)", name).groups()
    return f"{entry.split('@')[0]}/{field}"


def main():
    with open(sys.argv[1]) as before, open(sys.argv[2]) as after:
        before, after = json.load(before), json.load(after)
    values = scraped(sys.argv[3])
    entries = {name.rsplit("/", 2)[0] for name in values}
    compared, outside, not_shown = 0, [], {}
    for name, value in values.items():
        if name in before and name in after:
            low = min(before[name][0], after[name][0])
            high = max(before[name][1], after[name][1])
            compared += 1
            if not low <= value < high:
                outside.append(f"{name}: {value} is not in {low} ... {high - 1}")
        elif not re.search("/(time|cpu|node|port)$", name):
            not_shown[kind(name)] = not_shown.get(kind(name), 0) + 1
    absent = {name.rsplit("/", 2)[0] for name in before} - entries
    for line in (outside + [f"{entry}: no values" for entry in sorted(absent)])[:EXAMPLES]:
        print(line, file=sys.stderr)
    not_served = {kind(name) for name in before
                  if name not in values and name.rsplit("/", 2)[0] in entries}
    print(json.dumps({"compared": compared, "outside": len(outside),
                      "absent": len(absent), "not_shown": sorted(not_shown),
                      "not_served": sorted(not_served)}))
    return bool(outside or absent or not compared)


sys.exit(main())
