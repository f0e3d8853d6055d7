# SPDX-License-Identifier: GPL-2.0-only
"""first_values.py ASKED LINES [BARE]: for each slice of the helper first_values, which printed ASKED,
finds its first value in the JSON LINES of a controller on the same host, and prints the times from
before its registration until the value had landed and was decoded.  Fails if one has no value.
With BARE, times of the helper bare_update, prints how many times as long the medians are."""
import json
import statistics
import sys

GOAL = 1.5


def read(path):
    """The whole lines of a file."""
    with open(path, encoding="ascii") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def first_lines(lines, asked):
    """The first line with the value of each slice: an ended one of the same name may linger."""
    found = {}
    for line in lines:
        for name, entry in {**line.get("entries", {}), **line.get("added", {})}.items():
            rows = entry.get("rows", [])
            if name in asked and rows and rows[0].get("asked_ns") == asked[name]:
                found.setdefault(name, line)
    return found


def compare(whole, after, path):
    """Prints both times beside that of a bare WRITE with immediate data and a READ."""
    bare = statistics.median(json.loads(open(path, encoding="ascii").read()))
    verdict = "holds" if whole <= GOAL * bare else "falls short"
    print(f"# {whole / bare:.1f} times a bare update of {bare:.2f} ms, goal {GOAL}: {verdict}; "
          f"after the reply {after / bare:.1f} times")


def main():
    """Compares both files."""
    slices = read(sys.argv[1])
    asked = {slice["entry"]: slice["asked_ns"] for slice in slices}
    registrations = [(slice["replied_ns"] - slice["asked_ns"]) / 1e6 for slice in slices]
    print(f"# registrations took a median of {statistics.median(registrations):.1f} ms")
    found = first_lines(read(sys.argv[2]), asked)
    missing = [name for name in asked if name not in found]
    if missing:
        sys.exit(f"without their value: {', '.join(missing)}")
    replied = {slice["entry"]: slice["replied_ns"] for slice in slices}
    times = [(line["landed_ns"] - replied[name]) / 1e6 for name, line in found.items()]
    print(f"# from the reply to the registration until then: min {min(times):.1f}, "
          f"median {statistics.median(times):.1f}, max {max(times):.1f} ms")
    if len(sys.argv) > 3:
        whole = [(line["landed_ns"] - asked[name]) / 1e6 for name, line in found.items()]
        compare(statistics.median(whole), statistics.median(times), sys.argv[3])
    for what, member in ("landed", "landed_ns"), ("decoded", "end_ns"):
        times = [(line[member] - asked[name]) / 1e6 for name, line in found.items()]
        print(f"# from before {len(times)} registrations until the first value had {what}: "
              f"min {min(times):.1f}, median {statistics.median(times):.1f}, "
              f"max {max(times):.1f} ms")


main()
