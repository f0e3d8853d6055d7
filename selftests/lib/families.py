#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""families.py LIST RELEASE PAGE: compares the families of a host on a controller's page with LIST.

LIST has the families of one kernel with the module, one a line, and the differences of others:

    WHERE lacks FAMILY: REASON
    WHERE has FAMILY: REASON

WHERE is the beginning of a release, such as 7.2, or arm64; or "programs": on any kernel, where eBPF
programs gather, without the module.  FAMILY may be a pattern of fnmatch.  Prints each difference
that LIST does not give, and each line of it that is wrong here.
"""
import fnmatch
import re
import sys

# Of the controller itself, of nf_conntrack, a module that another test may have loaded, and of
# proactive reclaim, which a kernel shows once another test has asked for it.
OTHERS = re.compile("dart_controller_|process_|node_nf_conntrack_|"
                    "node_vmstat_pg(scan|steal)_proactive$")

wrong = 0


def found(sentence):
    global wrong
    wrong += 1
    print(sentence)


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [line for line in map(str.strip, file) if line and not line.startswith("#")]


def families_of(page):
    return {family for family in re.findall(r"^# TYPE (\S+) ", page, re.MULTILINE)
            if not OTHERS.match(family)}


def places(release, page):
    """The names of the kernel, the architecture and the way of this host in LIST."""
    without_module = re.search(r"^dart_dartd_gathering_modules(\{.*\})? 0( |$)", page, re.MULTILINE)
    return ([".".join(release.split(".")[:2])] + ["arm64"] * ("-arm64" in release) +
            ["programs"] * bool(without_module))


def main():
    path, release, file = sys.argv[1:]
    expected, given = set(), []
    for line in lines(path):
        match = re.fullmatch(r"(\d+\.\d+|arm64|programs) (lacks|has) (\S+): (.+)", line)
        if match:
            given.append(match.groups())
        elif re.fullmatch(r"[a-zA-Z_:][a-zA-Z0-9_:]*", line):
            expected.add(line)
        else:
            found(f"{path}: cannot be read: {line}")
    with open(file, encoding="utf-8") as page:
        page = page.read()
    shown, here = families_of(page), places(release, page)
    lacking, new = expected - shown, shown - expected
    for place, verb, family, _ in given:
        if place not in here:
            continue
        differences = lacking if verb == "lacks" else new
        matching = set(fnmatch.filter(differences, family))
        if not matching:
            found(f"{path}: says that {place} {verb} {family}, which is not so here")
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
