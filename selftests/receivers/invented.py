#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Invented metrics of series that begin and end are pushed to each installed receiver,
which then holds exactly these samples, and knows the ended series.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import programs  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PUSH = os.path.join(TOP, ".output/bin/push_metrics")
# 2 hosts, 2 plans of 400 series of which a tenth ends, 21 scrapes; then all end.
ARGUMENTS = ["--targets", "2", "--series", "400", "--scrapes", "21",
             "--generations", "2", "--lost", "--wait", "60"]
LABELS = {"job": "dart"}
points = programs.Points()


def sent(path):
    """{series: {ms: value}}; a series in both plans goes on."""
    everything = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            listed = json.loads(line)
            key = programs.series_key(listed["name"], listed["labels"])
            everything.setdefault(key, {}).update(
                {at // 1000000: value for at, value in listed["points"]})
    return everything


def compare(receiver):
    """The faults; "" without any."""
    path = os.path.join(receiver.directory, "list")
    kind = receiver.kind.replace("_", "-")
    options = ["--version", str(receiver.version)] if receiver.version else []
    run = subprocess.run([PUSH, *ARGUMENTS, *options, "--list", path, kind,
                          receiver.url + receiver.write_path],
                         capture_output=True, text=True, timeout=300, check=False)
    if run.returncode:
        return run.stderr
    counts = json.loads(run.stdout)
    wanted = sent(path)
    samples = sum(len(times) for times in wanted.values())
    if counts["refused"] or counts["dropped"] or counts["sent"] < samples:
        return f"{counts} {run.stderr}"
    problems = list(programs.differences(
        wanted, programs.everything(receiver, LABELS), receiver.tolerance))
    if problems:
        return f"{len(problems)} differences, such as {problems[0]}"
    print(f"# {type(receiver).__name__}: {len(wanted)} series, {samples} samples,"
          f" {counts['bytes_per_sample']} bytes each")
    alive = receiver.alive(LABELS) if receiver.has_ends else []
    return f"{len(alive)} series have not ended" if alive else ""


def test(kind, directory):
    name = f"{kind.__name__} has what was pushed, and no more"
    if not kind.path():
        points.say(name, skip="it is not installed")
        return
    receiver = kind(directory)
    try:
        receiver.start()
        points.say(name, compare(receiver) if receiver.wait() else receiver.log())
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        points.say(name, repr(error))
    finally:
        receiver.stop()


if not any(kind.path() for kind in programs.ALL):
    print("1..0 # SKIP no receiver is installed (packages.txt has them)")
    sys.exit(4)
with tempfile.TemporaryDirectory() as temporary:
    for each in programs.ALL:
        test(each, temporary)
sys.exit(points.finish())
