#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""instances.py nginx|postgresql DIRECTORY FIRST COUNT: compare values with those the servers tell.

Of the servers at COUNT ports of this host from FIRST on; each gets another number of requests
before. PostgreSQL has its sockets in DIRECTORY. Fails unless each value is equal within a minute,
and 4 s for each server.
"""
import functools
import json
import re
import subprocess
import sys
import time
import urllib.request

kind, directory, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
STATUS = re.compile(r"Active connections: (\d+) \n.*\n (\d+) (\d+) (\d+) \n")


def fetch(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=60) as answer:
        return answer.read().decode()


def of_nginx(port):
    """The last answer tells of its own request, too."""
    for _ in range(port % 5):
        fetch(port, "")
    _, accepted, handled, requests = map(int, STATUS.match(fetch(port, "status")).groups())
    return {"connections_accepted": accepted, "connections_handled": handled,
            "http_requests": requests}


def sql(port, text):
    return subprocess.run(
        ["psql", "-XAtq", "-h", directory, "-p", str(port), "-U", "postgres"], input=text,
        check=True, stdout=subprocess.PIPE, text=True).stdout


@functools.cache
def counts_in_checkpointer():
    """Does this release count checkpoints in a view of the checkpointer? All are of one release."""
    return int(sql(first, "SHOW server_version_num")) >= 170000


def of_postgresql(port):
    """Few sessions: to begin one takes longer than what it asks."""
    is_17 = counts_in_checkpointer()
    column = "num_requested FROM pg_stat_checkpointer" if is_17 else \
        "checkpoints_req FROM pg_stat_bgwriter"
    start = "(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint"
    # The checkpointer counts a checkpoint a little after it told this session of its end.
    sql(port, "CHECKPOINT;" * (port % 5))
    requested, started = sql(port, f"SELECT {column}; SELECT {start} - 946684800000000;").split()
    return {"checkpointer_num_requested" if is_17 else "bgwriter_checkpoints_req":
            int(requested),
            # From the year 2000 on.
            "start_time": int(started)}


def scrape():
    """{entry: its values}"""
    line = subprocess.run(["dart-controller", "--json", "--count", "1", "--entries", f"{kind}@*",
                           "localhost"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return next(sample["entries"] for sample in map(json.loads, line.splitlines())
                if "entries" in sample)


def compare(wanted):
    found = scrape()
    wrong = []
    for port, values in wanted.items():
        text = json.dumps(found.get(f"{kind}@{port}+1s"))
        for name, value in values.items():
            if not re.search(rf'"{name}": {value}\b', text):
                wrong.append(f"{port}: {name} is not {value}: {text[:200]}")
    return wrong


def main():
    tell = of_nginx if kind == "nginx" else of_postgresql
    told = {port: tell(port) for port in range(first, first + count)}
    end = time.monotonic() + 60 + 4 * count
    wrong = compare(told)
    while wrong and time.monotonic() < end:
        time.sleep(0.2)
        wrong = compare(told)
    print("\n".join(wrong[:10]) or f"{count} servers have the values that they tell")
    sys.exit(bool(wrong))


main()
