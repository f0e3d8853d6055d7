#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints a page of the controller on this host, and its header to standard error.

fetch.py PATH [HEADER]...; the environment may set another PORT.
"""
import http.client
import os
import sys

connection = http.client.HTTPConnection(
    "127.0.0.1", int(os.environ.get("PORT", 4794)), timeout=20)
headers = dict(header.split(": ", 1) for header in sys.argv[2:])
connection.request("GET", sys.argv[1], headers=headers)
answer = connection.getresponse()
print(answer.status, answer.headers, sep="\n", file=sys.stderr)
sys.stdout.buffer.write(answer.read())
