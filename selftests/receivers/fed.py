#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A controller that reads a host feeds the installed receivers, while the test kills them and
the controller.  A receiver of our own, which is never killed, writes down all samples; the
test asks each other receiver for all of them.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import programs  # noqa: E402
import sent  # noqa: E402

LIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib")
WORK = "/run/fed"
RECORDED = f"{WORK}/recorded"
LOG = f"{WORK}/log"
PAGE = "127.0.0.1:4794"
TOTAL = "node_memory_MemTotal_bytes"
OUTAGE_SECONDS = 60
DELAY_SECONDS = 2
SOON_SECONDS = 150
# Prometheus makes the first series itself; dart_up carries the times of its scrapes.
NOT_COMPARED = {"scrape_duration_seconds", "scrape_samples_scraped",
                "scrape_samples_post_metric_relabeling", "scrape_series_added", "up", "dart_up"}
# The page contains metrics of the controller itself, too.
OF_CONTROLLER = ("dart_controller_", "process_")
# They tell the end of an agent.
ENDLESS = {"up", "dart_up"}
points = programs.Points()


def soon(condition):
    end = time.monotonic() + SOON_SECONDS
    while time.monotonic() < end:
        try:
            if condition():
                return ""
        except (OSError, ValueError, KeyError):
            pass
        time.sleep(0.3)
    with open(LOG, encoding="utf-8") as log:
        return f"not within {SOON_SECONDS} s; the controller's messages:\n{log.read()}"


def must(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Feed:
    """An output of the controller to a receiver, with a label that identifies it."""

    def __init__(self, receiver, name, **keys):
        self.receiver = receiver
        self.name = name
        self.spool = keys.get("spool")
        self.labels = {"job": "dart", "fed": name}
        self.output = {receiver.kind: receiver.url + receiver.write_path,
                       "delay": f"{DELAY_SECONDS}s", "labels": {"fed": name}, **keys}
        if receiver.version:
            self.output["version"] = receiver.version

    def totals(self):
        """Times of a series that is in each scrape."""
        return set().union(*(times for _, _, times in
                             self.receiver.series(self.labels, TOTAL)))

    def everything(self):
        return programs.everything(self.receiver, self.labels, without=["fed"])

    def differences(self, wanted, **options):
        if not self.receiver.has_nan:
            wanted = {key: {at: value for at, value in times.items() if value == value}
                      for key, times in wanted.items()}
        return programs.differences(wanted, self.everything(),
                                    self.receiver.tolerance, **options)


class Recorded:
    """Times of TOTAL in the growing file of sent samples."""

    def __init__(self):
        self.times = set()
        self.rest = ""
        self.file = open(RECORDED, "a+", encoding="utf-8")
        self.file.seek(0)

    def totals(self):
        *lines, self.rest = (self.rest + self.file.read()).split("\n")
        self.times.update(int(line.rpartition(" ")[2]) for line in lines
                          if line.startswith(TOTAL + "{") and " stale " not in line)
        return set(self.times)


class Controller:
    """dart-controller with all outputs."""

    def __init__(self, feeds, port):
        outputs = [feed.output for feed in feeds] + [
            {"listen": PAGE},
            {"remote_write": f"http://127.0.0.1:{port}/", "delay": f"{DELAY_SECONDS}s"}]
        with open(f"{WORK}/controller.yaml", "w", encoding="ascii") as file:
            json.dump({"agents": [{"host": "host"}], "outputs": outputs}, file)
        self.process = None

    def start(self):
        with open(LOG, "w", encoding="ascii") as log:
            self.process = subprocess.Popen(
                ["dart-controller", "--config", f"{WORK}/controller.yaml"],
                stdout=subprocess.DEVNULL, stderr=log)

    def end(self):
        self.process.terminate()
        return self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()

    @staticmethod
    def counts(order):
        """
        The counts of each output: sent, refused, lost and bytes.  Outputs to one address end in any
        order; the output that lost less is the one with a spool, which comes first.
        """
        with open(LOG, encoding="utf-8") as log:
            found = re.findall(
                r"(http\S+): (\d+) samples sent, (\d+) refused, (\d+) dropped.*, (\d+) bytes\n"
                r"(?:dart-controller: (\d+) samples were not sent)?", log.read())
        by_url = {}
        for url, taken, refused, dropped, size, unsent in found:
            by_url.setdefault(url, []).append(
                (int(taken), int(refused), int(dropped) + int(unsent or 0), int(size)))
        for counts in by_url.values():
            counts.sort(key=lambda of_output: of_output[2])
        return [by_url[url].pop(0) for url in order]


def start_all(receivers):
    for receiver in receivers:
        receiver.start()
    return [receiver for receiver in receivers if not receiver.wait()]


def have_all(feeds, recorded):
    """Waits until all receivers hold the samples that were recorded by now."""
    wanted = recorded.totals()
    return lambda: all(wanted <= feed.totals() for feed in feeds)


def test_outage(feeds, receivers, controller, recorded):
    for receiver in receivers:
        receiver.kill()
    time.sleep(OUTAGE_SECONDS)
    dead = start_all(receivers)
    points.say("the receivers run again after a minute",
               "\n".join(receiver.log() for receiver in dead))
    points.say("those with a spool catch up",
               soon(have_all([feed for feed in feeds if feed.spool], recorded)))
    points.say("the controller ends", controller.end() and "it fails")


def compare_outage(feeds, controller):
    recorded, _ = sent.of_file(RECORDED)
    samples = sum(len(times) for times in recorded.values())
    print(f"# {len(recorded)} series, {samples} samples", flush=True)
    names = [feed.receiver.url + feed.receiver.write_path.partition("?")[0]
             for feed in feeds]
    counts = controller.counts(names)
    for feed, (taken, refused, lost, size) in zip(feeds, counts):
        waiting = sent.of_spool(feed.spool, only_waiting=True)[0] if feed.spool else {}
        problems = list(feed.differences(
            recorded, may_lack=lambda key, at, waiting=waiting: at in waiting.get(key, {})))
        missing = [text for text in problems if text.endswith("is missing")]
        print(f"# {feed.name}: {taken} sent, {refused} refused, {lost} lost,"
              f" {len(missing)} missing, {size / (taken or 1):.1f} bytes each", flush=True)
        if feed.spool:
            points.say_differences(
                f"{feed.name} lost nothing in the outage", problems)
            continue
        points.say_differences(f"what {feed.name} has was sent",
                               [text for text in problems if text not in missing])
        points.say(f"{feed.name} lost a part, as much as the controller says",
                   "" if missing and len(missing) == lost and
                   len(missing) < samples else f"{len(missing)} missing, {lost} lost")


def was_sent(times, at, value):
    return at in times and not programs.differs(times[at], value, 0)


def compare_page(prometheus):
    """Prometheus scraped the page: each of its samples was sent as well."""
    recorded, _ = sent.of_file(RECORDED)
    for key in [key for key in recorded if key.partition("{")[0] in NOT_COMPARED]:
        del recorded[key]
    scraped = {}
    for name, labels, times in prometheus.series({"job": "dart", "fed": ""}):
        if name not in NOT_COMPARED and not name.startswith(OF_CONTROLLER):
            scraped[programs.series_key(name, labels)] = times
    problems = [f"{key} is only {'sent' if key in recorded else 'scraped'}"
                for key in sorted(recorded.keys() ^ scraped.keys())]
    # A sample that was gathered once and READ twice may be 1 ms older the second time,
    # because the controller compares the host's clock again: then it is not sent, but the
    # page shows it.
    problems += [f"{key} at {at} is {value!r}, and was not sent so"
                 for key, times in scraped.items() for at, value in times.items()
                 if not any(was_sent(recorded.get(key, {}), at + shift, value)
                            for shift in (0, 1, -1))]
    print(f"# the page: {len(scraped)} series,"
          f" {sum(len(times) for times in scraped.values())} samples")
    points.say_differences("Prometheus scrapes the series that are pushed, with the same"
                           " values and times", problems)


def spooled(feeds):
    return {feed.name: sent.of_spool(feed.spool) for feed in feeds}


def test_kill(feeds, receivers, controller, recorded):
    """The test kills the controller while its spools hold samples that no receiver takes."""
    feeds = [feed for feed in feeds if feed.spool]
    before = recorded.totals()
    controller.start()
    points.say("the receivers get what a second controller reads",
               soon(lambda: recorded.totals() > before and have_all(feeds, recorded)()))
    for receiver in receivers:
        receiver.kill()
    had = {name: messages for name, (_, messages) in spooled(feeds).items()}
    points.say("its spools grow while the receivers are dead", soon(
        lambda: all(messages >= had[name] + 3 for name, (_, messages)
                    in spooled(feeds).items())))
    controller.kill()
    killed_ms = time.time() * 1000
    for feed in feeds:
        shutil.copytree(feed.spool, feed.spool + ".copy")
    points.say("the receivers run again", "\n".join(
        receiver.log() for receiver in start_all(receivers)))
    before = recorded.totals()
    controller.start()
    points.say("a third controller sends what the second has left", soon(
        lambda: recorded.totals() > before and have_all(feeds, recorded)()))
    return killed_ms


def compare_kill(feeds, killed_ms):
    """The last moments before the kill were only in the controller's memory."""
    feeds = [feed for feed in feeds if feed.spool]
    since = killed_ms - 1000 * (DELAY_SECONDS + 3)
    recorded, _ = sent.of_file(RECORDED)
    for feed in feeds:
        wanted, messages = sent.of_spool(feed.spool + ".copy")
        samples = sum(len(times) for times in wanted.values())
        print(f"# {feed.name}: {messages} messages, {samples} samples in the spool")
        had = {(key, at) for key, times in wanted.items() for at in times}
        differ = [text for key, times in recorded.items()
                  for at in times.keys() & wanted.get(key, {}).keys()
                  if programs.differs(times[at], wanted[key][at], 1e-15)
                  for text in [f"{key} at {at}: {wanted[key][at]!r}"]]
        points.say_differences(f"the spool of {feed.name} has what was sent", differ)
        for key, times in recorded.items():
            wanted.setdefault(key, {}).update(times)
        points.say_differences(
            f"{feed.name} has all that the spool had, each sample once",
            feed.differences(wanted, may_lack=lambda key, at: (key, at) not in had and
                             since <= at <= killed_ms))


def test_end(feeds, controller):
    must("on", "host", "host_down")
    ending = [feed for feed in feeds if feed.receiver.has_ends]
    points.say("when the agent ends, so do its series, but for those that say so", soon(
        lambda: all(set(feed.receiver.alive({"job": "dart", "fed": feed.name})) == ENDLESS
                    for feed in ending)))
    points.say("the third controller ends", controller.end() and "it fails")


def feeds_of(receivers):
    feeds = []
    for receiver in receivers:
        name = type(receiver).__name__
        feeds.append(Feed(receiver, name, spool=f"{WORK}/spool.{name}"))
    # Less than an outage makes.
    feeds.append(Feed(receivers[0], f"{type(receivers[0]).__name__}-memory",
                      queue_bytes="256K"))
    return feeds


def run(receivers, port):
    feeds = feeds_of(receivers)
    controller = Controller(feeds, port)
    recorded = Recorded()
    dead = start_all(receivers)
    points.say("the receivers start", "\n".join(receiver.log() for receiver in dead))
    if dead:
        return
    controller.start()
    try:
        points.say("all receivers get what was sent", soon(
            lambda: len(recorded.totals()) >= 10 and have_all(feeds, recorded)()))
        test_outage(feeds, receivers, controller, recorded)
        compare_outage(feeds, controller)
        if isinstance(receivers[0], programs.Prometheus):
            compare_page(receivers[0])
        killed_ms = test_kill(feeds, receivers, controller, recorded)
        test_end(feeds, controller)
        compare_kill(feeds, killed_ms)
    finally:
        controller.kill()


def main():
    kinds = [kind for kind in programs.ALL if kind.path()]
    if not kinds:
        print("1..0 # SKIP no receiver is installed (packages.txt has them)")
        sys.exit(4)
    for kind in programs.ALL:
        if kind not in kinds:
            points.say(f"{kind.__name__} has what the controller sends",
                       skip="it is not installed")
    for old in glob.glob(WORK):
        shutil.rmtree(old)
    os.makedirs(WORK)
    must("rdma_up")
    must("on", "host", "host_up")
    must("on", "host", "dartctl", "register", "host", "--gather", "1s")
    port = programs.free_ports()
    with subprocess.Popen([sys.executable, os.path.join(LIB, "receiver.py"), str(port),
                           RECORDED], stdout=subprocess.PIPE) as recorder:
        recorder.stdout.readline()
        receivers = [kind(WORK, scrape=PAGE) for kind in kinds]
        try:
            run(receivers, port)
        finally:
            for receiver in receivers:
                receiver.stop()
            recorder.kill()
    sys.exit(points.finish())


main()
