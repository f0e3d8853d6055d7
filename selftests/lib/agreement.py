#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""agreement.py URL DOCUMENT [SECONDS]

Compares the samples that two jobs of one Prometheus, at URL, scraped in the last seconds:
"node" (node_exporter) and "dart" (dart-controller), of the same host. A counter of dart
must lie between two neighbouring samples of node, exactly or to the resolution of the
text that node_exporter reads. A gauge may lie outside by its tolerance. Series of only
one job need a reason here.

Then prints which families of node_exporter, and of the dashboard that DOCUMENT lists, are
served; each other family needs a reason in a table of DOCUMENT.

Prints TAP: the figures as comments, and the findings after each failed point.
"""
import fnmatch
import json
import re
import sys
import time
import urllib.parse
import urllib.request

# Both jobs use one clock, but the clock of samples is the sum of two clocks that are READ.
SLACK_S = 0.005
MIB = 1 << 20

# Families that are no counters by their type, but never fall.
GROWING = r"node_time_seconds|node_netstat_.*|node_vmstat_.*"
# Gauges among these: values that go up and down.
GAUGES = r"node_netstat_Tcp_CurrEstab"

# (families, tolerance, reason): the first fitting row counts.
TOLERANCES = (
    (r"node_cpu_seconds_total|node_cpu_guest_seconds_total", 0.01,
     "/proc/stat is in ticks of 10 ms, and cut off"),
    (r"node_disk_.*_seconds_total", 0.004,
     "/proc/diskstats brings times with a tick's resolution up to date"),
    (r"node_pressure_.*", 0.00001, "/proc/pressure is in microseconds, and cut off"),
    (r"node_boot_time_seconds", 1, "btime of /proc/stat has no fraction"),
    (r"node_time_seconds", 0.05, "it is asked at any time while node_exporter answers"),
    (r"node_load\d+", 0.3,
     "a step every 5 s, of 8 % of the tasks that run; two decimals in the file"),
    (r"node_memory_(Dirty|Writeback)_bytes", 32 * MIB,
     "goes up and down with each file that is written"),
    (r"node_memory_.*", 16 * MIB,
     "goes up and down between two readings, by what runs and by pages that CPUs keep"),
    (r"node_filesystem_.*_bytes", 16 * MIB, "a file comes and goes between two readings"),
    (r"node_filesystem_files_free", 8, "a file comes and goes between two readings"),
    (r"node_procs_(running|blocked)", 8, "of one moment"),
    (r"node_filefd_allocated", 256, "each reader opens files"),
    (r"node_sockstat_.*_mem_bytes", 64 * 4096,
     "pages of data come and go between two readings"),
    (r"node_netstat_Tcp_CurrEstab|node_sockstat_(TCP|UDP|sockets).*", 64,
     "connections, and pages of their data, come and go between two readings"),
    (r"node_disk_io_now", 64, "of one moment"),
    (r"node_timex_(maxerror|estimated_error)_seconds", 0.002,
     "the kernel adds 500 us every second"),
    (r"node_timex_(offset_seconds|frequency_adjustment_ratio)", 1e-6,
     "the clock is corrected every second"),
)

# Series that only one job has: (job, series, reason).
ONE_SIDED = (
    ("dart", r'node_disk_.*device="(z?ram|loop|fd|sr)\d+"',
     "disks that node_exporter excludes by a flag"),
    ("dart", r'node_network_.*device="lo"', "Debian's node_exporter excludes lo"),
    ("dart", r"node_netstat_.*|node_vmstat_.*",
     "node_exporter selects some by a flag; here are all"),
    ("node", r"node_vmstat_nr_.*", "gauges of /proc/vmstat, of which sources have few"),
    ("node", r'node_filesystem_.*fstype="(?!ext|xfs|btrfs)',
     "file systems without a disk are not followed"),
    ("node", r'node_filesystem_.*mountpoint="[^"]*"',
     "a file system has one series, with the shortest path"),
    ("dart", r"node_filesystem_.*", "mount points that node_exporter excludes by a flag"),
    ("dart", r"node_sockstat_.*6_.*", "IPv6 may be off when node_exporter asks"),
)

number = 0
failed = 0


def check(name, problems):
    global number, failed
    number += 1
    failed += bool(problems)
    print(f"{'not ok' if problems else 'ok'} {number} - {name}")
    for problem in problems[:40]:
        print(f"#   {problem}")


def ask(url, query):
    """[(name, labels without the labels of the scrape, [(time, value)])]"""
    data = urllib.parse.urlencode({"query": query}).encode()
    with urllib.request.urlopen(url + "/api/v1/query", data, timeout=60) as answer:
        results = json.load(answer)["data"]["result"]
    for result in results:
        labels = result["metric"]
        name = labels.pop("__name__")
        for label in ("job", "instance", "exported_instance"):
            labels.pop(label, None)
        yield name, labels, [(at, float(value)) for at, value in result["values"]]


def series_text(name, labels):
    text = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    return f"{name}{{{text}}}" if text else name


def read_job(url, job, seconds):
    """{series: (family, [(time, value)])}"""
    return {series_text(name, labels): (name, samples)
            for name, labels, samples in ask(url, f'{{job="{job}"}}[{seconds}s]')}


def read_types(url):
    """{family: its type on the page of node_exporter}"""
    with urllib.request.urlopen(url + "/api/v1/targets/metadata", timeout=60) as answer:
        items = json.load(answer)["data"]
    return {item["metric"]: item["type"] for item in items
            if item["target"].get("job") == "node"}


def tolerance_of(family):
    """The tolerance of the first pattern that fits."""
    for rule in TOLERANCES:
        if re.fullmatch(rule[0], family):
            return rule
    return (family, 0, "")


def is_growing(family, types):
    return (types.get(family) == "counter" or re.fullmatch(GROWING, family)) and \
        not re.fullmatch(GAUGES, family)


def neighbours(samples, durations, at):
    """The last sample of node that was read before @at, and the first one after it."""
    before = after = None
    for time_s, value in samples:
        if time_s + durations.get(time_s, 0) + SLACK_S <= at:
            before = value
        elif time_s - SLACK_S >= at and after is None:
            after = value
    return before, after


def compare(samples, ours, durations, tolerance):
    """(how many of our samples were compared, and the first that lies outside)"""
    compared, worst = 0, None
    for at, value in ours:
        before, after = neighbours(samples, durations, at)
        if before is None or after is None:
            continue
        compared += 1
        low, high = min(before, after), max(before, after)
        # Both are printed as decimal numbers.
        slack = tolerance + 1e-9 * abs(high)
        if not low - slack <= value <= high + slack and worst is None:
            worst = f"{value!r} is not in {low!r} ... {high!r}"
    return compared, worst


def compare_all(node, dart, durations, types):
    """Compares series of both jobs."""
    exact = loose = points = 0
    counters, gauges, alone, used = [], [], [], set()
    for series in sorted(node.keys() & dart.keys()):
        family, samples = node[series]
        tolerance = tolerance_of(family)[1]
        compared, outside = compare(samples, dart[series][1], durations, 0)
        if not compared:
            alone.append(f"{series}: no sample of dart is between two of node")
            continue
        points += compared
        if not outside:
            exact += 1
            continue
        _, outside = compare(samples, dart[series][1], durations, tolerance)
        if not outside:
            loose += 1
            used.add(family)
        elif is_growing(family, types):
            counters.append(f"{series}: {outside}")
        else:
            gauges.append(f"{series}: {outside}, give or take {tolerance}")
    both = {node[series][0] for series in node.keys() & dart.keys()}
    print(f"# {len(both)} families and {len(node.keys() & dart.keys())} series are served by "
          f"both; {points} samples of dart lie between two of node_exporter in time")
    print(f"# {exact} series agree as they are, {loose} within the tolerance of their "
          f"family, {len(counters)} counters and {len(gauges)} gauges do not")
    for rule in TOLERANCES:
        families = sorted(family for family in used if tolerance_of(family) is rule)
        if families:
            print(f"# within {rule[1]} ({rule[2]}): {' '.join(families)}")
    check("there are 150 families and 200 series that both have",
          [] if len(both) >= 150 and exact + loose >= 200 else ["there are fewer"])
    check("each series that both have was compared", alone)
    check("each counter lies between two neighbouring samples of node_exporter", counters)
    check("each gauge does, too, or is outside by no more than its tolerance", gauges)


def one_sided(who, series):
    return any(who == side and re.match(pattern, series)
               for side, pattern, _ in ONE_SIDED)


def check_sides(node, dart):
    """Compares families of both jobs: series that one job lacks need a reason."""
    both = {family for family, _ in node.values()} & {family for family, _ in dart.values()}
    problems = []
    for who, own, other in (("node", node, dart), ("dart", dart, node)):
        missing = [series for series in sorted(own.keys() - other.keys())
                   if own[series][0] in both]
        for side, pattern, reason in ONE_SIDED:
            fits = [series for series in missing
                    if side == who and re.match(pattern, series)]
            missing = [series for series in missing if series not in fits]
            if fits:
                print(f"# {len(fits)} series are only in {who}, as {fits[0]}: {reason}")
        problems += [f"only in {who}: {series}" for series in missing]
    check("series of common families that one job lacks have a reason", problems)


def read_document(path):
    """(families of the dashboard, {pattern of families that are not served: why})"""
    with open(path, encoding="utf-8") as text:
        lines = text.read().splitlines()
    served, reasons, of_dashboard = [], {}, set()
    for line in lines:
        if line.startswith("    node_"):
            served += line.split()
        cells = line.split("|")
        # Families of the dashboard: "| families | why |"; others: "| collector | families | why |".
        if len(cells) == 4 and re.match(r" `(node|process)_", cells[1]):
            of_dashboard.update(re.findall(r"`(\w+)`", cells[1]))
        if len(cells) in (4, 5):
            for name in re.findall(r"`((?:node|process|go|promhttp)_[\w*]*)`", cells[-3]):
                reasons.setdefault(name, cells[-2].strip())
    return set(served), of_dashboard, reasons


def reason_of(family, reasons):
    for pattern, reason in reasons.items():
        if fnmatch.fnmatchcase(family, pattern):
            return reason
    return None


def print_families(title, families, has, reasons):
    served = sorted(family for family in families if family in has)
    print(f"# {title}: {len(served)} of {len(families)} are served")
    problems = []
    for family in sorted(families):
        if family in has:
            print(f"#   served      {family}")
            continue
        reason = reason_of(family, reasons)
        print(f"#   not served  {family}: {reason}")
        if not reason:
            problems.append(family)
    check(f"each family of {title} is served, or its reason is written down", problems)


def main():
    url, document = sys.argv[1:3]
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    node, dart = read_job(url, "node", seconds), read_job(url, "dart", seconds)
    types = read_types(url)
    durations = dict(node["scrape_duration_seconds"][1])
    for job in (node, dart):
        for series in [series for series, (family, _) in job.items()
                       if family == "up" or family.startswith("scrape_")]:
            del job[series]
    compare_all(node, dart, durations, types)
    check_sides(node, dart)
    has = {family for family, _ in dart.values()}
    served, of_dashboard, reasons = read_document(document)
    print_families("the default collectors of node_exporter",
                   {family for family, _ in node.values()}, has, reasons)
    # This machine may lack the objects of a family: the family then follows from its name.
    print_families("the expressions of dashboard 1860", served | of_dashboard, served,
                   reasons)
    print(f"1..{number}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
