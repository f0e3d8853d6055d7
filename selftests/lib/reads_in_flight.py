#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""reads_in_flight.py INTERFACE COMMAND [ARGUMENT...]: runs the command, and prints how many
RDMA READs of this machine were in flight meanwhile, judging by its RoCEv2 packets in the
order in which the interface sent and received them: a READ is in flight from its request to
the last packet of its response.

Prints JSON: requests; in_flight, in_flight_of_one (bytes, the most at a time: of all queue
pairs, of one) and operations (the same, as a number); dropped (packets that the kernel could
not show). Exits with the status of the command.
"""

import collections
import json
import socket
import struct
import subprocess
import sys
import threading

ETH_P_ALL = 3
SO_RCVBUFFORCE = 33
SOL_PACKET, PACKET_STATISTICS = 263, 6
READ_REQUEST, FIRST, LAST, ONLY = 0x0C, 0x0D, 0x0F, 0x10    # opcodes of RC
ROCE_PORT = 4791
SNAP = 14 + 60 + 8 + 12 + 16    # up to the RETH


def roce(frame):
    """Opcode, queue pair, PSN and the rest of the packet, or None."""
    if len(frame) < 14 + 20 or frame[12:14] != b"\x08\x00" or frame[23] != 17:
        return None
    udp = 14 + (frame[14] & 15) * 4
    if len(frame) < udp + 20 or struct.unpack_from("!H", frame, udp + 2)[0] != ROCE_PORT:
        return None
    bth = udp + 8
    return (frame[bth], int.from_bytes(frame[bth + 5:bth + 8], "big"),
            int.from_bytes(frame[bth + 9:bth + 12], "big"), frame[bth + 12:])


def capture(packets, frames, ended):
    while not ended.is_set():
        try:
            frames.append(packets.recv(SNAP))
        except socket.timeout:
            pass


def summarize(frames):
    in_flight = {}          # (queue pair, end of the range): bytes
    by_psn = {}             # first PSN: that key
    responding = {}         # queue pair of the requester: key
    flows = collections.Counter()
    most = collections.Counter()
    for opcode, queue_pair, psn, rest in filter(None, map(roce, frames)):
        key = None
        if opcode == READ_REQUEST:
            address, _, length = struct.unpack_from("!QII", rest)
            # A READ that is sent again asks for the rest of the same range.
            key = (queue_pair, address + length)
            by_psn[psn] = key
            if key in in_flight:
                continue
            in_flight[key] = length
            flows[queue_pair] += length
            most["requests"] += 1
            most["in_flight"] = max(most["in_flight"], sum(in_flight.values()))
            most["in_flight_of_one"] = max(most["in_flight_of_one"], flows[queue_pair])
            most["operations"] = max(most["operations"], len(in_flight))
            continue
        if opcode == FIRST:
            responding[queue_pair] = by_psn.get(psn)
        elif opcode == ONLY:
            key = by_psn.get(psn)
        elif opcode == LAST:
            key = responding.pop(queue_pair, None)
        if key in in_flight:
            flows[key[0]] -= in_flight.pop(key)
    return dict(most)


def main():
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    packets.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
    packets.bind((sys.argv[1], ETH_P_ALL))
    packets.settimeout(0.1)
    frames, ended = [], threading.Event()
    thread = threading.Thread(target=capture, args=(packets, frames, ended))
    thread.start()
    status = subprocess.run(sys.argv[2:], check=False).returncode
    ended.set()
    thread.join()
    _, dropped = struct.unpack("II", packets.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
    print(json.dumps(summarize(frames) | {"dropped": dropped}))
    sys.exit(status)


if __name__ == "__main__":
    main()
