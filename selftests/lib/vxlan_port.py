#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""vxlan_port.py INTERFACE ADDRESS PEER: leads an interface of this machine into a virtual machine.

Frames that arrive at INTERFACE go to the machine PEER in a VXLAN tunnel with the number 7 (RFC
7348) from ADDRESS, and frames of the tunnel leave by INTERFACE.  The machine has an interface like
"ip link add NAME type vxlan id 7 remote ADDRESS dstport 4789 dev eth0"; the kernel of this machine
may lack that.  It prints a line when it is ready.
"""

import select
import socket
import struct
import sys

ETH_P_ALL = 3
PORT = 4789
HEADER = struct.pack("!II", 8 << 24, 7 << 8)


def main():
    interface, address, peer = sys.argv[1:]
    tunnel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    tunnel.bind((address, PORT))
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    wire.bind((interface, ETH_P_ALL))
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([tunnel, wire], [], [])
        if wire in ready:
            frame, sender = wire.recvfrom(65536)
            if sender[2] != socket.PACKET_OUTGOING:
                tunnel.sendto(HEADER + frame, (peer, PORT))
        if tunnel in ready:
            data = tunnel.recv(65536)
            if data[:len(HEADER)] == HEADER:
                wire.send(data[len(HEADER):])


main()
