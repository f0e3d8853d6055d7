#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints a page of the controller on this host, and its header to standard error.

fetch.py PATH [HEADER]...; the environment may set another PORT.  It speaks HTTP/1.0 itself, because
an emulated machine takes half a second to import http.client.
"""
import os
import socket
import sys

port = int(os.environ.get("PORT", 4794))
lines = [f"GET {sys.argv[1]} HTTP/1.0", f"Host: 127.0.0.1:{port}", *sys.argv[2:], "", ""]
with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
    connection.sendall("\r\n".join(lines).encode())
    answer = b"".join(iter(lambda: connection.recv(65536), b""))
header, end, body = answer.partition(b"\r\n\r\n")
status, *fields = header.decode("latin-1").split("\r\n")
print(status.split()[1], *fields, sep="\n", file=sys.stderr)
length = [int(field.split(":")[1]) for field in fields
          if field.lower().startswith("content-length:")]
if not end or (length and length[0] != len(body)):
    sys.exit("the page was cut off")
sys.stdout.buffer.write(body)
