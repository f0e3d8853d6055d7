# SPDX-License-Identifier: GPL-2.0-only
"""Metrics as a controller sends them: the file of selftests/lib/receiver.py, and spools.

Both as {key of the series: {time in ms: value}}, without stale markers, and without the label
"fed", which says to whom they are sent.
"""
import glob
import gzip
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import receiver  # noqa: E402
from programs import series_key  # noqa: E402

SAMPLE = re.compile(r"([^{]+)\{(.*)\} (\S+) (-?\d+)\n?$", re.DOTALL)
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="(.*?)"(?=,[a-zA-Z_][a-zA-Z0-9_]*="|$)',
                   re.DOTALL)
# A spool's record: see tools/controller/push/queue/record.h.
HEAD = struct.Struct("<IIIBBHQQ")
MAGIC = 0x4C505344
REMOTE_WRITE_1, REMOTE_WRITE_2, INFLUX = 1, 2, 3


def of_lines(lines):
    """The samples of receiver.lines()."""
    known, series, stale = {}, {}, 0
    for line in lines:
        name, text, value, at = SAMPLE.match(line).groups()
        if (name, text) not in known:
            known[name, text] = key_of(name, dict(LABEL.findall(text)))
        if value == "stale":
            stale += 1
        else:
            series.setdefault(known[name, text], {})[int(at)] = float(value)
    return series, stale


def of_file(path):
    """The output of the tests' receiver: series, and the number of markers."""
    with open(path, encoding="utf-8") as lines:
        return of_lines(lines)


def key_of(name, labels):
    labels.pop("fed", None)
    return series_key(name, labels)


def unescape(text):
    return re.sub(r"\\(.)", r"\1", text)


def of_influx(text):
    """Lines of InfluxDB's protocol, with times in ns."""
    series = {}
    for line in text.splitlines():
        tags, field, at = re.split(r"(?<!\\) ", line)
        name, *labels = re.split(r"(?<!\\),", tags)
        pairs = [re.split(r"(?<!\\)=", label) for label in labels]
        key = key_of(unescape(name), {
            unescape(label): unescape(value) for label, value in pairs})
        series.setdefault(key, {})[int(at) // 1000000] = float(field.partition("=")[2])
    return series


def position_of(directory):
    """The first segment with unsent messages, and their offset in it."""
    with open(os.path.join(directory, "position"), "rb") as file:
        data = file.read()
    return struct.unpack_from("<QQ", data) if len(data) >= 16 else (0, 0)


def of_segment(data, at=0):
    """The series of each message of a segment from a byte on, up to an incomplete message."""
    while at + HEAD.size <= len(data):
        magic, length, _, kind, *_ = HEAD.unpack_from(data, at)
        body = data[at + HEAD.size:at + HEAD.size + length]
        if magic != MAGIC or len(body) < length:
            break
        at += HEAD.size + length
        yield of_influx(gzip.decompress(body).decode()) if kind == INFLUX else \
            of_lines(receiver.lines(body, kind))[0]


def of_spool(directory, only_waiting=False):
    """The samples that wait in a spool, or that were sent from a segment that still exists."""
    everything, messages = {}, 0
    segment, offset = position_of(directory)
    for path in sorted(glob.glob(os.path.join(directory, "*.segment"))):
        with open(path, "rb") as file:
            data = file.read()
        number = int(os.path.basename(path).partition(".")[0], 16)
        if only_waiting and number < segment:
            continue
        at = offset if only_waiting and number == segment else 0
        for series in of_segment(data, at):
            messages += 1
            for key, points in series.items():
                everything.setdefault(key, {}).update(points)
    return everything, messages
