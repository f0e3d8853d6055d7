#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""redis_values.py TOP: try tools/bench/applications_values.py, in TAP.

Reads the memory of a redis-server under redis-benchmark, and afterwards, while redis_info asks it
by INFO, and hands the rows to the bench in the place of a recording: as they are, and with a wrong
counter or gauge. Prints a reason to skip if no layout is for this build.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

top = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(top, "selftests/unit/agent/application"))
import application
from application import point

PORT = 17781
ROWS = 20  # while the server has nothing else to do


def read_row(reader):
    now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return dict(reader.read()["redis"][0], time=now)


def read_rows(directory):
    """Rows, the last of them while the server gets no command but INFO."""
    info = subprocess.Popen([os.path.join(top, ".output/bin/redis_info"), "--interval", "5ms",
                             "--count", "1000000", "one", str(PORT), "1", directory + "/infos"],
                            stdout=subprocess.DEVNULL)
    try:
        while info.poll() is None and not (os.path.exists(directory + "/infos") and
                                           os.path.getsize(directory + "/infos")):
            time.sleep(0.01)
        load = subprocess.Popen(["redis-benchmark", "-p", str(PORT), "-n", "500", "-c", "1", "-q",
                                 "-t", "set,get"], stdout=subprocess.DEVNULL)
        rows = []
        while load.poll() is None:
            rows.append(read_row(reader))
        return rows + [read_row(reader) for _ in range(ROWS)]
    finally:
        info.terminate()
        info.wait()


def compare(directory, rows):
    """The exit status, the figures, and what lies outside"""
    with open(directory + "/recording", "w", encoding="utf-8") as recording:
        for row in rows:
            print(json.dumps({"time_ns": 1, "entries": {f"redis@{PORT}+100ms": {"sum": row}}}),
                  file=recording)
    # "dump --format json FILE"
    controller = directory + "/controller"
    with open(controller, "w", encoding="utf-8") as script:
        script.write('#!/bin/sh\ncat "$4"\n')
    os.chmod(controller, 0o755)
    done = subprocess.run([os.path.join(top, "tools/bench/applications_values.py"), controller,
                           directory + "/recording", directory + "/infos"],
                          capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr


application.skip_without_layout("redis-server")
with tempfile.TemporaryDirectory() as directory:
    server = subprocess.Popen(["redis-server", "--port", str(PORT), "--dir", directory, "--save",
                               ""], stdout=subprocess.DEVNULL)
    try:
        # A server that does not listen yet may not even be redis-server yet.
        application.connect(server, PORT).close()
        reader = application.Reader(server.pid)
        try:
            rows = read_rows(directory)
        finally:
            reader.end()
    finally:
        server.terminate()
        server.wait()
    status, figures, wrong = compare(directory, rows)
    point(status == 0 and figures["outside"] == 0 and figures["rows"] > ROWS / 2,
          "the values of a server lie between the answers to INFO", f"{figures} {wrong}")
    point(0 < figures["quiescent_rows"] < figures["rows"] and figures["gauges"] > 0,
          "gauges are compared while the server has nothing else to do", str(figures))
    point("total_commands_processed" in figures["moved_by_info"] and
          "used_memory" in figures["left_out"] and "maxclients" not in figures["left_out"],
          "fields that INFO moves are listed", str(figures))
    quiet = len(rows) - ROWS // 2
    for field in ("keyspace_hits", "maxclients"):
        changed = [dict(row) for row in rows]
        changed[quiet][field] += 1
        status, figures, wrong = compare(directory, changed)
        point(status == 1 and figures["outside"] == 1 and field in wrong,
              f"{field} that is too large by 1 is found", f"{figures} {wrong}")
    status, figures, wrong = compare(directory, rows[:1])
    point(status == 1, "without rows to compare the bench fails", str(figures))
application.end()
