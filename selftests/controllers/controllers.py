#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Three controllers share 300 invented hosts out by three real servers of ZooKeeper, and push to a
Prometheus, which keeps the samples of each controller, and to a VictoriaMetrics, which does not know
the controllers and keeps one sample of each interval.  Random schedules kill, stop and cut off
controllers, servers and receivers, and restart all controllers; afterwards the samples at the
receivers are compared with the answers of the hosts and with each other.

  DART_SCHEDULES      20
  DART_FAULTS         12 of each schedule
  DART_KINDS          of these faults, from faults.py; all
  DART_SEED           of the first schedule, chosen at random and printed; the next one has one more
  DART_TARGETS        300
  DART_INTERVAL_MS    500
  DART_SESSION_MS     4000
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "receivers"))
import faults  # noqa: E402
import judge  # noqa: E402
import programs  # noqa: E402
import scene as scenes  # noqa: E402
from faults import now_ms  # noqa: E402


def number(name, default):
    return int(os.environ.get(name) or default)


SCHEDULES = number("DART_SCHEDULES", 20)
FAULTS = number("DART_FAULTS", 12)
SEED = number("DART_SEED", random.getrandbits(31))
TARGETS = number("DART_TARGETS", 300)
INTERVAL_MS = number("DART_INTERVAL_MS", 500)
SESSION_MS = number("DART_SESSION_MS", 4000)
# This program has a network of its own, without which no member can be cut off from hosts.
CAN_CUT_HOSTS = os.environ.get("DART_OWN_NETWORK") == "1"
KINDS = (os.environ.get("DART_KINDS") or "").split() or [
    kind for kind in faults.KINDS if CAN_CUT_HOSTS or kind != "hosts"]
points = programs.Points()


class Scene:
    """All programs of one schedule."""

    def __init__(self, directory, seed):
        self.settings = types.SimpleNamespace(
            interval_ms=INTERVAL_MS, session_ms=SESSION_MS, standby_ms=60000, delay_ms=500,
            unreachable=("continue", "stop")[seed % 2], of_members=faults.OF_MEMBERS,
            can_cut_hosts=CAN_CUT_HOSTS)
        self.directory = directory
        self.log = faults.Log()
        self.receiver = programs.Prometheus(directory)
        self.receivers = [self.receiver]
        self.thinning = None
        if programs.VictoriaMetrics.path():
            self.thinning = programs.VictoriaMetrics(directory, dedup_ms=INTERVAL_MS)
            self.receivers.append(self.thinning)
        self.servers = scenes.Servers(directory)
        self.hosts = scenes.Hosts(directory, TARGETS, INTERVAL_MS)
        self.members = [scenes.Member(directory, i, self.settings, self.servers, self.receivers)
                        for i in (1, 2, 3)]

    def start(self):
        """A sentence if that fails."""
        for receiver in self.receivers:
            receiver.start()
        self.servers.start()
        problem = self.hosts.start()
        if problem:
            return problem
        for receiver in self.receivers:
            if not receiver.wait():
                return receiver.log()
        for member in self.members:
            member.start()
        return "" if scenes.soon(self.is_shared) else self.describe()

    def is_shared(self):
        """Each target has one controller that scrapes it and one that stands by."""
        up = standby = 0
        for member in self.members:
            status = member.status()
            shard = status.get("controller", {}).get("shard", {})
            if shard.get("list") != [1, 2, 3] or not shard.get("is_valid"):
                return False
            up += status["controller"]["targets"]["up"]
            standby += status["controller"]["targets"]["standby"]
        return (up, standby) == (TARGETS, TARGETS)

    def describe(self):
        texts = ["the targets are not shared out among all members:"]
        for member in self.members:
            controller = member.status().get("controller", {})
            texts.append(f"{member.number}: {controller.get('targets')} {controller.get('shard')}")
            texts += [scenes.tail(member.controller.log), scenes.tail(member.writer.log)]
        return "\n".join(texts)

    def are_sent(self, held):
        """Is all that was scraped before this monotonic time at the receiver?"""
        return all(output.get("oldest_waiting_ns", held) / 1e9 < time.monotonic() - held
                   for member in self.members for output in member.status().get("outputs", [{}]))

    def losses(self):
        """
        Samples that the outputs of the controllers count as lost.  Those that are out of order were
        sent twice, because the answer to a request was lost: the judge sees whether they are there.
        """
        for member in self.members:
            for output in member.status().get("outputs", []):
                for what in ("refused", "dropped"):
                    for loss in output.get(what, []):
                        if loss["samples"] and loss["reason"] != "out_of_order":
                            yield f"member {member.number}: {what} {loss}"

    def samples(self):
        found = [[] for _ in range(TARGETS)]
        for _, labels, times in self.receiver.series({"job": "dart"},
                                                     "dart_fleet_row_update_total"):
            found[self.hosts.number(labels["instance"])] += [
                (at, int(update), int(labels["replica"])) for at, update in times.items()]
        return found

    def thinned(self):
        """Of each host, what the receiver without the label of the controller keeps."""
        found = [[] for _ in range(TARGETS)]
        for _, labels, times in self.thinning.series({"job": "dart"}, "dart_fleet_row_update_total",
                                                     with_ends=True):
            found[self.hosts.number(labels["instance"])] += [
                (at, int(update) if update == update else None) for at, update in times.items()]
        return found

    def precisions(self):
        """{(host, member): ms}: how well a controller knows the time of a host, at worst."""
        found = {}
        for name in ("dart_scrape_clock_uncertainty_seconds", "dart_scrape_duration_seconds"):
            for _, labels, times in self.receiver.series({"job": "dart"}, name):
                key = self.hosts.number(labels["instance"]), int(labels["replica"])
                found[key] = found.get(key, 0) + 1000 * max(times.values(), default=0)
        return found

    def stop(self):
        for member in self.members:
            member.stop()
        self.servers.stop()
        self.hosts.kill()
        for receiver in self.receivers:
            receiver.stop()


class Runner:
    """Lets the faults of a schedule happen."""

    def __init__(self, scene, schedule):
        self.scene = scene
        self.steps = sorted([(fault.at, 0, i, fault) for i, fault in enumerate(schedule)] +
                            [(fault.at + fault.seconds, 1, i, fault)
                             for i, fault in enumerate(schedule) if fault.kind != "rolling"])
        self.begun = time.monotonic()
        self.problem = ""

    def run(self):
        """A sentence if members do not come back."""
        while self.steps and not self.problem:
            at, is_end, _, fault = self.steps.pop(0)
            time.sleep(max(0, self.begun + at - time.monotonic()))
            self.step(fault, is_end)
        if not self.problem and not scenes.soon(self.scene.is_shared):
            self.problem = self.scene.describe()
        return self.problem

    def step(self, fault, is_end):
        scene, log = self.scene, self.scene.log
        if fault.kind == "rolling":
            self.restart_all()
            return
        if is_end:
            fault.end(scene)
            log.note(f"end of {fault.kind}", fault.member)
        else:
            log.note(fault.kind, fault.member)
            fault.begin(scene)
        if fault.kind in ("cut", "reset") and scene.settings.unreachable == "continue":
            if not is_end:
                log.doubles.append([now_ms(), float("inf")])
                fault.double = log.doubles[-1]
            else:
                fault.double[1] = now_ms() + scene.settings.session_ms + 1000
        if fault.kind == "hosts":
            if not is_end:
                log.cut_from_hosts.append([now_ms(), float("inf")])
                fault.window = log.cut_from_hosts[-1]
            else:
                fault.window[1] = now_ms() + 1000 * faults.CONNECT_SECONDS
        if fault.kind in ("server", "quorum") and not is_end:
            window = [now_ms(), float("inf")]
            log.no_quorum.append(window)
            fault.window = window
        if fault.kind == "server" and not is_end or fault.kind == "quorum" and is_end:
            threading.Thread(target=self.await_quorum, args=(fault.window,), daemon=True).start()

    def await_quorum(self, window):
        """A server that was stopped may not know yet that it is no leader any more."""
        while window[1] == float("inf"):
            has_quorum, at = self.scene.servers.have_quorum(), now_ms()
            time.sleep(0.5)
            if has_quorum and self.scene.servers.have_quorum():
                window[1] = at

    def restart_all(self):
        scene = self.scene
        begun = time.monotonic()
        if not scenes.soon(scene.is_shared):
            self.problem = "before a restart of all: " + scene.describe()
            return
        begin_ms = now_ms()
        for member in scene.members:
            scene.log.note("term", member.number)
            member.controller.send(signal.SIGTERM)
            if not scenes.soon(lambda member=member: not member.controller.is_running(), 30):
                self.problem = f"member {member.number} does not end\n" + \
                    scenes.tail(member.controller.log)
                return
            if member.controller.process.returncode:
                self.problem = f"member {member.number} ends with an error\n" + \
                    scenes.tail(member.controller.log)
            member.start_controller()
            scene.log.note("end of term", member.number)
            if not scenes.soon(scene.is_shared):
                self.problem = "after a restart: " + scene.describe()
                return
        scene.log.rolling.append((begin_ms, now_ms()))
        # The other faults come as much later.
        self.begun += max(0, time.monotonic() - begun - 12)


def run_schedule(directory, seed, all_takeovers):
    scene = Scene(directory, seed)
    schedule = faults.random_schedule(seed, FAULTS, SESSION_MS / 1000, KINDS)
    print(f"# schedule {seed}, unreachable: {scene.settings.unreachable}:"
          f" {', '.join(map(str, schedule))}", flush=True)
    try:
        problem = scene.start()
        points.say(f"{seed}: three members share {TARGETS} targets", problem)
        if problem:
            return
        begin_ms = now_ms()
        problem = Runner(scene, schedule).run()
        points.say(f"{seed}: after {FAULTS} faults they share them again", problem)
        end_ms = now_ms()
        scene.hosts.hold()
        held = time.monotonic() + scene.settings.delay_ms / 1000
        is_sent = scenes.soon(lambda: scene.are_sent(held))
        points.say(f"{seed}: all samples are sent", "" if is_sent else scene.describe())
        points.say_differences(f"{seed}: no output counts a loss", scene.losses())
        say_judgement(scene, seed, begin_ms, end_ms, all_takeovers)
    finally:
        scene.stop()


def say_judgement(scene, seed, begin_ms, end_ms, all_takeovers):
    scene.settings.precisions = scene.precisions()
    verdict = judge.Judge(scene.settings, scene.log, scene.hosts.answers(), scene.samples(),
                          begin_ms, end_ms)
    worst = max(scene.settings.precisions.values(), default=0)
    print(f"# {seed}: times of hosts are known to {worst:.0f} ms at worst")
    limit = f"{SESSION_MS / 1000 + 1:g} s"
    points.say_differences(f"{seed}: each sample is one that a host sent", verdict.wrong())
    points.say_differences(f"{seed}: no two samples contradict", verdict.contradictions())
    points.say_differences(f"{seed}: no target is without a scrape for more than {limit}",
                           verdict.gaps())
    points.say_differences(f"{seed}: no target has two pushers", verdict.doubles())
    points.say_differences(f"{seed}: each answer is at the receiver", verdict.lost())
    points.say_differences(f"{seed}: a restart of all costs no scrape", verdict.rolling_gaps())
    say_thinned(scene, seed, verdict)
    count = sum(map(len, verdict.samples))
    print(f"# {seed}: {(end_ms - begin_ms) / 1000:.0f} s, {count} samples; longest time without a"
          f" sample: {verdict.longest[True] / 1000:.2f} s around faults,"
          f" {verdict.longest[False] / 1000:.2f} s otherwise", flush=True)
    for kind, times in sorted(verdict.takeovers().items()):
        all_takeovers.setdefault(kind, []).extend(times)
        print(f"# {seed}: {kind}: takeover {judge.describe(times)} targets")


def say_thinned(scene, seed, verdict):
    name = f"{seed}: VictoriaMetrics has one sample of each span that Prometheus has"
    if not scene.thinning:
        points.say(name, skip="victoria-metrics is not installed (packages.txt has it)")
        return
    samples = scene.thinned()
    points.say_differences(name, verdict.thinned(samples, INTERVAL_MS))
    print(f"# {seed}: {sum(map(len, samples))} samples are at VictoriaMetrics")


def enter_network():
    """Runs this program again in a network with a loopback interface only, if that is possible."""
    if CAN_CUT_HOSTS or os.geteuid() or not shutil.which("nft"):
        return
    can = subprocess.run(["unshare", "--net", "sh", "-c", "ip link set lo up && nft list tables"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if not can.returncode:
        os.environ["DART_OWN_NETWORK"] = "1"
        os.execvp("unshare", ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"',
                              "sh", sys.executable, *sys.argv])


def main():
    enter_network()
    # All started programs end with this one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    reason = scenes.missing() or ("" if programs.Prometheus.path() else
                                  "prometheus is not installed (packages.txt has it)")
    if reason:
        print(f"1..0 # SKIP {reason}")
        sys.exit(4)
    if not CAN_CUT_HOSTS:
        print("# no controller is cut off from hosts: that needs root and nftables")
    print(f"# {SCHEDULES} schedules of {FAULTS} faults, {TARGETS} targets every {INTERVAL_MS} ms,"
          f" sessions of {SESSION_MS} ms; DART_SEED={SEED}", flush=True)
    all_takeovers = {}
    for i in range(SCHEDULES):
        with tempfile.TemporaryDirectory(prefix="dart-controllers.") as directory:
            run_schedule(directory, SEED + i, all_takeovers)
    for kind, times in sorted(all_takeovers.items()):
        print(f"# all: {kind} ({faults.MEANINGS.get(kind, 'SIGTERM')}): takeover"
              f" {judge.describe(times)} targets")
    sys.exit(points.finish())


main()
