#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hold_requests PORT SERVER_PORT NODE: stands between one client of ZooKeeper, which connects to PORT,
and its server.

From the first request for the data of a node whose path ends with NODE, all requests are held. Prints
"held" then, "told" when the server has told the client of a change, and takes a line from standard
input; passes the first held request on, and prints "answered" when the client has the answer; takes
another line, and passes on all requests from then on. Messages are ZooKeeper's: a length, then the
number of the request and its type, or the number of the answered request, of 4 bytes each."""

import socket
import struct
import sys
import threading

GET_DATA = 4
OF_A_WATCH = -1


def receive(connection):
    """Returns the next message with its length, or None at the end."""
    data = b""
    wanted = 4
    while len(data) < wanted:
        more = connection.recv(wanted - len(data))
        if not more:
            return None
        data += more
        if len(data) == 4:
            wanted += struct.unpack(">i", data)[0]
    return data


def number_of(message):
    return struct.unpack(">i", message[4:8])[0]


def is_for_data(message, node):
    # The path, and a byte that asks for a watch.
    return struct.unpack(">i", message[8:12])[0] == GET_DATA and message[:-1].endswith(node)


def say(word):
    print(word, flush=True)


class Held:
    """The state that both directions share."""

    def __init__(self):
        self.number = None
        self.told = threading.Event()
        self.answered = threading.Event()


def pass_requests(client, server, node, held):
    server.sendall(receive(client))  # that opens the session has no type
    while (message := receive(client)) is not None:
        if held.number is None and is_for_data(message, node):
            held.number = number_of(message)
            say("held")
            held.told.wait()
            say("told")
            sys.stdin.readline()
            server.sendall(message)
            held.answered.wait()
            say("answered")
            sys.stdin.readline()
        else:
            server.sendall(message)
    server.shutdown(socket.SHUT_WR)


def pass_answers(server, client, held):
    while (message := receive(server)) is not None:
        client.sendall(message)
        if held.number is not None and number_of(message) == OF_A_WATCH:
            held.told.set()
        if held.number is not None and number_of(message) == held.number:
            held.answered.set()


def main():
    port, server_port, node = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode()
    held = Held()
    with socket.create_server(("127.0.0.1", port)) as listener:
        say("listens")
        client, _ = listener.accept()
    server = socket.create_connection(("127.0.0.1", server_port))
    threading.Thread(target=pass_answers, args=(server, client, held), daemon=True).start()
    pass_requests(client, server, node, held)


main()
