#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""One controller scrapes 1,000 invented hosts over TCP, a fifth of which misbehave in every way
that we know, and pushes them to each installed receiver.  Afterwards the test asks each receiver
for every sample: all samples of the good hosts are there and right; no sample of the others is
wrong, and the number of missing ones equals the controller's counts, with reasons.

  DART_FLEET_HOSTS        1000, of which every fifth misbehaves
  DART_FLEET_SECONDS      600
  DART_FLEET_INTERVAL_MS  10000
  DART_FLEET_SEED         chosen at random, and printed
  PROMETHEUS3             path of a Prometheus 3
"""
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "selftests/receivers"))
import programs  # noqa: E402

HELPERS = os.path.join(TOP, ".output/selftests/helpers")
CONTROLLER = os.path.join(TOP, ".output/bin/dart-controller")
HOSTS = int(os.environ.get("DART_FLEET_HOSTS") or 1000)
BAD = HOSTS // 5
SECONDS = int(os.environ.get("DART_FLEET_SECONDS") or 600)
INTERVAL_MS = int(os.environ.get("DART_FLEET_INTERVAL_MS") or 10000)
SEED = int(os.environ.get("DART_FLEET_SEED") or random.getrandbits(32))
DRAIN_SECONDS = 300
# To write a log line, and to read a clock.
SLACK_MS = 100
# Each kind of fleet_host.h except the good one.
KINDS = ("ahead", "behind", "steps", "lies", "names", "torn", "noise", "garbage", "endless",
         "changing", "resets", "dies", "silent")
points = programs.Points()


FIRST_PORT = programs.free_ports(HOSTS)


def value(host, entry, copy, word, epoch, update):
    """The rule of selftests/lib/fleet_host.h."""
    return (host * 1000003 + entry * 100003 + copy * 10007 + word * 1009 + epoch * 37
            + update * (word + 1))


# Families, with the series of each: {labels: value of (host, epoch, update)}.
def rule():
    families = {
        "dart_fleet_row_host": {(): lambda host, epoch, update: host},
        "dart_fleet_row_epoch": {(): lambda host, epoch, update: epoch},
        "dart_fleet_row_update_total": {(): lambda host, epoch, update: update},
        "dart_fleet_row_low_total": {}, "dart_fleet_row_high_total": {},
        "dart_fleet_map_calls_total": {},
    }
    for word in range(10):
        family = "low" if word < 3 else "high"
        families[f"dart_fleet_row_{family}_total"][
            (("index", str(word if word < 3 else word - 3)),)] = \
            lambda host, epoch, update, word=word: value(host, 0, 0, word, epoch, update)
    for copy in range(2):
        for word in range(8):
            families["dart_fleet_map_calls_total"][
                (("index", str(word)), ("row", str(copy)))] = \
                lambda host, epoch, update, copy=copy, word=word: \
                value(host, 1, copy, word, epoch, update)
    return families


FAMILIES = rule()
SERIES = sum(len(family) for family in FAMILIES.values())
# Series of the kind "names" only.
FOREIGN = {"dart_fleet_odd_calls_total": {
    (("index", str(word)),):
    lambda host, epoch, update, word=word: value(host, 2, 0, word, epoch, update)
    for word in range(8)}}
# Series of two entries whose names differ only in characters that metrics cannot contain.
TWINS = 8


def families_of(kind):
    return {**FAMILIES, **FOREIGN} if kind == "names" else FAMILIES


class Fleet:
    """The hosts, and their own log."""

    def __init__(self, directory):
        self.directory = directory
        self.answers = collections.defaultdict(list)
        self.events = collections.Counter()
        self.process = None

    def start(self):
        subprocess.run([f"{HELPERS}/tls_files", self.directory, "127.0.0.1", "controller"],
                       check=True, stdout=subprocess.DEVNULL)
        self.process = subprocess.Popen(
            [f"{HELPERS}/fleet_hosts", self.directory, str(FIRST_PORT), str(HOSTS), str(BAD),
             str(SEED), str(INTERVAL_MS)], stdout=subprocess.PIPE)
        if self.process.stdout.readline() != b"ready\n":
            return "the hosts do not start"
        with open(f"{self.directory}/hosts", encoding="ascii") as file:
            self.kinds = [line.split()[1] for line in file]
        return ""

    def hold(self):
        """From now on no host answers."""
        self.process.send_signal(signal.SIGUSR1)
        end = time.monotonic() + DRAIN_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            with open(f"{self.directory}/log", "rb") as file:
                file.seek(max(0, os.path.getsize(f"{self.directory}/log") - 5))
                if file.read() == b"held\n":
                    return ""
            time.sleep(0.1)
        return "the hosts do not hold still"

    def read(self):
        with open(f"{self.directory}/log", encoding="ascii") as file:
            for line in file:
                words = line.split()
                if words[0] == "answer":
                    host, epoch, update, at = map(int, words[1:])
                    self.answers[host].append((epoch, update, at // 1000000))
                elif words[0] == "event":
                    self.events[words[2]] += 1

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()


class Controller:
    """dart-controller, with an output to each receiver and a page."""

    def __init__(self, directory, receivers):
        self.directory = directory
        self.page = f"http://127.0.0.1:{programs.free_ports()}"
        outputs = [self.output(receiver) for receiver in receivers]
        config = {
            "interval": f"{INTERVAL_MS}ms", "transport": "tcp",
            "tls": {"certificate": f"{directory}/controller.pem",
                    "key": f"{directory}/controller.key",
                    "authorities": f"{directory}/authority.pem"},
            "sources": [{"file_sd": f"{directory}/agents.json"}],
            "outputs": outputs + [{"listen": self.page[len("http://"):]}],
        }
        with open(f"{directory}/controller.yaml", "w", encoding="ascii") as file:
            json.dump(config, file)
        self.process = None

    @staticmethod
    def output(receiver):
        output = {receiver.kind: receiver.url + receiver.write_path, "delay": "2s"}
        if receiver.version:
            output["version"] = receiver.version
        return output

    def start(self, kinds):
        groups = [{"targets": [f"127.0.0.1:{FIRST_PORT + host}"], "labels": labels_of(kind)}
                  for host, kind in enumerate(kinds)]
        # Two good hosts carry the same labels, of which only their own names are left.
        for host in [host for host, kind in enumerate(kinds) if kind == "good"][:2]:
            groups[host]["labels"]["instance"] = "twin"
        with open(f"{self.directory}/agents.json", "w", encoding="utf-8") as file:
            json.dump(groups, file)
        with open(f"{self.directory}/said", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [CONTROLLER, "--config", f"{self.directory}/controller.yaml", "--socket",
                 f"{self.directory}/socket"], stdout=subprocess.DEVNULL, stderr=log)

    def status(self):
        answer = subprocess.run([CONTROLLER, "status", "-j", "--socket",
                                 f"{self.directory}/socket"], check=True, capture_output=True)
        return json.loads(answer.stdout)

    def outcomes(self):
        """{host: number of due scrapes that are counted}"""
        return {host_of({"instance": target["agent"]}):
                target["scrapes"] + target["failed"] + target["missed"]
                for target in self.status()["targets"]}

    def begin(self):
        """Nothing is due before the first attempt to scrape a host ends: waits for all first
        attempts, and returns their outcomes so far, or none."""
        end = time.monotonic() + DRAIN_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.3)
            try:
                outcomes = self.outcomes()
            except subprocess.CalledProcessError:
                continue
            if len(outcomes) == HOSTS and all(outcomes.values()):
                return outcomes
        return {}

    def own(self):
        """{name: [(labels, value)]} of the metrics of the controller itself."""
        found = collections.defaultdict(list)
        for line in programs.ask(self.page + "/-/metrics").splitlines():
            if line.startswith("#") or not line:
                continue
            name, _, rest = line.partition("{")
            labels, _, number = rest.rpartition("} ")
            if not labels:
                name, number = line.split()[:2]
            found[name].append((labels, float(number.split()[0])))
        return found

    def ups(self):
        return sum(line.rsplit(" ", 2)[1] == "1" for line in
                   programs.ask(self.page + "/metrics").splitlines()
                   if line.startswith("dart_up{"))

    def drain(self):
        """Waits until all hosts are lost, and their earlier samples are at the receivers."""
        end = time.monotonic() + DRAIN_SECONDS
        while time.monotonic() < end and self.ups():
            time.sleep(1)
        lost = time.monotonic()
        while time.monotonic() < end:
            oldest = [output.get("oldest_waiting_ns", 0) / 1e9
                      for output in self.status()["outputs"]]
            if all(age < time.monotonic() - lost for age in oldest):
                return ""
            time.sleep(1)
        return f"not within {DRAIN_SECONDS} s: {self.status()['outputs']}"

    def end(self):
        self.process.terminate()
        return self.process.wait()

    def said(self):
        with open(f"{self.directory}/said", encoding="utf-8", errors="replace") as log:
            return log.read()

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()


def host_of(labels):
    # The label of two hosts is no host's.
    if not labels["instance"].startswith("127.0.0.1:"):
        return -1
    return int(labels["instance"].rpartition(":")[2]) - FIRST_PORT


def labels_of(kind):
    """Labels that a source gives to a host, including foreign ones."""
    labels = {"rack": "a7"}
    if kind == "names":
        labels.update({"a.b": "1", "a_b": "2", "index": "3", "target_index": "4", "row": "5",
                       "node_name": "\u00e9\"\\,= ", "host_id": "6"})
    return labels


class Account:
    """Compares the samples of a receiver with the samples of the hosts."""

    def __init__(self, receiver, fleet):
        self.fleet = fleet
        self.receiver = receiver
        # The controller's own precision: the greatest value for each host.
        self.uncertainty = self.greatest("dart_scrape_clock_uncertainty_seconds")
        self.duration = self.greatest("dart_scrape_duration_seconds")
        self.torn = self.greatest("dart_scrape_torn_samples_total")
        self.dropped = self.greatest("dart_scrape_dropped_series")
        self.wrong = []         # sentences about samples that no host sent
        self.missing = collections.Counter()    # by kind
        self.good_missing = []
        self.samples = self.good_samples = 0
        self.seen = set()

    def greatest(self, name):
        """{host: the greatest value that it had}"""
        return {host_of(labels): max(times.values())
                for _, labels, times in self.receiver.series({"job": "dart"}, name) if times}

    def precision_ms(self, host):
        """A row carries the time of the host's clock, a map the time of the request."""
        return 1000 * (self.uncertainty[host] + self.duration[host]) + SLACK_MS

    def take(self, name, labels, times):
        host = host_of(labels)
        if host < 0:
            self.wrong.append(f"{name} of {labels} could be of two hosts")
            return
        # A label of the target yields to a label of the series: see label_collisions.h.
        own = tuple((label, labels[label]) for label in ("index", "row") if label in labels)
        make = families_of(self.fleet.kinds[host])[name].get(own)
        key = f"{name}{own} of host {host}, {self.fleet.kinds[host]}"
        if not make or (name, own, host) in self.seen:
            self.wrong.append(f"{key}: there is no such series, or it is there twice")
            return
        self.seen.add((name, own, host))
        self.compare(host, key, make, times)

    def compare(self, host, key, make, times):
        kind = self.fleet.kinds[host]
        wanted = [(make(host, epoch, update), at)
                  for epoch, update, at in self.fleet.answers[host]]
        found = sorted(times.items())
        self.samples += len(found)
        if kind == "good":
            self.good_samples += len(found)
            if len(wanted) != len(found):
                self.good_missing.append(f"{key}: {len(found)} samples, not {len(wanted)}")
        if kind == "good" or (kind != "lies" and len(wanted) == len(found)):
            self.compare_in_order(key, wanted, found, self.precision_ms(host))
            return
        rest = collections.Counter(number for number, _ in wanted)
        for _, number in found:
            if rest[number] <= 0:
                self.wrong.append(f"{key}: {number!r} was not sent")
            rest[number] -= 1
        self.missing[kind] += sum(count for count in rest.values() if count > 0)

    def compare_in_order(self, key, wanted, found, precision_ms):
        for (number, at), (found_at, found_number) in zip(wanted, found):
            if number != found_number or abs(at - found_at) > precision_ms:
                self.wrong.append(f"{key}: {found_number!r} at {found_at},"
                                  f" not {number!r} at {at}, to {precision_ms:.0f} ms")
                return

    def finish(self):
        """Series that are missing at the receiver altogether."""
        for host, kind in enumerate(self.fleet.kinds):
            answers = len(self.fleet.answers[host])
            if not answers:
                continue
            for name, family in families_of(kind).items():
                for own in family:
                    if (name, own, host) in self.seen:
                        continue
                    if kind == "good":
                        self.good_missing.append(f"{name}{own} of host {host} is missing")
                    else:
                        self.missing[kind] += answers


def account_of(receiver, fleet):
    account = Account(receiver, fleet)
    for name in families_of("names"):
        for _, labels, times in receiver.series({"job": "dart"}, name):
            account.take(name, labels, times)
    account.finish()
    return account


def lost_of(own, receiver):
    """{reason: samples} that the output to the receiver counted as lost."""
    losses = collections.Counter()
    for what in ("dropped", "refused"):
        for labels, number in own[f"dart_controller_output_{what}_samples_total"]:
            if receiver.url in labels and number:
                reason = labels.partition('reason="')[2].partition('"')[0]
                losses[reason] += int(number)
    for labels, number in own["dart_controller_output_repeated_samples_total"]:
        if receiver.url in labels and number:
            losses["repeated"] += int(number)
    return losses


def check_receiver(receiver, fleet, own):
    name = type(receiver).__name__
    account = account_of(receiver, fleet)
    losses = lost_of(own, receiver)
    losses["torn"] = int(sum(account.torn.values()))
    print(f"# {name}: {account.samples} samples asked back, {account.good_samples} of them of"
          f" good hosts; missing: {dict(account.missing)}; counted: {dict(losses)}", flush=True)
    points.say_differences(f"{name} has every sample of the good hosts", account.good_missing)
    points.say_differences(f"{name} has no sample that a host has not sent", account.wrong)
    missing = sum(account.missing.values())
    points.say(f"{name} lacks as many samples of the other hosts as the controller has counted",
               "" if missing == sum(losses.values()) else
               f"{missing} are missing, {sum(losses.values())} are counted")
    points.say_differences(
        f"{name} has the number of series that have the names of others",
        [f"{account.dropped.get(host)} of host {host}" for host, kind in enumerate(fleet.kinds)
         if kind == "names" and fleet.answers[host] and account.dropped.get(host) != TWINS])


def check_status(status, fleet, before, elapsed):
    """Each due scrape ends in a counted outcome."""
    targets = {int(target["agent"].rpartition(":")[2]) - FIRST_PORT: target
               for target in status["targets"]}
    sums = {kind: collections.Counter() for kind in ("good",) + KINDS}
    errors = collections.defaultdict(collections.Counter)
    problems, without = [], []
    due = elapsed * 1000 / INTERVAL_MS
    for host, kind in enumerate(fleet.kinds):
        target = targets[host]
        outcome = {key: target[key] for key in
                   ("scrapes", "failed", "missed", "discarded", "dropped")}
        sums[kind].update(outcome, hosts=1, answers=len(fleet.answers[host]))
        errors[kind][(target["error"] or "none").replace(str(FIRST_PORT + host), "PORT")] += 1
        counted = target["scrapes"] + target["failed"] + target["missed"] - before[host]
        if abs(counted - due) > 3:
            problems.append(f"host {host}, {kind}: {counted} of {due:.0f}: {outcome}")
        if len(fleet.answers[host]) != target["scrapes"]:
            problems.append(f"host {host}, {kind}: {len(fleet.answers[host])} answers: {outcome}")
        if target["failed"] and not target["error"]:
            without.append(f"host {host}, {kind}")
    for kind, outcome in sums.items():
        print(f"# {kind}: {dict(outcome)} {errors[kind].most_common(2)}", flush=True)
    points.say_differences("each scrape that was due is counted, and so is each answer", problems)
    points.say_differences("each host that could not be scraped has a reason", without)


def run(directory, receivers, fleet, controller):
    dead = [receiver for receiver in receivers if not receiver.wait()]
    points.say("the receivers start", "\n".join(receiver.log() for receiver in dead))
    problem = fleet.start()
    points.say("the hosts start", problem)
    if problem:
        return
    controller.start(fleet.kinds)
    before = controller.begin()
    points.say("each host is scraped, or that fails", "" if before else controller.said())
    begin = time.monotonic()
    while before and time.monotonic() < begin + SECONDS and controller.process.poll() is None:
        time.sleep(min(60, max(0.1, begin + SECONDS - time.monotonic())))
        if controller.process.poll() is None:
            print(f"# {time.monotonic() - begin:.0f} s: {controller.ups()} hosts are up", flush=True)
    has_ended = controller.process.poll() is not None
    points.say("the controller goes on", has_ended and controller.said())
    if has_ended or not before:
        return
    points.say("the hosts hold still", fleet.hold())
    status = controller.status()
    elapsed = time.monotonic() - begin
    points.say("what waits is sent", controller.drain())
    own = controller.own()
    equal = own["dart_controller_agents_with_equal_labels"]
    points.say("the two hosts that were given the same labels are counted",
               equal != [("", 2)] and equal)
    points.say("the controller ends", controller.end() and controller.said())
    fleet.read()
    print("# events:", dict(fleet.events), flush=True)
    points.say("each kind of bad host is there, and has done what it does",
               [kind for kind in KINDS if not fleet.events[kind]])
    check_status(status, fleet, before, elapsed)
    for receiver in receivers:
        check_receiver(receiver, fleet, own)
    if points.failed:
        lines = controller.said().splitlines()
        print(f"# the controller's {len(lines)} messages end with\n# " +
              "\n# ".join(lines[-20:]))


def main():
    # All started programs end with this one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    kinds = [kind for kind in programs.ALL if kind.path()]
    if not kinds:
        print("1..0 # SKIP no receiver is installed (packages.txt has them)")
        sys.exit(4)
    for kind in programs.ALL:
        if kind not in kinds:
            points.say(f"{kind.__name__} has every sample", skip="it is not installed")
    print(f"# {HOSTS} hosts, {BAD} of them bad, for {SECONDS} s, {INTERVAL_MS} ms apart,"
          f" {SERIES} series each; DART_FLEET_SEED={SEED}", flush=True)
    with tempfile.TemporaryDirectory(prefix="dart-fleet.") as directory:
        receivers = [kind(directory) for kind in kinds]
        fleet = Fleet(directory)
        controller = Controller(directory, receivers)
        try:
            for receiver in receivers:
                receiver.start()
            run(directory, receivers, fleet, controller)
        finally:
            controller.stop()
            fleet.stop()
            for receiver in receivers:
                receiver.stop()
    sys.exit(points.finish())


main()
