#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""firewall_trace.py PORT INSIDE OUTSIDE INSIDE_MAC OUTSIDE_MAC

Sends the same packets through two firewalls, and compares which of them pass: dart-flows at PORT,
and a router whose interfaces, with these Ethernet addresses, are at the other ends of INSIDE and
OUTSIDE.  Both let hosts inside begin flows.  Exits with 1 if a packet is judged differently that
DIFFERENCES does not name, or a named one alike.
"""

from packet_trace import DROPPED, PASSES, compare

DIFFERENCES = {
    ("a RST beyond the window", 3):
        (PASSES, DROPPED, "the switch passes most segments, so no window is known; the host "
                          "compares"),
    ("data beyond the window", 3): (PASSES, DROPPED, "likewise"),
    ("fragments", 0): (PASSES, DROPPED, "nothing joins fragments, the second follows the first"),
    ("a timestamp request", 0): (DROPPED, PASSES, "only echoes make pseudo-connections of ICMP"),
}

compare(DIFFERENCES)
