# SPDX-License-Identifier: GPL-2.0-only
"""Import this first: it finds the other modules, or skips the test."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import tap

TREE = Path(__file__).resolve().parents[2]
PROGRAMS = TREE / ".output/p4"

sys.path.append(str(TREE / "selftests/vectors"))  # generate

for tool in ("p4c-bm2-ss", "simple_switch", "simple_switch_CLI"):
    if not shutil.which(tool):
        tap.skip(f"{tool} is not in PATH (see 'P4' in README.md)")
if not importlib.util.find_spec("scapy"):
    tap.skip("scapy is not installed (Debian package python3-scapy)")
if os.geteuid():
    tap.skip("only root can make network namespaces")
if not PROGRAMS.exists():
    sys.exit(f"{PROGRAMS} does not exist (make p4 builds it)")


def missing_for_digests():
    """Why simple_switch sends no digests; "" if it sends them, because it was built with nanomsg."""
    told = subprocess.run(["simple_switch", "--help"], check=False,
                          capture_output=True, text=True)
    if "--notifications-addr" in told.stdout + told.stderr:
        return ""
    return "simple_switch was built without nanomsg: it sends no digests"


def digests():
    """Skips the test if simple_switch sends no digests."""
    if missing := missing_for_digests():
        tap.skip(missing)
