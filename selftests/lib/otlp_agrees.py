#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""otlp_agrees.py OTLP REMOTE_WRITE [PAGE...]: the files that receiver.py made of two outputs, and
pages of the same controller.

Both outputs have the same samples, to the millisecond, and the same ends of series; each sample of
a page was sent; each metric has the type of the page.  Prints how much was compared, and the
differences.
"""
import re
import sys

SAMPLE = re.compile(r"([^{ ]+)(?:\{(.*)\})? (\S+) (-?\d+)$", re.DOTALL)
LABEL = re.compile(r'([^=,]+)="((?:[^"\\]|\\.)*)"(?:,|$)', re.DOTALL)
# Series of the controller itself are only on the page, and dart_up has its own times there.
NOT_COMPARED = ("dart_controller_", "process_", "dart_up")


def key_of(name, text, further=()):
    labels = {**dict(LABEL.findall(text or "")), **dict(further)}
    if "le" in labels:
        labels["le"] = repr(float(labels["le"]))
    # Pages have plain names of labels.
    return name, tuple(sorted((label.replace(".", "_"), labels[label]) for label in labels))


def samples_of(path, unit_ns):
    """{series: {ms: value}}, {name: type}"""
    series, types = {}, {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("# "):
                _, name, kind, *_ = line.split()
                types[name] = kind
                continue
            name, text, value, time = SAMPLE.match(line.rstrip("\n")).groups()
            times = series.setdefault(key_of(name, text), {})
            ms = int(time) * unit_ns // 1000000
            value = value if value == "stale" else float(value)
            # A request whose answer is lost is sent again.
            assert equal(times.setdefault(ms, value), value), line
    return series, types


def page_of(path):
    """[(series, ms, value)], {name: type}"""
    samples, types = [], {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split()
                types[name] = kind
            elif not line.startswith("#"):
                name, text, value, time = SAMPLE.match(line.rstrip("\n")).groups()
                if not name.startswith(NOT_COMPARED):
                    samples.append((key_of(name, text, [("job", "dart")]), int(time),
                                    float(value)))
    return samples, types


def equal(one, other):
    return one == other or (one != one and other != other)


def differences(otlp, written):
    for key in sorted(otlp.keys() ^ written.keys()):
        yield f"{key} is only in {'OTLP' if key in otlp else 'remote write'}"
    for key in otlp.keys() & written.keys():
        for time in sorted(otlp[key].keys() ^ written[key].keys()):
            yield f"{key} at {time} is only in {'OTLP' if time in otlp[key] else 'remote write'}"
        for time in otlp[key].keys() & written[key].keys():
            if not equal(otlp[key][time], written[key][time]):
                yield f"{key} at {time}: {otlp[key][time]}, not {written[key][time]}"


def main():
    otlp, types = samples_of(sys.argv[1], 1)
    problems = list(differences(otlp, samples_of(sys.argv[2], 1000000)[0]))
    compared = 0
    for path in sys.argv[3:]:
        samples, of_page = page_of(path)
        for key, time, value in samples:
            compared += 1
            if not equal(otlp.get(key, {}).get(time), value):
                problems.append(f"{key} at {time} is {value} on the page: "
                                f"{otlp.get(key, {}).get(time)}")
        problems += [f"{name} is a {types[name]}, and on the page {of_page[name]}"
                     for name in types.keys() & of_page.keys()
                     if types[name].replace("unknown", "untyped") != of_page[name]]
    sent = sum(len(times) for times in otlp.values())
    histograms = sum(kind == "histogram" for kind in types.values())
    print(f"{len(otlp)} series, {sent} samples, {histograms} histograms; {compared} of pages")
    for problem in problems[:20]:
        print(problem)
    sys.exit(bool(problems) or not sent or (not compared and len(sys.argv) > 3))


main()
