#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""promised.py SHARE: compares the samples at receivers with the promised ones, see spool.sh.

Prints TAP without numbers and plan.
"""
import functools
import glob
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../receivers"), os.path.join(HERE, "../lib")]
import receiver  # noqa: E402
import sent  # noqa: E402

HEAD = struct.Struct("<IB")
CUTS = (1, 2, 3)
BOOTS = (1, 2, 3, 4)
# See spool_in_guest.
FLUSHES = 32
BATCH = 100
share = sys.argv[1]


def bodies(kind, boot):
    """The messages of a file of keep.py; the last one may be cut."""
    try:
        with open(f"{share}/received/{kind}.{boot}", "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return
    at = 0
    while at + HEAD.size <= len(data):
        length, version = HEAD.unpack_from(data, at)
        at += HEAD.size + length
        if at <= len(data):
            yield data[at - length:at], version


def points(series):
    return {(key, time): value for key, times in series.items() for time, value in times.items()}


@functools.cache
def of_boot(kind, boot):
    """{(series, time): value}"""
    got = {}
    for body, version in bodies(kind, boot):
        got.update(points(sent.of_lines(receiver.lines(body, version))[0]))
    return got


def arrived(kind, boots=BOOTS):
    got = {}
    for boot in boots:
        got.update(of_boot(kind, boot))
    return got


def snapshots(boot):
    """The numbers of whole messages."""
    return sorted(int(path.split("/")[-2]) for path in glob.glob(f"{share}/{boot}/*/flushes"))


def flushes(boot, snapshot):
    with open(f"{share}/{boot}/{snapshot}/flushes", encoding="ascii") as file:
        return int(file.read())


@functools.cache
def messages(boot, snapshot, kind):
    """A list of the points of each message in a spool."""
    found = []
    for path in sorted(glob.glob(f"{share}/{boot}/{snapshot}/{kind}/*.segment")):
        with open(path, "rb") as file:
            found += [points(series) for series in sent.of_segment(file.read())]
    return found


def promised(kind, boot):
    """The messages that are on the disk when the power is cut."""
    there = snapshots(boot)
    last = there[-1]
    if kind == "always":
        # The last one may not be synced yet.
        return messages(boot, last, kind)[:-1]
    if kind == "1s":
        forced = [number for number in there
                  if flushes(boot, last) > flushes(boot, number) + FLUSHES]
        return messages(boot, forced[-1], kind) if forced else []
    try:
        with open(f"{share}/{boot}/synced", encoding="ascii") as file:
            return messages(boot, int(file.read()), kind)
    except FileNotFoundError:
        return []


def kept(kind):
    """Did all promised samples arrive, in each boot, and some of them only after the power cut?"""
    got = arrived(kind)
    print(f"# {kind}: {len(got)} samples arrived")
    holds = True
    for boot in CUTS:
        wanted = {point: value for message in promised(kind, boot)
                  for point, value in message.items()}
        before = arrived(kind, range(1, boot + 1))
        late = sum(point not in before for point in wanted)
        lost = [point for point, value in wanted.items() if got.get(point) != value]
        print(f"# power cut {boot}: {len(wanted)} samples were promised, {late} of them had not "
              f"arrived, {len(lost)} are lost or changed {sorted(lost)[:3]}")
        holds = holds and not lost and (late > 0 or boot == 2 or (kind == "never" and boot == 3))
    return holds


def lost(kind):
    """Does the first power cut lose the samples that were not synced to the disk?"""
    there = {point for message in messages(1, snapshots(1)[-1], kind) for point in message}
    gone = there - set(arrived(kind))
    print(f"# {kind}: of {len(there)} samples in the last snapshot {len(gone)} are lost")
    return bool(gone)


def right(kind):
    """Was each arrived sample made, with its value?"""
    truth = {boot: of_boot("truth", boot) for boot in CUTS}
    made = {point: value for boot in CUTS for point, value in truth[boot].items()}
    ends = [max(time for _, time in truth[boot]) for boot in CUTS]
    begins = [min(time for _, time in truth[boot]) for boot in CUTS]
    wrong = []
    for point, value in arrived(kind).items():
        if point in made:
            if made[point] != value:
                wrong.append((point, value, made[point]))
        # Made just before a power cut.
        elif not any(end <= point[1] and not any(end < begin <= point[1] for begin in begins)
                     for end in ends):
            wrong.append((point, value))
    print(f"# {kind}: {len(made)} samples were made, {len(wrong)} of those that arrived are wrong "
          f"{wrong[:3]}")
    return bool(made) and not wrong


def counted(kind):
    """Did the last boot count its sent samples, and no more lost ones than are missing?"""
    port = {"never": 9001, "1s": 9002, "always": 9003}[kind]
    with open(f"{share}/4/log", encoding="utf-8") as log:
        found = re.search(rf":{port}/: (\d+) samples sent, (\d+) refused, (\d+) dropped",
                          log.read())
    taken, refused, dropped = map(int, found.groups())
    got = sum(1 for body, version in bodies(kind, 4) for _ in receiver.lines(body, version))
    missing = len(set(arrived("truth", CUTS)) - set(arrived(kind)))
    print(f"# {kind}: {taken} samples sent, {got} arrived; {dropped} dropped, {missing} missing")
    return taken == got and not refused and dropped <= missing + BATCH


def main():
    checks = [
        ("always: all that was written has arrived", kept, "always"),
        ("1s: all that was written before the disk was flushed has arrived", kept, "1s"),
        ("never: all that the kernel had written has arrived", kept, "never"),
        ("never: the rest is lost, so that this test shows something", lost, "never")]
    for kind in ("always", "1s", "never"):
        checks += [
            (f"{kind}: each sample that has arrived was made, and has its value", right, kind),
            (f"{kind}: what arrived at last is what was counted", counted, kind)]
    for sentence, holds, kind in checks:
        print("ok" if holds(kind) else "not ok", "-", sentence, flush=True)


if __name__ == "__main__":
    main()
