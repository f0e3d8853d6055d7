# SPDX-License-Identifier: GPL-2.0-only
"""Programs that receive metrics, each with its data in a separate directory, listening on
loopback only; tests ask for their samples in their own query languages.

A series is a key, series_key(name, labels), with {time in ms: value}.
"""
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.parse
import urllib.request

FREE_PORTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../free_ports")
START_SECONDS = 120
ANSWER_SECONDS = 600


def free_ports(count=1):
    """The first of COUNT ports in a row, see selftests/free_ports."""
    return int(subprocess.check_output([FREE_PORTS, str(count)]))


def ask(url, **query):
    data = urllib.parse.urlencode(query).encode() if query else None
    with urllib.request.urlopen(url, data, timeout=ANSWER_SECONDS) as answer:
        return answer.read().decode()


def series_key(name, labels):
    return name + json.dumps(labels, sort_keys=True)


class Receiver:
    """A program that runs, or could run again with the same data."""
    name = ""
    tolerance = 0.0      # relative, of values
    has_ends = True      # it knows the ended series
    has_nan = True
    # The signal that kills it without loss of acknowledged samples.
    kill_signal = signal.SIGKILL

    def __init__(self, directory, **options):
        self.directory = os.path.join(directory, type(self).__name__.lower())
        os.makedirs(self.directory)
        self.options = options
        self.port = free_ports()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    @classmethod
    def path(cls):
        """The version of the program; None if it is not installed."""
        return shutil.which(cls.program)

    def start(self):
        with open(os.path.join(self.directory, "log"), "ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log,
                                            cwd=self.directory)

    def wait(self):
        """Whether it answers."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                ask(self.url + self.ready)
                return True
            except OSError:
                time.sleep(0.1)
        return False

    def kill(self):
        self.process.send_signal(self.kill_signal)
        self.process.wait()

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def log(self):
        with open(os.path.join(self.directory, "log"), encoding="utf-8",
                  errors="replace") as log:
            return log.read()[-2000:]


class Prometheus(Receiver):
    """Debian's, which takes remote write 1.0; it scrapes as well."""
    program = "prometheus"
    ready = "/-/ready"
    kind = "remote_write"
    write_path = "/api/v1/write"
    version = 1

    def command(self):
        config = {"global": {"scrape_interval": "1s"}, "scrape_configs": []}
        if "scrape" in self.options:
            config["scrape_configs"].append({
                "job_name": "dart", "honor_labels": True,
                "static_configs": [{"targets": [self.options["scrape"]]}]})
        with open(os.path.join(self.directory, "prometheus.yml"), "w",
                  encoding="ascii") as file:
            json.dump(config, file)
        return [self.path(), "--config.file=prometheus.yml",
                "--web.enable-remote-write-receiver",
                f"--web.listen-address=127.0.0.1:{self.port}",
                "--storage.tsdb.path=data"]

    def query(self, query):
        answer = json.loads(ask(self.url + "/api/v1/query", query=query,
                                time=time.time() + 10))
        return answer["data"]["result"]

    def series(self, labels, name=""):
        """(name, labels, {ms: value}) of series with these labels; "" is none."""
        selector = ",".join(f'{label}="{value}"' for label, value in labels.items())
        for result in self.query(f"{name}{{{selector}}}[1h]"):
            own = result["metric"]
            yield own.pop("__name__"), own, {
                round(at * 1000): float(value) for at, value in result["values"]}

    def alive(self, labels):
        """The names of series that go on, although their last sample is young."""
        selector = ",".join(f'{label}="{value}"' for label, value in labels.items())
        return [result["metric"]["__name__"] for result in self.query(f"{{{selector}}}")]


class Prometheus3(Prometheus):
    """A Prometheus that takes remote write 2.0, at the path in $PROMETHEUS3."""
    version = 2

    @classmethod
    def path(cls):
        return shutil.which(os.environ.get("PROMETHEUS3") or "prometheus3")


class VictoriaMetrics(Prometheus):
    program = "victoria-metrics"
    ready = "/health"
    # It keeps decimal numbers of about 15 digits.
    tolerance = 1e-12
    # Samples of the last second are only in its memory.
    kill_signal = signal.SIGTERM

    def command(self):
        command = [self.path(), f"-httpListenAddr=127.0.0.1:{self.port}",
                   "-storageDataPath=data", "-search.latencyOffset=0s"]
        if "dedup_ms" in self.options:
            # Of each such span it keeps the newest sample.
            command.append(f"-dedup.minScrapeInterval={self.options['dedup_ms']}ms")
        return command

    def series(self, labels, name="", with_ends=False):
        """With the ends of series, whose values are NaN, if they are wanted."""
        selector = ",".join(f'{label}="{value}"' for label, value in labels.items())
        ask(self.url + "/internal/force_flush")
        lines = ask(self.url + "/api/v1/export",
                    **{"match[]": f"{name}{{{selector}}}"})
        for line in lines.splitlines():
            result = json.loads(line)
            own = result["metric"]
            yield own.pop("__name__"), own, {
                at: float("nan") if value is None else value
                for at, value in zip(result["timestamps"], result["values"])
                if with_ends or value is not None}


class InfluxDB(Receiver):
    program = "influxd"
    ready = "/ping"
    kind = "influx"
    write_path = "/write?db=dart"
    version = 0
    has_ends = False
    has_nan = False

    def command(self):
        config = os.path.join(self.directory, "influxdb.conf")
        if not os.path.exists(config):
            with open(config, "w", encoding="ascii") as file:
                file.write(f"""reporting-disabled = true
bind-address = "127.0.0.1:{free_ports()}"
[meta]
  dir = "{self.directory}/meta"
[data]
  dir = "{self.directory}/data"
  wal-dir = "{self.directory}/wal"
[http]
  bind-address = "127.0.0.1:{self.port}"
  log-enabled = false
""")
        return [self.path(), "-config", config]

    def wait(self):
        return super().wait() and bool(
            ask(self.url + "/query", q="CREATE DATABASE dart"))

    def series(self, labels, name=""):
        source = f'"{name}"' if name else "/.*/"
        answer = json.loads(ask(self.url + "/query", db="dart", epoch="ns",
                                q=f'SELECT "value" FROM {source} GROUP BY *'))
        for result in answer["results"][0].get("series", []):
            # Each series carries the tags of all measurements, with empty values.
            own = {tag: value for tag, value in result["tags"].items() if value}
            if any(own.get(label, "") != value for label, value in labels.items()):
                continue
            yield result["name"], own, {
                at // 1000000: value for at, value in result["values"]}


ALL = (Prometheus, Prometheus3, VictoriaMetrics, InfluxDB)


def everything(receiver, labels, without=()):
    """{key: {ms: value}} of its series with these labels; the keys leave some labels out."""
    found = {}
    for name, own, points in receiver.series(labels):
        for label in without:
            own.pop(label, None)
        if points:
            found.setdefault(series_key(name, own), {}).update(points)
    return found


def differs(one, other, tolerance):
    if one != one or other != other:
        return one == one or other == other
    return abs(one - other) > tolerance * abs(one)


def differences(wanted, found, tolerance, may_lack=lambda key, at: False):
    """Sentences; samples for which may_lack() is true need not be there."""
    for key in sorted(wanted.keys() | found.keys()):
        there, sent = found.get(key, {}), wanted.get(key, {})
        for at in sorted(there.keys() - sent.keys()):
            yield f"{key} at {at} was not sent"
        for at in sorted(sent.keys() - there.keys()):
            if not may_lack(key, at):
                yield f"{key} at {at} is missing"
        for at in there.keys() & sent.keys():
            if differs(sent[at], there[at], tolerance):
                yield f"{key} at {at}: {there[at]!r}, not {sent[at]!r}"


class Points:
    """Prints TAP."""

    def __init__(self):
        self.count = self.failed = 0

    def say(self, name, problem="", skip=""):
        self.count += 1
        self.failed += bool(problem)
        print(f"{'not ok' if problem else 'ok'} {self.count} - {name}"
              f"{' # SKIP ' + skip if skip else ''}", flush=True)
        if problem:
            print("# " + str(problem).replace("\n", "\n# "), flush=True)

    def say_differences(self, name, problems):
        problems = list(problems)
        self.say(name, problems and
                 f"{len(problems)} differences:\n" + "\n".join(problems[:10]))

    def finish(self):
        print(f"1..{self.count}")
        return bool(self.failed)
