# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of running programs share: points in TAP, layouts, and values by a helper.

The first argument of the test is the top of the tree.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

top = os.path.abspath(sys.argv[1])
LAYOUTS = os.path.join(top, "schemas/applications/layouts")
points = failures = 0


def point(ok, name, why=""):
    global points, failures
    points += 1
    failures += not ok
    print(f"{'ok' if ok else 'not ok'} {points} - {name}")
    if not ok:
        print(f"# {why}")


def end():
    print(f"1..{points}")
    sys.exit(failures > 0)


def skip_without_layout(program):
    """Ends the test unless a layout is for this build of the program."""
    path = os.path.realpath(shutil.which(program))
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True,
                           check=True).stdout
    build_id = re.search(r"Build ID: (\w+)", notes)
    if not build_id or not os.path.exists(os.path.join(LAYOUTS, build_id[1] + ".yaml")):
        print(f"1..0 # SKIP no layout is for this build of {program}")
        sys.exit(0)


def connect(process, port):
    """A connection to a port at which a process that has just started will listen."""
    while process.poll() is None:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise ChildProcessError(f"the server of port {port} ended: {process.returncode}")


class Reader:
    """Reads the values of a process, and the series that dart-controller makes of them."""

    def __init__(self, pid, layouts=LAYOUTS, stderr=None):
        self.process = subprocess.Popen(
            [os.path.join(top, ".output/selftests/helpers/application_values"), str(pid), layouts,
             os.path.join(top, "schemas/prometheus")],
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)

    def read(self):
        """{entry: [{field: value}]}, and "series": {"FAMILY{LABELS}": value}"""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()
