#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""nat_trace.py PORT INSIDE OUTSIDE INSIDE_MAC OUTSIDE_MAC

Sends the same packets through two NATs with one address outside, and compares which of them pass,
and by which ports: dart-flows at PORT, and a router whose interfaces, with these Ethernet
addresses, are at the other ends of INSIDE and OUTSIDE.  Each packet that passes is compared with
one that is made for its new ends.  Exits with 1 if a packet is judged differently that DIFFERENCES
does not name, or a named one alike.

Numbers of ports are not compared: Linux keeps the port of the host inside if it can, dart-flows
chooses one at random (RFC 6056), of the same parity (RFC 4787, REQ-3).
"""

from packet_trace import DROPPED, PASSES, compare

DIFFERENCES = {
    ("SYN and ACK with a wrong number", 1):
        (PASSES, DROPPED, "a NAT is no firewall: the host inside compares numbers"),
    ("RST with a wrong number", 1): (PASSES, DROPPED, "likewise"),
    ("a RST beyond the window", 3):
        (PASSES, DROPPED, "the switch passes most segments, so no window is known"),
    ("data beyond the window", 3): (PASSES, DROPPED, "likewise"),
    ("a damaged answer", 1):
        (PASSES, DROPPED, "the switch compares no checksum of packets with an entry; the wrong "
                          "one stays wrong, and the host drops the packet"),
    ("fragments", 0): (PASSES, DROPPED, "nothing joins fragments, the second follows the first"),
    ("a timestamp request", 0):
        (DROPPED, PASSES, "of ICMP only echoes have a number that tells hosts apart"),
    ("a host inside by its end outside", 3):
        (PASSES, DROPPED, "hairpin (RFC 4787, REQ-9), which Linux needs rules for"),
}

compare(DIFFERENCES, "203.0.113.1")
