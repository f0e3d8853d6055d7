# SPDX-License-Identifier: GPL-2.0-only
"""A receiver in threads that reads requests of remote write, and takes what they contain."""
import http.server
import socketserver
import threading
import time


class Taker(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(self.server.pause_s)
        self.send_response(204)
        self.send_header("X-Prometheus-Remote-Write-Samples-Written", "1")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    pause_s = 0


def start(pause_s=0):
    """Returns the URL of a receiver that answers after this time."""
    server = Server(("127.0.0.1", 0), Taker)
    server.pause_s = pause_s
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/write"
