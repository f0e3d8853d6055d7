# SPDX-License-Identifier: GPL-2.0-only
"""A translator of postcards, from the text of <dart/postcard.h> alone, with values of 20 bytes."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../vectors"))
import generate  # noqa: E402
import generate_postcards  # noqa: E402

PLACES = 5


class Row:
    """The postcards of a path."""

    def __init__(self, key, hops):
        self.key, self.hops = key, hops
        self.values = {}
        self.is_reported = False

    def value(self):
        return generate_postcards.value_of(self.hops, self.values, 4 * PLACES)


class Translator:
    """Gathers in @rows rows.  A postcard makes one report at most, and nothing is old.

    A report is (key, value, slot): slot is None if it is complete, and goes to any slot of its key,
    and otherwise the number of incomplete paths before it.
    """

    def __init__(self, rows):
        self.rows = rows
        self.there = {}
        self.incomplete = 0

    def _report(self, row):
        if row.is_reported:
            return None
        row.is_reported = True
        slot = None
        if len(row.values) < row.hops:
            slot = self.incomplete
            self.incomplete += 1
        return row.key, row.value(), slot

    def take(self, key, hop, hops, value):
        """The report that a postcard makes due, or None."""
        place = generate.crc(generate.CHECKSUMS[1], key) % self.rows
        row = self.there.get(place)
        report = None
        if row and (row.key != key or row.hops != hops or row.values.get(hop, value) != value):
            report = self._report(row)
            row = None
        if not row:
            row = self.there[place] = Row(key, hops)
        row.values[hop] = value
        if not report and len(row.values) == row.hops:
            report = self._report(row)
        return report

    def rest(self):
        """The reports of the rows that are left, as their time passes, in the order of the rows."""
        found = [self._report(self.there[place]) for place in sorted(self.there)]
        self.there = {}
        return [report for report in found if report]
