# SPDX-License-Identifier: GPL-2.0-only
"""A queue pair over a reliable connection, which takes reports and answers as <dart/store.h> says.

Models of reporters send it their frames, and get its answers.
"""

import generate

MASK = 2**24 - 1
ACKNOWLEDGED, SEQUENCE, INVALID = 0, 0x60, 0x62
FIRST = 0xFFFFF0  # the PSNs wrap soon


def is_probe(frame):
    """A WRITE of no bytes."""
    return int.from_bytes(frame[66:70], "big") == 0


def asks(frame):
    return frame[50] >> 7


class QueuePair:
    """Where it stands, and how many reports were sent to it and arrived."""

    def __init__(self, entry):
        self.entry = {**entry, "transport": "rc"}
        self.expected = entry["first_psn"]
        self.refused = False
        self.sent = self.arrived = 0
        self.drops_answers = False

    def answer(self, psn, syndrome, **changes):
        return generate.answer({**self.entry, **changes}, psn, syndrome)

    def lose(self, frame):
        """The frame does not arrive."""
        self.sent += not is_probe(frame)

    def take(self, frame):
        """The answers to a frame, which get lost if @drops_answers."""
        self.sent += not is_probe(frame)
        answers = self._answers(frame)
        return [] if self.drops_answers else answers

    def _answers(self, frame):
        psn = int.from_bytes(frame[51:54], "big")
        late = (psn - self.expected) & MASK
        if late == 0:
            self.expected = (self.expected + 1) & MASK
            self.arrived += not is_probe(frame)
            self.refused = False
            return [self.answer(psn, ACKNOWLEDGED)] if asks(frame) else []
        if late >= 2**23:
            return [self.answer(self.expected - 1, ACKNOWLEDGED)]
        if self.refused:
            return []
        self.refused = True
        return [self.answer(self.expected, SEQUENCE)]
