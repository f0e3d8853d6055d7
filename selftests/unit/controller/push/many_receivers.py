#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A controller pushes to a hundred receivers at once, of which eighty fail, each fifth in one way: it
refuses the credentials, never answers, asks to wait, or is gone.  The other twenty get all samples in
time, and the status tells each of the hundred apart."""
import http.server
import json
import os
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../../../receivers"))
sys.path.insert(0, os.path.join(HERE, "../../../controllers"))
import programs  # noqa: E402
import scene  # noqa: E402

OF_EACH_KIND = 20
HOSTS = 10
INTERVAL_MS = 500
DELAY_SECONDS = 0.5
# While the failing ones fail; so many messages of each receiver that takes them.
MESSAGES = 20
SILENT_SECONDS = 60
# From the first message on, between two of a receiver that takes them; a busy machine is slower.
PAUSE_MAX_SECONDS = 5
TIMEOUT_SECONDS = 2
KINDS = {
    # kind: (status of its answer, error in the status of the controller)
    "takes": (204, None),
    "unauthorized": (401, "401"),
    "silent": (0, "imeout"),
    "busy": (429, "429"),
    "gone": (0, "onnect"),
}
points = programs.Points()


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        """The controller gives up on connections without an answer."""


class Receivers(http.server.BaseHTTPRequestHandler):
    """All receivers but the ones that are gone: the path is /KIND/NUMBER."""
    protocol_version = "HTTP/1.1"
    arrivals = {}
    lock = threading.Lock()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        kind = self.path.split("/")[1]
        with self.lock:
            self.arrivals.setdefault(self.path, []).append(time.monotonic())
        if kind == "silent":
            time.sleep(SILENT_SECONDS)
            return
        self.send_response(KINDS[kind][0])
        if kind == "busy":
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def start_server():
    server = Server(("127.0.0.1", 0), Receivers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def start_controller(directory, hosts, port):
    with socket.socket() as gone:
        # Nobody listens there, and nobody else gets the port.
        gone.bind(("127.0.0.1", 0))
        ports = {kind: port for kind in KINDS} | {"gone": gone.getsockname()[1]}
        outputs = [{"remote_write": f"http://127.0.0.1:{ports[kind]}/{kind}/{i}", "version": 1,
                    "delay": f"{int(DELAY_SECONDS * 1000)}ms", "timeout": f"{TIMEOUT_SECONDS}s",
                    "queue_bytes": "256K"}
                   for i in range(OF_EACH_KIND) for kind in KINDS]
        config = {"interval": f"{INTERVAL_MS}ms", "transport": "tcp",
                  "entries": [f"fleet:row+{INTERVAL_MS}ms"],
                  "tls": {"certificate": f"{directory}/controller.pem",
                          "key": f"{directory}/controller.key",
                          "authorities": f"{directory}/authority.pem"},
                  "agents": [{"host": "127.0.0.1", "port": hosts.first_port + host}
                             for host in range(HOSTS)],
                  "outputs": outputs}
        with open(f"{directory}/controller.yaml", "w", encoding="ascii") as file:
            json.dump(config, file)
        controller = scene.Process(f"{directory}/controller-log")
        controller.run([scene.CONTROLLER, "--config", f"{directory}/controller.yaml", "--socket",
                        f"{directory}/socket"], stdout=subprocess.DEVNULL)
        return controller, gone.detach()


def status_of(directory):
    answer = subprocess.run([scene.CONTROLLER, "status", "-j", "--socket", f"{directory}/socket"],
                            capture_output=True, timeout=20, check=False)
    return json.loads(answer.stdout) if not answer.returncode else {}


def outputs_of(directory):
    """{kind: [output]}"""
    found = {kind: [] for kind in KINDS}
    for output in status_of(directory).get("outputs", []):
        if output["output"] == "remote_write":
            found[output["to"].split("/")[-2]].append(output)
    return found


def have_all_failed(directory):
    return all(output["failing"] or output.get("refused_samples")
               for kind, outputs in outputs_of(directory).items() if KINDS[kind][1]
               for output in outputs)


def have_messages():
    with Receivers.lock:
        counts = [len(times) for path, times in Receivers.arrivals.items()
                  if path.startswith("/takes/")]
    return len(counts) == OF_EACH_KIND and min(counts) >= MESSAGES


def pauses():
    """The longest time between two messages of each receiver that takes them."""
    with Receivers.lock:
        return {path: max(after - before for before, after in zip(times, times[1:]))
                for path, times in Receivers.arrivals.items()
                if path.startswith("/takes/") and len(times) > 1}


def differences(directory):
    """What the status says of an output, if it is not what happened to it."""
    for kind, outputs in outputs_of(directory).items():
        if len(outputs) != OF_EACH_KIND:
            yield f"{len(outputs)} outputs are listed as {kind}"
        for output in outputs:
            problem = problem_of(kind, output)
            if problem:
                yield f"{output['to']}: {problem}: {output}"


def problem_of(kind, output):
    error = KINDS[kind][1]
    if kind == "takes":
        if output["failing"] or output["error"] or not output["sent_samples"]:
            return "it does not fail"
        if output["oldest_waiting_ns"] > PAUSE_MAX_SECONDS * 1e9:
            return "a sample waits for too long"
        return "" if not output.get("dropped_samples") else "it loses samples"
    if output["sent_samples"]:
        return "it takes nothing"
    said = output["error"] or ""
    return "" if error in said else f"its error is '{said}', without '{error}'"


def usage(pid):
    """CPU seconds, threads and KiB of a process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        lines = dict(line.split(":", 1) for line in file)
    ticks = os.sysconf("SC_CLK_TCK")
    return ((int(fields[11]) + int(fields[12])) / ticks, int(lines["Threads"]),
            int(lines["VmRSS"].split()[0]))


def run(directory):
    hosts = scene.Hosts(directory, HOSTS, INTERVAL_MS)
    problem = hosts.start()
    points.say("the hosts start", problem)
    if problem:
        return
    controller, gone = start_controller(directory, hosts, start_server())
    try:
        all_failed = scene.soon(lambda: have_all_failed(directory))
        points.say("all that should fail have failed", "" if all_failed else
                   scene.tail(controller.log))
        has_messages = scene.soon(have_messages)
        longest = pauses()
        late = [f"{path}: {pause:.1f} s" for path, pause in longest.items()
                if pause > PAUSE_MAX_SECONDS]
        points.say(f"{OF_EACH_KIND} receivers get messages all the time", "\n".join(late) or
                   ("" if has_messages else f"not {MESSAGES} each: {len(longest)} got several"))
        points.say_differences("the status tells each output apart", differences(directory))
        cpu, threads, kib = usage(controller.process.pid)
        print(f"# {len(KINDS) * OF_EACH_KIND} receivers, {HOSTS} hosts: {cpu:.1f} CPU-s, {threads}"
              f" threads, {kib} KiB; longest pause {max(longest.values(), default=0):.2f} s")
        controller.process.terminate()
        points.say("it ends", "" if scene.soon(lambda: not controller.is_running()) else "no")
    finally:
        os.close(gone)
        controller.kill()
        hosts.kill()


def main():
    for path in (scene.CONTROLLER, f"{scene.HELPERS}/fleet_hosts", f"{scene.HELPERS}/tls_files"):
        if not os.path.exists(path):
            print(f"1..0 # SKIP {path} is not built")
            sys.exit(4)
    with tempfile.TemporaryDirectory(prefix="dart-receivers.") as directory:
        run(directory)
    sys.exit(points.finish())


main()
