#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""nginx.py TOP: compare the counters of an nginx, and their series, with stub_status.

Starts Debian's nginx with two workers, and compares the memory of the master and of a worker with
stub_status while connections are idle, send half a request, and fetch a response slowly; and again
after the server has loaded its configuration once more. In TAP. Prints a reason to skip if no
layout is for this nginx.
"""
import os
import re
import signal
import socket
import subprocess
import tempfile
import time

import application
from application import point

PORT = 17773
CONFIGURATION = f"""
user root;
daemon off;
worker_processes 2;
error_log error.log;
pid pid;
events {{}}
http {{
    access_log off;
    keepalive_requests 100000;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    server {{
        listen 127.0.0.1:{PORT};
        location /status {{ stub_status; }}
        location /slow {{ root .; limit_rate 1; }}
    }}
}}
"""
FAMILIES = {
    "accepted": "nginx_connections_accepted",
    "handled": "nginx_connections_handled",
    "requests": "nginx_http_requests_total",
    "active": "nginx_connections_active",
    "reading": "nginx_connections_reading",
    "writing": "nginx_connections_writing",
    "waiting": "nginx_connections_waiting",
}


class Client:
    """A connection that asks for the status, and is kept."""

    def __init__(self):
        self.connection = socket.create_connection(("127.0.0.1", PORT))
        self.answers = self.connection.makefile("rb")

    def send(self, text):
        self.connection.sendall(text.encode())

    def close(self):
        self.answers.close()
        self.connection.close()

    def status(self):
        """stub_status as it is before and after the request for it"""
        self.send("GET /status HTTP/1.1\r\nHost: a\r\n\r\n")
        length = 0
        for line in iter(self.answers.readline, b"\r\n"):
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
        numbers = [int(number) for number in re.findall(r"\d+", self.answers.read(length).decode())]
        names = ("active", "accepted", "handled", "requests", "reading", "writing", "waiting")
        shown = dict(zip(names, numbers))
        # The request itself was written, and its connection waits for the next one now.
        shown["writing"] -= 1
        shown["waiting"] += 1
        return shown


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return [int(child) for child in children.read().split()]


def await_(condition):
    for _ in range(200):
        if condition():
            return True
        time.sleep(0.05)
    return False


def compare(reader, client, when):
    before = client.status()
    # nginx answers first, and counts the connection as waiting then.
    wrong = []

    def is_equal():
        wrong[:] = []
        read = reader.read()
        for name, family in FAMILIES.items():
            field = family.removeprefix("nginx_").removesuffix("_total")
            values = read["nginx"][0][field], read["series"].get(family + '{application="test"}')
            if values != (before[name], before[name]):
                wrong.append(f"{name}: {values}, stub_status {before[name]}")
        if read["series"].get('nginx_up{application="test"}') != 1:
            wrong.append("nginx_up is not 1")
        return not wrong

    await_(is_equal)
    after = client.status()
    before["requests"] += 1
    if after != before:
        wrong.append(f"stub_status was {before}, and is {after}")
    point(not wrong, f"{when}: the counters and their series equal stub_status", "; ".join(wrong))
    return before


def main():
    application.skip_without_layout("nginx")
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "nginx.conf"), "w", encoding="ascii") as file:
            file.write(CONFIGURATION)
        with open(os.path.join(directory, "slow"), "wb") as file:
            file.write(bytes(8 << 20))
        server = subprocess.Popen(["nginx", "-p", directory, "-c", "nginx.conf", "-e", "error.log"],
                                  stderr=subprocess.DEVNULL)
        try:
            await_(lambda: len(children_of(server.pid)) == 2)
            client = Client()
            master = application.Reader(server.pid)
            worker = application.Reader(children_of(server.pid)[0])
            compare(master, client, "an idle server")
            others = [Client() for _ in range(12)]
            for other in others[:7]:
                other.status()
            for other in others[7:10]:
                other.send("GET /status HTT")
            for other in others[10:]:
                other.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            await_(lambda: client.status()["reading"] == 3)
            await_(lambda: client.status()["writing"] == 2)
            shown = compare(master, client, "connections in each state")
            point(shown["reading"] == 3 and shown["writing"] == 2 and shown["waiting"] == 8,
                  "each state was counted", str(shown))
            compare(worker, client, "a worker")
            for other in others:
                other.close()
            client.close()
            workers = children_of(server.pid)
            server.send_signal(signal.SIGHUP)
            await_(lambda: not set(workers) & set(children_of(server.pid)))
            client = Client()
            await_(lambda: client.status()["active"] == 1)
            compare(master, client, "after a new configuration, with new workers")
            worker.end()
            master.end()
        finally:
            server.terminate()
            server.wait()
    application.end()


main()
