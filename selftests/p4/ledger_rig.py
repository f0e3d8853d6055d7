# SPDX-License-Identifier: GPL-2.0-only
"""A switch with the program ledger, and a second implementation of a collector from the text of
<dart/ledger.h> alone."""

import collections
import json
import re
import struct

import generate
import packets
from generate_ledger import answer, offset, request, vector
from switch import COLLECTORS, SILENCE, SOURCE, Running, polynomials

OUTSTANDING, PRECEDING, PSNS = 16, 32, 2**24
STOPPED, BROKEN, LOSING = 2, 3, 4  # states of a queue pair; 0: up
ACK, NOT_READY, NAK_SEQUENCE, NAK_ACCESS = 0x1F, 0x2C, 0x60, 0x62
ATOMIC_ANSWER, ACKNOWLEDGE = 0x12, 0x11
KEY = generate.flow("10.1.0.2", "10.3.1.3", 49152, 443, 6)
CACHE_ROWS = 1024
LONG, RETRY = 2**46, 100000  # microseconds
LONG_AGO = 2**48 - 10**7  # before the switch started
OUTCOMES = ("other", "added", "missed", "unassigned", "acknowledged", "nak",
            "nak_fatal", "stale", "malformed", "source", "icrc")
ENTRY = vector()["ledger"]
SOURCE_MAC = vector()["source_mac"]


def cache_row(key):
    return generate.crc(generate.CHECKSUMS[0], key) % CACHE_ROWS


class Collector:
    """Answers requests in the order of their PSNs, each with its own acknowledgement."""

    def __init__(self, entry):
        self.entry = entry
        self.words = collections.Counter()  # by offset
        self.expected = entry["first_psn"]
        self.notes = collections.deque(maxlen=OUTSTANDING)  # PSNs executed last
        self.nak_sent = False
        self.executed = self.repeats = 0

    def read(self, frame):
        """Offset, amount and PSN of a request, which is right in each of its bytes."""
        address, _, amount = struct.unpack(">QIQ", frame[54:74])
        psn = int.from_bytes(frame[51:54], "big")
        at = address - int(self.entry["base"], 16)
        expected = request(self.entry, SOURCE_MAC, at, amount, psn)
        assert frame == expected, (frame.hex(), expected.hex())
        assert 0 <= at <= offset(self.entry, self.entry["rows"], b""), at
        return at, amount, psn

    def answer(self, psn, syndrome=ACK):
        opcode = ACKNOWLEDGE if syndrome >> 5 else ATOMIC_ANSWER
        return answer(self.entry, SOURCE_MAC, opcode, syndrome, psn % PSNS)

    def take(self, frame):
        """The answers to a request."""
        at, amount, psn = self.read(frame)
        ahead = (psn - self.expected) % PSNS
        if ahead >= PSNS // 2:  # executed before
            self.repeats += 1
            return [self.answer(psn)] if psn in self.notes else []
        if ahead:
            if self.nak_sent:
                return []
            self.nak_sent = True
            return [self.answer(self.expected, NAK_SEQUENCE)]
        self.words[at] = (self.words[at] + amount) % 2**64
        self.executed += 1
        self.expected = (psn + 1) % PSNS
        self.notes.append(psn)
        self.nak_sent = False
        return [self.answer(psn)]


class Expected:
    """The words of a ledger to which amounts were added."""

    def __init__(self, entry):
        self.entry = entry
        self.words = collections.Counter()

    def add(self, key, amount=1):
        for row in range(self.entry["rows"]):
            self.words[offset(self.entry, row, key)] += amount
        self.words[offset(self.entry, self.entry["rows"], key)] += amount


class Adder(Running):
    """Session n + 1 leads to port n, as in the superclass."""

    def __init__(self):
        super().__init__("ledger")
        with open(self.program, encoding="utf-8") as file:
            for calculation, low in polynomials(json.load(file)).items():
                self.set_crc(calculation, low)

    def get(self, name, index=0):
        told = self.do("register_read", f"ledger_{name}", index)
        return int(re.search(r"= *(\d+)", told)[1])

    def put(self, name, value, index=0):
        self.do("register_write", f"ledger_{name}", index, value)

    def begin(self, entry, preceding=0, unit=0, port=COLLECTORS):
        """As after a start of the switch, with this ledger."""
        self.do("table_set_default ledger_collector NoAction")
        for name in ("state", "oldest", "next", "fresh", "end", "due", "pause",
                     "offset", "amount", "row", "total", "total_since",
                     "lost", "cache_key", "cache_sum", "cache_since",
                     "cache_hand"):
            self.do("register_reset", f"ledger_{name}")
        self.put("pause", LONG)
        self.put("shift", entry["first_psn"])
        self.put("end", preceding)
        self.do("table_set_default ledger_adder ledger_adder_is", SOURCE_MAC,
                entry["reporter"], unit, 0)
        self._point(entry, port)
        self.outcomes()

    def _point(self, entry, port=COLLECTORS):
        self.do("table_set_default ledger_collector ledger_add_to",
                entry["mac"], entry["ip"], entry["qpn"], entry["rkey"],
                entry["base"], 2**entry["words_log2"] - 1, entry["rows"],
                1 + port)

    def renew(self, entry):
        """Another queue pair for the same ledger."""
        self.put("state", STOPPED)
        self._point(entry)
        self.put("shift", (entry["first_psn"] - self.get("fresh")) % PSNS)
        self.put("state", LOSING)

    def outcomes(self):
        return self.changes("ledger_packets", OUTCOMES)

    def count(self, key, *more, **fields):
        """Sends packets of these flows; returns the requests."""
        got = self.send(*[packets.packet(each, **fields)
                          for each in (key, *more)])
        return got[COLLECTORS]

    def answer(self, *answers, port=COLLECTORS):
        """Returns the requests that these answers lead to; nothing is due before.

        An answer begins the time-out again.  If it ends meanwhile, on a busy machine, the switch
        doubles the pause and sends again: such repeats are left out.
        """
        self.put("due", LONG)
        got = self.send(*answers, source=port)
        rest = {**got, COLLECTORS: []}
        assert rest == SILENCE, rest
        frames = got[COLLECTORS]
        if RETRY < self.get("pause") < LONG:
            frames = list(dict.fromkeys(frames))
        return frames

    def let_time_pass(self, key):
        """The amounts of this key are due, and the switch looks at its row next."""
        self.put("cache_since", LONG_AGO, cache_row(key))
        self.put("total_since", LONG_AGO)
        self.put("cache_hand", cache_row(key))

    def tick(self):
        """Packets of no flow; returns the requests."""
        return self.settle(SOURCE)[COLLECTORS]

    def is_idle(self):
        return (self.get("oldest") == self.get("end") and
                self.get("total") == 0)
