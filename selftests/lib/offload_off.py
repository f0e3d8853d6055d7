#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""offload_off.py tx|gro INTERFACE...: as ethtool -K INTERFACE tx|gro off, where there is none.

tx: senders compute their checksums themselves; gro: packets that arrive are not joined.
"""

import ctypes
import fcntl
import socket
import struct
import sys

SIOCETHTOOL = 0x8946
COMMANDS = {"tx": 0x17, "gro": 0x2c}  # ETHTOOL_STXCSUM, ETHTOOL_SGRO

value = ctypes.create_string_buffer(struct.pack("II", COMMANDS[sys.argv[1]], 0))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    for name in sys.argv[2:]:
        fcntl.ioctl(any_socket, SIOCETHTOOL,
                    struct.pack("16sP", name.encode(), ctypes.addressof(value)))
