# SPDX-License-Identifier: GPL-2.0-only
"""Faults of members, of servers of ZooKeeper and of the receiver, and random schedules of them."""
import os
import random
import signal
import time

# Each fault of a member takes it away, or may do so; others do not.
OF_MEMBERS = ("kill", "lost", "stop", "freeze", "cut", "reset", "writer", "hosts")
# A connection that was tried in vain is tried again after so many seconds at most.
CONNECT_SECONDS = 10
# In a schedule, as often as they are listed.
KINDS = OF_MEMBERS * 2 + ("server", "quorum", "receiver", "receiver", "rolling")
MEANINGS = {
    "kill": "the controller is killed",
    "lost": "the controller, the program that lists members and the list are gone",
    "stop": "the controller is stopped, and goes on",
    "freeze": "the controller and the program that lists members are stopped, and go on",
    "cut": "the member's packets to ZooKeeper are lost",
    "reset": "the member's connections to ZooKeeper are refused",
    "hosts": "the controller's packets to hosts, or to the first half of them, are lost or refused",
    "writer": "the program that lists members is killed",
    "server": "one server of ZooKeeper is killed",
    "quorum": "two servers of ZooKeeper are killed or stopped",
    "receiver": "a receiver is killed or stopped",
    "rolling": "all controllers are restarted, one after the other",
}


class Fault:
    """One fault of a schedule, which knows how to begin and how to end."""

    def __init__(self, kind, member, hard, at, seconds):
        self.kind = kind
        self.member = member    # number, or 0
        self.hard = hard        # of two ways: resets, kills
        self.at = at            # seconds after the begin of the schedule
        self.seconds = seconds

    def __str__(self):
        of = f" of {self.member}" if self.member else ""
        return f"{self.kind}{of}{'!' if self.hard else ''} at {self.at:.1f}+{self.seconds:.1f} s"

    def begin(self, scene):
        number = signal.SIGKILL if self.hard else signal.SIGSTOP
        if self.member:
            member = scene.members[self.member - 1]
            if self.kind in ("kill", "lost"):
                member.controller.kill()
            if self.kind in ("lost", "writer"):
                member.writer.kill()
            if self.kind == "lost" and os.path.exists(member.list):
                os.remove(member.list)
            if self.kind in ("stop", "freeze"):
                member.controller.send(signal.SIGSTOP)
            if self.kind == "freeze":
                member.writer.send(signal.SIGSTOP)
            if self.kind in ("cut", "reset"):
                member.relay.cut(silently=self.kind == "cut")
            if self.kind == "hosts":
                member.cut_from_hosts(scene.hosts, only_half=int(self.at * 10) % 2,
                                      silently=not self.hard)
        elif self.kind == "server":
            scene.servers.all[int(self.at * 10) % 3].kill()
        elif self.kind == "quorum":
            for server in scene.servers.all[:2] if int(self.at) % 2 else scene.servers.all[1:]:
                server.send(number)
        elif self.kind == "receiver":
            receiver = self.receiver(scene)
            receiver.process.send_signal(receiver.kill_signal if self.hard else signal.SIGSTOP)

    def end(self, scene):
        if self.member:
            member = scene.members[self.member - 1]
            member.start()
            member.controller.send(signal.SIGCONT)
            member.writer.send(signal.SIGCONT)
            if self.kind in ("cut", "reset"):
                member.relay.mend()
            if self.kind == "hosts":
                member.reach_hosts()
        elif self.kind in ("server", "quorum"):
            for server in scene.servers.all:
                if server.is_running():
                    server.send(signal.SIGCONT)
                else:
                    server.kill()
                    server.start()
        elif self.kind == "receiver":
            receiver = self.receiver(scene)
            if self.hard:
                receiver.process.wait()
                receiver.start()
            else:
                receiver.process.send_signal(signal.SIGCONT)

    def receiver(self, scene):
        return scene.receivers[int(self.at * 10) % len(scene.receivers)]


def random_schedule(seed, count, session_seconds, kinds):
    """
    Faults in the order of their begins.  One member at least is never disturbed, the servers have
    one fault at a time, and while all controllers are restarted nothing else happens.
    """
    choice = random.Random(seed)
    faults, busy = [], {}   # busy: {who: until}
    at = 2.0
    while len(faults) < count:
        kind = choice.choice(kinds)
        who = {"server": "servers", "quorum": "servers"}.get(kind, kind)
        member = choice.randrange(1, 4) if kind in OF_MEMBERS else 0
        seconds = choice.choice((0.3, 1, 2, 3)) * session_seconds * choice.uniform(0.7, 1.3)
        fault = Fault(kind, member, choice.random() < 0.5, at, seconds)
        if member:
            who = member
        ends = sorted(until for other, until in busy.items() if other != who)
        if kind == "rolling":
            fault.at = max([at] + ends) + 2 * session_seconds
        else:
            fault.at = max(at, busy.get(who, 0))
        if member:
            # Another one of the other two has come back.
            others = sorted(busy.get(other, 0) for other in (1, 2, 3) if other != member)
            fault.at = max(fault.at, others[0])
        # A while for whoever comes back to be a member again.
        busy[who] = fault.at + fault.seconds + (2 * session_seconds if member else 1)
        if kind == "hosts":
            busy[who] += CONNECT_SECONDS + session_seconds
        if kind == "quorum":
            busy[who] += 2 * session_seconds
        if kind == "rolling":
            at = busy[who] = fault.at + 12
        faults.append(fault)
        at = max(at, fault.at) + choice.choice((0.1, 1, 2)) * choice.uniform(0, session_seconds)
    return sorted(faults, key=lambda fault: fault.at)


class Log:
    """Events of a schedule with their times, in ms of the wall clock, for the judge."""

    def __init__(self):
        self.events = []        # (ms, kind, member): something that moves targets
        self.no_quorum = []     # [from ms, to ms]
        self.rolling = []       # (from ms, to ms)
        self.cut_from_hosts = []    # [from ms, to ms], until connections are tried again
        self.doubles = []       # [from ms, to ms]: a member that is cut off goes on

    def note(self, kind, member=0):
        self.events.append((now_ms(), kind, member))

    def times(self, kinds):
        return [(at, member) for at, kind, member in self.events if kind in kinds]


def now_ms():
    return time.time_ns() // 1000000
