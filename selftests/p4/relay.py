# SPDX-License-Identifier: GPL-2.0-only
"""A cable that loses, repeats and reorders frames, between two interfaces.

The kernels of tests may lack netem.
"""

import errno
import random
import select
import socket
import threading

ETH_P_ALL = 3
PACKET_OUTGOING = 4


class Relay:
    """Passes all frames on in both directions; only RoCE frames suffer mishaps."""

    def __init__(self, one, other, seed):
        self.dice = random.Random(seed)
        self.loss = self.repeat = self.reorder = 0
        self.counts = {"passed": 0, "lost": 0, "repeated": 0, "reordered": 0}
        self.sockets = [self._open(one), self._open(other)]
        self.end = socket.socketpair()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    @staticmethod
    def _open(interface):
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        sock.bind((interface, ETH_P_ALL))
        return sock

    def mishaps(self, loss=0, repeat=0, reorder=0):
        """Probabilities, of each frame, from now on."""
        self.loss, self.repeat, self.reorder = loss, repeat, reorder

    def _run(self):
        late = [None, None]  # a frame that the next frame overtakes, by direction
        while True:
            # A late frame waits for the next frame, but not long.
            ready, _, _ = select.select([*self.sockets, self.end[0]], [], [],
                                        0.02 if any(late) else None)
            if self.end[0] in ready:
                return
            for direction in (0, 1):
                try:
                    late[direction] = self._relay(
                        direction, self.sockets[direction] in ready,
                        bool(ready), late[direction])
                except OSError as error:
                    # Frames are lost on a link that is down.
                    if error.errno != errno.ENETDOWN:
                        raise

    def _relay(self, direction, is_ready, is_busy, late):
        """Returns a frame that is late from now on, or None."""
        sock, out = self.sockets[direction], self.sockets[1 - direction]
        if is_ready:
            frame, address = sock.recvfrom(65536)
            if address[2] == PACKET_OUTGOING:
                return late
            return self._pass(out, frame, late)
        if not is_busy and late:
            out.send(late)
            return None
        return late

    def _pass(self, out, frame, late):
        """Returns a frame that is late from now on, or None."""
        is_roce = (len(frame) > 42 and frame[12:14] == b"\x08\x00" and
                   frame[36:38] == (4791).to_bytes(2, "big"))
        chance = self.dice.random() if is_roce else 1
        self.counts["passed"] += 1
        if chance < self.loss:
            self.counts["lost"] += 1
            return late
        chance -= self.loss
        if chance < self.reorder and not late:
            self.counts["reordered"] += 1
            return frame
        out.send(frame)
        if 0 <= chance - self.reorder < self.repeat:
            self.counts["repeated"] += 1
            out.send(frame)
        if late:
            out.send(late)
        return None

    def close(self):
        self.end[1].close()
        self.thread.join()
        for sock in self.sockets:
            sock.close()
