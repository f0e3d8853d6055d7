# SPDX-License-Identifier: GPL-2.0-only
"""Loads of a switch: how long each packet takes, and how many the switch bears.

The last four bytes of each packet number it.
"""

import select
import time

LOST = 1.0  # seconds after which a packet is lost
ALLOWED = 0.01  # share of packets that may be lost
TRIES = 3
SECONDS = 0.4  # of a try
TAIL = 0.3  # seconds without a packet after it
PACKETS = 60  # of a try at least
STEP = 1.25  # between rates
BEHIND = 4  # packets that a late sender catches up with


class Load:
    """@source, @receiver: sockets of hosts."""

    def __init__(self, source, receiver):
        self.source, self.receiver = source, receiver
        self.number = 0

    def send(self, frame):
        self.number += 1
        self.source.send(frame[:-4] + self.number.to_bytes(4, "big"))

    def receive(self, seconds):
        """A frame, or None after the given seconds."""
        if select.select([self.receiver], [], [], max(seconds, 0))[0]:
            return self.receiver.recv(65536)
        return None

    @staticmethod
    def number_of(frame):
        return int.from_bytes(frame[-4:], "big")

    def one_by_one(self, frames):
        """Nanoseconds that each packet takes, without lost packets."""
        took = []
        for frame in frames:
            begin = time.perf_counter_ns()
            self.send(frame)
            while got := self.receive(LOST):
                end = time.perf_counter_ns()
                if self.number_of(got) == self.number:
                    took.append(end - begin)
                    break
        return took

    def offer(self, frames, rate):
        """Packets in a second that were sent, and the share that was lost."""
        count = max(int(rate * SECONDS), PACKETS)
        first, got, gap = self.number + 1, set(), 1 / rate
        begin = due = time.perf_counter()
        for number in range(count):
            while True:
                now = time.perf_counter()
                frame = self.receive(due - now)
                if frame is None:
                    break
                got.add(self.number_of(frame))
                if due <= now:
                    break
            self.send(frames[number % len(frames)])
            due = max(due, now - BEHIND * gap) + gap
        took = time.perf_counter() - begin
        while len(got) < count and (frame := self.receive(TAIL)):
            got.add(self.number_of(frame))
        arrived = sum(number >= first for number in got)
        return count / took, 1 - arrived / count

    def bears(self, frames, rate, calm):
        """The sent rate if one of TRIES had few losses, or None."""
        for _ in range(TRIES):
            sent, lost = self.offer(frames, rate)
            calm()
            # A sender that cannot keep up measures itself.
            if lost <= ALLOWED and sent > rate / STEP:
                return sent
        return None

    def highest(self, frames, rate, calm=lambda: None):
        """The highest rate that it bears, in steps from @rate."""
        best = self.bears(frames, rate, calm)
        while not best and rate > 1:
            rate /= STEP
            best = self.bears(frames, rate, calm)
            if best:
                return best
        while more := self.bears(frames, rate * STEP, calm):
            rate, best = rate * STEP, more
        return best
