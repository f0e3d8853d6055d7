#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""families.py LIST RELEASE FILE: compares the families in FILE, one a line, with LIST.

LIST has the families of one kernel, one a line, and the differences of others:

    VERSION lacks FAMILY: REASON
    VERSION has FAMILY: REASON

VERSION is the beginning of a release, such as 7.2.  FAMILY may be a pattern of fnmatch.  Prints
each difference that LIST does not give, and each line of it that is wrong for this kernel.
"""
import fnmatch
import re
import sys

wrong = 0


def found(sentence):
    global wrong
    wrong += 1
    print(sentence)


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [line for line in map(str.strip, file) if line and not line.startswith("#")]


def main():
    path, release, file = sys.argv[1:]
    expected, given = set(), []
    for line in lines(path):
        match = re.fullmatch(r"(\d+\.\d+) (lacks|has) (\S+): (.+)", line)
        if match:
            given.append(match.groups())
        elif re.fullmatch(r"[a-zA-Z_:][a-zA-Z0-9_:]*", line):
            expected.add(line)
        else:
            found(f"{path}: cannot be read: {line}")
    shown = set(lines(file))
    lacking, new = expected - shown, shown - expected
    for version, verb, family, _ in given:
        if not release.startswith(version + "."):
            continue
        differences = lacking if verb == "lacks" else new
        matching = set(fnmatch.filter(differences, family))
        if not matching:
            found(f"{path}: says that Linux {version} {verb} {family}, which is not so here")
        differences -= matching
    for family in sorted(lacking):
        found(f"lacks {family}, which {path} has")
    for family in sorted(new):
        found(f"has {family}, which {path} does not have")
    if not shown:
        found(f"{file}: has no family")
    print(f"# {len(shown)} families on Linux {release}, {len(expected)} in the list")
    return wrong > 0


sys.exit(main())
