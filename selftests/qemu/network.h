/* SPDX-License-Identifier: GPL-2.0-only */
/* The guest's private Ethernet. */
#ifndef QEMU_NETWORK_H
#define QEMU_NETWORK_H

/* Bring up lo, and eth0 with @address in a /24.  Returns 0 or -errno. */
int network__start(const char *address);

#endif
