# SPDX-License-Identifier: GPL-2.0-only
"""A relay of TCP between one member and the servers of ZooKeeper, which a test can cut.

Cut silently, it keeps connections and takes new ones, but passes no byte on until it is mended, as
a network that loses packets which are sent again.  Cut with resets, it closes all connections and
takes none.
"""
import socket
import threading


class Relay:
    """Listens at one loopback port for each server."""

    def __init__(self, servers):
        self.servers = servers      # ports
        self.ports = []
        self.passes = threading.Event()
        self.passes.set()
        self.lock = threading.Lock()
        self.listeners = []
        self.sockets = set()
        self.listen([0] * len(servers))
        self.ports = [listener.getsockname()[1] for listener in self.listeners]

    def addresses(self):
        return ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def listen(self, ports):
        for port, server in zip(ports, self.servers):
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
            listener.listen()
            self.listeners.append(listener)
            threading.Thread(target=self.accept, args=(listener, server), daemon=True).start()

    def accept(self, listener, server):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client, server), daemon=True).start()

    def serve(self, client, server):
        self.passes.wait()
        try:
            peer = socket.create_connection(("127.0.0.1", server), 5)
            peer.settimeout(None)
        except OSError:
            client.close()
            return
        with self.lock:
            self.sockets |= {client, peer}
        threading.Thread(target=self.pump, args=(peer, client), daemon=True).start()
        self.pump(client, peer)

    def pump(self, source, target):
        try:
            while data := source.recv(65536):
                self.passes.wait()
                target.sendall(data)
        except OSError:
            pass
        self.passes.wait()
        self.end((source, target))

    def end(self, sockets):
        with self.lock:
            self.sockets -= set(sockets)
        for each in sockets:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()

    def cut(self, silently):
        if silently:
            self.passes.clear()
            return
        for listener in self.listeners:
            # close() alone leaves accept() waiting, which keeps the port.
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self.listeners = []
        with self.lock:
            sockets = list(self.sockets)
        self.end(sockets)

    def mend(self):
        self.passes.set()
        if not self.listeners:
            self.listen(self.ports)

    def stop(self):
        self.cut(silently=False)
        self.passes.set()
