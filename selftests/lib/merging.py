# SPDX-License-Identifier: GPL-2.0-only
"""A translator that adds up strips of sketches, from the text of <dart/sketch.h> alone."""

import os
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../vectors"))
import generate  # noqa: E402
import generate_strips  # noqa: E402


def fast_crc(low, data, slow=generate.crc):
    return zlib.crc32(data) if low == generate.ETHERNET else slow(low, data)


# The golden vectors have the slow one.
generate.crc = generate_strips.crc = fast_crc

FORWARD, GATHERED, STALE = "forward", "gathered", "stale"


def add(kind, counter, other):
    """The sum of two counters."""
    if kind == generate_strips.COUNT_MIN:
        return min(counter + other, 2**32 - 1)
    last = 2**31 - 1
    for one in (counter, other):
        if abs(one) >= last:
            return max(-last, min(last, one))
    return max(-last, min(last, counter + other))


class Sum:
    """The strips of one period and number that have come."""

    def __init__(self, period):
        self.period = period
        self.sketchers = set()
        self.reporters = 0
        self.written = 0
        self.counters = {}


class Translator:
    """@entry: the export of its own part; @sketchers: how many it knows.  No time passes."""

    def __init__(self, entry, source_mac, sketchers):
        self.entry, self.source_mac, self.sketchers = entry, source_mac, sketchers
        self.sums = {}
        self.writes = 0

    def _write(self, number, one):
        """The frame of a sum."""
        one.written = one.reporters
        content = generate_strips.strip(self.entry, one.period, number, one.counters,
                                        one.reporters)
        psn = (self.entry["first_psn"] + self.writes) % 2**24
        self.writes += 1
        return generate_strips.frame(self.entry, self.source_mac, one.period, number, content, psn)

    def take(self, sketcher, period, number, counters, reporters=1):
        """The strip of a sketcher.  Returns the frame that it becomes, or GATHERED or STALE."""
        one = self.sums.setdefault((period % 2, number), Sum(period))
        frame = None
        if period > one.period:
            if one.reporters != one.written:
                frame = self._write(number, one)
            one = self.sums[period % 2, number] = Sum(period)
        if period < one.period or sketcher in one.sketchers:
            return frame or STALE
        one.sketchers.add(sketcher)
        one.reporters = min(one.reporters + reporters, 0xFFFF)
        for place, value in counters.items():
            one.counters[place] = add(self.entry["kind"], one.counters.get(place, 0), value)
        if frame is None and len(one.sketchers) == self.sketchers:
            frame = self._write(number, one)
        return frame or GATHERED

    def rest(self):
        """The frames of the sums that wait when nothing comes any more, in order of memory."""
        return [self._write(place[1], one) for place, one in sorted(self.sums.items())
                if one.reporters != one.written]
