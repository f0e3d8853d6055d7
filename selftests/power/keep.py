#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""keep.py PORT FILE: a receiver of remote write that keeps the messages unchanged.

FILE contains, for each message, its length and version of remote write, as struct.pack("<IB"),
and the message. Before the receiver answers, the message is on the disk of another machine.
"""
import http.server
import struct
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    file = None

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        version = 2 if "io.prometheus.write.v2" in self.headers["Content-Type"] else 1
        self.file.write(struct.pack("<IB", len(body), version) + body)
        self.send_response(204)
        self.send_header("X-Prometheus-Remote-Write-Samples-Written", "1")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    with open(sys.argv[2], "ab", buffering=0) as Handler.file:
        server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
        print("ready", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
