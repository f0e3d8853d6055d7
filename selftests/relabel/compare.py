#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""compare.py SETS SERIES [SEED]: compare the results of relabelling with Prometheus' own.

Invents SETS lists of rules, which together have all actions, and SERIES series; the helper
relabel_series applies the rules as the controller does, and a Prometheus that runs here scrapes the
same page once for each list, as its metric_relabel_configs. All series, all labels and all values
must be equal. If a list of rules makes an invalid name of any series, Prometheus 2 refuses the
whole page, and then the controller must have dropped a series.

Prints the seed and the differences. Exit status: 0 if there are none, 1 if there are some, 4 if
Prometheus is not installed."""

import collections
import http.server
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../receivers"))
import programs  # noqa: E402

HELPER = os.path.join(HERE, "../../.output/selftests/helpers/relabel_series")
JOBS = 100  # of one Prometheus, which has a million samples in memory at most
MARK = "relabel_set"
RETRIES = 60  # a second apart, for a page that Prometheus has not read
REFUSALS = "invalid metric name or label names", "missing metric name"
TARGET = {"dc": "fra-1", "rack": "R 07", "job": "dart"}
NAMES = ["node_cpu_seconds_total", "node_memory_bytes", "cgroup_cpu_seconds_total",
         "http_requests_total", "node_network_bytes_total", "x:rule:rate5m", "up_time"]
LABELS = ["cpu", "mode", "device", "cgroup", "le", "code", "Name", "a", "b", "__tmp_x"]
VALUES = ["0", "1", "17", "user", "System", "eth0", "eth1.100", "/system.slice/nginx.service",
          "200", "404", "", "Straße", "ÄÖÜ", "дом", "a;b", "x$1", "(", "İ", "ǅ", "Ωmega", "ß", "K",
          "deadbeef-cafe", "10.0.0.1:9100", "a b", "日本", "0.5", "+Inf"]
REGEXES = ["(.*)", ".*", ".+", "", "node_(.*)", "(.*)_total", "(?i)SYSTEM", "eth(\\d+)",
           "([a-z]+)([0-9]*)", "(?P<first>[^_]+)_(?P<rest>.*)", "a|b", "a)|(b", "(a|ab)(c|bcd)*",
           "[^;]*;(.*)", "\\w+", "[[:alpha:]]+", "\\pL+", "(\\p{Lu})(.*)", "(x+x+)+y", "(a*)*",
           "(|a)+", "/([^/]*)/.*", "cpu|mode|device", "__.*", "[A-Z].*", "(.).*(.)", "(.*?)(_.*)?",
           "\\Q+Inf\\E", "(\\d+)\\.(\\d+)", "^node.*$", "(?s).{1,8}", "d(.*)", "job|instance",
           "(?:(\\d)|([a-z]))+", "le|code|a|b", "[^a-m]*", "(.*):(.*)"]
TEMPLATES = ["$1", "${1}", "$2$1", "${1}_x", "$1x", "const", "", "$$", "$", "${", "$0", "${first}",
             "$rest", "$first-$rest", "${2}${1}", "a$", "${01}", "$9", "ü$1", "$1,$2", "x${1}y",
             "nginx"]
TARGETS = LABELS[:8] + ["dst", "__name__", "instance", "job", "dc", "__tmp_y"]


def words(rng, count):
    """Random expressions of a small alphabet, many of which match values and names."""
    parts = ["a", "b", "[a-z]", "\\d", ".", "_", "node", "cpu", "(a)", "(.)", "(?:x|y)", "[^b]",
             "(o|od)", "\\W", "(?i:N)", "$", "^", "\\b", "é", "\\S"]
    repeats = ["", "", "", "*", "+", "?", "{1,3}", "*?", "+?", "{2}"]
    text = ""
    for _ in range(count):
        part = rng.choice(parts)
        text += part + (rng.choice(repeats) if part not in ("$", "^", "\\b") else "")
        if rng.random() < 0.15:
            text += "|"
    return text


def regex(rng):
    return rng.choice(REGEXES) if rng.random() < 0.8 else words(rng, rng.randint(1, 6))


def rule(rng):
    action = rng.choice(["replace"] * 5 + ["keep", "drop", "keepequal", "dropequal", "hashmod",
                                           "labelmap", "labeldrop", "labelkeep", "lowercase",
                                           "uppercase"])
    sources = rng.sample(LABELS + ["__name__", "__name__", "instance", "dc", "absent"],
                         rng.randint(0, 3))
    if action in ("keep", "drop"):
        # Few rules of this kind leave nothing, or everything.
        pattern = rng.choice([".*_total|up.*", "(.*)", "node_.*;?.*", "[^;]*;.*", ".*[0-9].*",
                              ".*user.*|.*eth.*", "x.*", regex(rng)])
        return {"action": action, "source_labels": sources or ["__name__"], "regex": pattern}
    if action in ("keepequal", "dropequal"):
        return {"action": action, "source_labels": sources[:1] or ["a"],
                "target_label": rng.choice(LABELS[:8])}
    if action == "hashmod":
        return {"action": action, "source_labels": sources, "modulus": rng.choice(
            [1, 2, 7, 1000, 2**32, 2**63, 2**64 - 1]), "target_label": rng.choice(TARGETS)}
    if action == "labelmap":
        return {"action": action, "regex": rng.choice(["c(.*)", "(.)o(.*)", "(a|b)", "__tmp_(.*)",
                                                       "(dc|rack)", "(N)ame", "__(.*)", "de(.*)"]),
                "replacement": rng.choice(["$1", "m_$1", "${1}_${2}", "a", "new_$1", "x_$0"])}
    if action == "labeldrop":
        return {"action": action, "regex": rng.choice(["a|b", "cpu", "__tmp_.*", "d.*", "job",
                                                       "instance|rack", "[A-Z].*", "le"])}
    if action == "labelkeep":
        return {"action": action, "regex": rng.choice(["__name__|.*e.*|" + MARK, "[^c].*|cpu",
                                                       "__.*|[a-m].*",
                                                       "__name__|job|instance|a|b"])}
    made = {"source_labels": sources, "target_label": rng.choice(TARGETS)}
    if action in ("lowercase", "uppercase"):
        made["action"] = action
        if rng.random() < 0.3:
            made["separator"] = rng.choice(["", "_", "ß"])
        return made
    if rng.random() < 0.85:
        made["regex"] = regex(rng)
    if rng.random() < 0.8:
        made["replacement"] = rng.choice(TEMPLATES)
    if rng.random() < 0.2:
        made["separator"] = rng.choice(["", "_", "-", ", "])
    if rng.random() < 0.15:
        made["target_label"] = rng.choice(["${1}_t", "t_$1", "$first", "${2}"])
        # Prometheus 2 removes the label of this very name if the text is empty; 3 the one it stands
        # for.
        made["replacement"] = "v" + made.get("replacement", "$1")
    if made["target_label"] == "__name__":
        # A name of a series, or the page is refused.
        made["regex"] = rng.choice(["(node)_(.*)", "(cgroup|http)_(.*)_total", "(x:r).*(r).*"])
        made["replacement"] = rng.choice(["${1}_$2", "renamed", "$2:$1", "$1"])
        made["source_labels"] = ["__name__"]
    return made


def invent_series(rng, count):
    seen, made = set(), []
    while len(made) < count:
        labels = {"__name__": rng.choice(NAMES) + rng.choice(["", "", "_b", "_c"])}
        for name in rng.sample(LABELS, rng.randint(0, 6)):
            value = rng.choice(VALUES)
            if value:
                labels[name] = value
        key = tuple(sorted(labels.items()))
        if key not in seen:
            seen.add(key)
            made.append(labels)
    return made


class Page(http.server.BaseHTTPRequestHandler):
    text = b""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(self.text)

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, address):
        """Prometheus is killed while it reads the page."""


def ask(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
        return json.load(answer)["data"]


class Prometheus:
    """Scrapes the page for each list of rules, and has the labels of the target."""

    def __init__(self, directory, page_port, sets, first):
        self.port = programs.free_ports()
        self.sets = sets
        jobs = [{
            "job_name": f"set{first + i}",
            "honor_timestamps": True,
            "static_configs": [{"targets": [f"127.0.0.1:{page_port}"],
                                "labels": dict(TARGET, instance="host:4792")}],
            # The last rule tells the results of the lists apart.
            "metric_relabel_configs": rules + [{"target_label": MARK,
                                                "replacement": f"s{first + i}"}],
        } for i, rules in enumerate(sets)]
        config = os.path.join(directory, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            pause = f"{max(5, len(sets) // 4)}s"
            json.dump({"global": {"scrape_interval": pause, "scrape_timeout": pause},
                       "scrape_configs": jobs}, file)
        data = os.path.join(directory, f"data{first}")
        self.log = open(os.path.join(directory, "log"), "wb")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={data}",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=error"],
            stdout=self.log, stderr=self.log)

    def wait(self):
        """Returns why each job was refused, or "", once each one has been scraped."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                with open(self.log.name, encoding="utf-8") as log:
                    sys.exit("compare.py: Prometheus has ended: " + log.read()[-2000:])
            try:
                targets = ask(self.port, "/api/v1/targets?state=active")["activeTargets"]
            except OSError:
                time.sleep(0.1)
                continue
            if len(targets) == len(self.sets) and all(t["health"] != "unknown" for t in targets):
                return {t["scrapePool"]: t["lastError"] for t in targets}
            time.sleep(0.2)
        sys.exit("compare.py: Prometheus has not scraped all jobs in 300 s")

    def series(self, number):
        query = "%7B" + MARK + "%3D%22s" + str(number) + "%22%7D"
        return ask(self.port, "/api/v1/query?query=" + query)["result"]

    def end(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()


def is_refusal(error):
    return any(refusal in error for refusal in REFUSALS)


def as_set(all_labels):
    return collections.Counter(json.dumps(labels, sort_keys=True) for labels in all_labels)


def of_prometheus(result):
    found = []
    for series in result:
        labels = dict(series["metric"])
        labels.pop(MARK, None)
        labels[""] = series["value"][1]
        found.append(labels)
    return found


def write_rules(directory, number, rules):
    path = os.path.join(directory, f"rules{number}.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(rules, file, ensure_ascii=False)
    return path


def main():
    if not shutil.which("prometheus"):
        print("compare.py: prometheus is not installed (Debian package prometheus)")
        return 4
    count, series_count = int(sys.argv[1]), int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(10**9)
    print(f"# seed {seed}")
    rng = random.Random(seed)
    sets = [[rule(rng) for _ in range(rng.randint(1, 5))] for _ in range(count)]
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "series.json")
        with open(file, "w", encoding="utf-8") as into:
            json.dump({"labels": dict(TARGET, instance="host:4792"),
                       "series": invent_series(rng, series_count)}, into, ensure_ascii=False)
        Page.text = subprocess.run([HELPER, file, "page"], check=True,
                                   stdout=subprocess.PIPE).stdout
        paths = [write_rules(directory, i, rules) for i, rules in enumerate(sets)]
        output = subprocess.run([HELPER, file, *paths], check=True, stdout=subprocess.PIPE).stdout
        ours = [json.loads(line) for line in output.splitlines()]
        server = Server(("127.0.0.1", 0), Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return compare(directory, server.server_address[1], sets, ours)


def compare(directory, port, sets, ours):
    different = refused = kept = 0
    for first in range(0, len(sets), JOBS):
        some = sets[first:first + JOBS]
        prometheus = Prometheus(directory, port, some, first)
        try:
            errors = prometheus.wait()
            for number in range(first, first + len(some)):
                error = errors[f"set{number}"]
                # A busy machine lets a scrape time out, and then Prometheus has no series.
                for _ in range(RETRIES):
                    if is_refusal(error) or as_set(ours[number]) == as_set(
                            of_prometheus(prometheus.series(number))):
                        break
                    time.sleep(1)
                    error = prometheus.wait()[f"set{number}"]
                if is_refusal(error) and len(ours[number]) < len(Page.text.splitlines()):
                    refused += 1
                    continue
                theirs = as_set(of_prometheus(prometheus.series(number)))
                mine = as_set(ours[number])
                kept += len(ours[number])
                if theirs == mine and not is_refusal(error):
                    continue
                different += 1
                if different <= 5:
                    print(f"set {number}: {json.dumps(sets[number], ensure_ascii=False)}: {error}")
                    for text in list((theirs - mine))[:5]:
                        print("  only Prometheus: " + text)
                    for text in list((mine - theirs))[:5]:
                        print("  only dart-controller: " + text)
        finally:
            prometheus.end()
    of_each = len(Page.text.splitlines())
    print(f"{len(sets)} sets of rules, {of_each} series each: {different} differ, "
          f"{refused} pages refused by Prometheus, {kept} series compared")
    if not kept or refused * 4 > len(sets):
        print("compare.py: too few series are left")
        return 1
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
