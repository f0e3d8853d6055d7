# SPDX-License-Identifier: GPL-2.0-only
"""churn.py LIVES LINES: compares scrapes of gathered records, LINES of dart-controller,
with the LIVES of the containers that helpers/churn made.  Prints, as JSON, the number
of values and the first few values that a reader must not see."""
import json
import sys

SECOND = 10**9
# Time for which the entry lingers with its last record, a lease, and in which the agent then removes
# it and the controller reads its new table.
LEAVES_WITHIN = (4 + 5) * SECOND

with open(sys.argv[1], encoding="utf-8") as file:
    churn = json.load(file)
lives = churn["lives"]
by_inode = {}
for number, life in enumerate(lives):
    by_inode.setdefault(life["inode"], []).append((number, life))

faults = []
# Lives of most containers are shorter.
LONG = 3 * SECOND
exact = set()    # numbers of the lives whose datagrams were counted exactly

counts = {"rate": churn["rate"], "containers": len(lives), "scrapes": 0, "whole": 0,
          "torn": 0, "exact": 0, "longest_shown_ms": 0}
seen = {"cgroups": set(), "devices": set(), "namespaces": set()}
latest = {}


def fault(what, name, values):
    faults.append({"what": what, "entry": name, "values": values})


def check_end(end, name, values, now):
    """No record is gathered after the end, and readers see the last record for a lease."""
    if values["time"] > end:
        fault(f"gathered {values['time'] - end} ns after the end", name, values)
    counts["longest_shown_ms"] = max(counts["longest_shown_ms"], (now - end) // 10**6)
    if now - end > LEAVES_WITHIN:
        fault(f"shown {now - end} ns after the end", name, values)


def check_namespace(name, values):
    inode = int(name.rsplit(":", 1)[1])
    # The kernel uses a number again: the last owner at the time of the record.
    owners = [(number, life) for number, life in by_inode.get(inode, [])
              if life["born"] <= values["time"]]
    if not owners:
        return
    number, life = owners[-1]
    seen["namespaces"].add(number)
    sent = values["outdatagrams"]
    if sent > life["datagrams"]:
        fault(f"more than {life['datagrams']} datagrams", name, values)
    if life["sent"] < values["time"] < life["ending"]:
        counts["exact"] += 1
        exact.add(number)
        if sent != life["datagrams"]:
            fault(f"not {life['datagrams']} datagrams", name, values)


def check_growth(name, values):
    before = latest.get(name)
    latest[name] = values
    for field, value in values.items():
        if before and field in before and value < before[field]:
            fault(f"{field} was {before[field]}", name, values)


def check_record(name, values, now):
    if name.startswith("snmp:udp@net:"):
        check_namespace(name, values)
        return
    check_growth(name, values)
    if name.startswith("cgroup:cpu@/churn/c"):
        number = int(name.rsplit("/c", 1)[1])
        seen["cgroups"].add(number)
        check_end(lives[number]["removed"], name, values, now)
    elif name.startswith("netdev:stats@c"):
        number = int(name.rsplit("@c", 1)[1])
        seen["devices"].add(number)
        if lives[number]["unlinked"]:
            check_end(lives[number]["unlinked"], name, values, now)


with open(sys.argv[2], encoding="utf-8") as file:
    for line in file:
        entries = json.loads(line).get("entries")
        if not entries:
            continue
        counts["scrapes"] += 1
        records = {name.split("+")[0]: entry["sum"]
                   for name, entry in entries.items() if name.endswith("+100ms")}
        now = max((values["time"] for values in records.values() if values), default=0)
        for name, values in records.items():
            counts["whole" if values else "torn"] += 1
            if values:
                check_record(name, values, now)

long = {number for number, life in enumerate(lives) if life["ending"] - life["sent"] > LONG}
counts.update({"long": len(long), "long_exact": len(long & exact)})
counts.update({kind: len(numbers) for kind, numbers in seen.items()})
counts["fault_count"] = len(faults)
counts["faults"] = faults[:5]
print(json.dumps(counts))
