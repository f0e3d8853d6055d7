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
after_end = {}   # by entry, the time of the one record that was gathered after the end


def fault(what, name, values):
    faults.append({"what": what, "entry": name, "values": values})


def check_end(end, name, values, now):
    """One pass gathers the last values after the end, and readers see them for a lease."""
    time = values["time"]
    if time > end and after_end.setdefault(name, time) != time:
        fault(f"gathered again {time - end} ns after the end", name, values)
    counts["longest_shown_ms"] = max(counts["longest_shown_ms"], (now - end) // 10**6)
    if now - end > LEAVES_WITHIN:
        fault(f"shown {now - end} ns after the end", name, values)


def owners_of(inode, time):
    """The kernel uses a number again.  The last owner at this time comes first, then the one before
    it, whose last values can be of this time, then the next one, which has the number before it
    tells its time."""
    owners = by_inode.get(inode, [])
    count = sum(life["born"] <= time for _, life in owners)
    last, before = owners[max(count - 1, 0):count], owners[max(count - 2, 0):max(count - 1, 0)]
    follower = owners[count:count + 1]
    return (last
            + [(number, life) for number, life in before if time - life["ending"] < LEAVES_WITHIN]
            + [owner for owner in follower if last and last[0][1]["ending"] < time])


def namespace_fault(life, values):
    """From the last datagram on, in the pass after the end as well, the number is exact."""
    sent = values["outdatagrams"]
    if sent > life["datagrams"]:
        return f"more than {life['datagrams']} datagrams"
    if life["sent"] < values["time"] and sent != life["datagrams"]:
        return f"not {life['datagrams']} datagrams"
    return None


def check_namespace(name, values):
    owners = owners_of(int(name.rsplit(":", 1)[1]), values["time"])
    if not owners:
        return
    for number, life in owners:
        if not namespace_fault(life, values):
            break
    else:
        number, life = owners[0]
        fault(namespace_fault(life, values), name, values)
    seen["namespaces"].add(number)
    if life["sent"] < values["time"]:
        counts["exact"] += 1
        exact.add(number)


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
