/* SPDX-License-Identifier: GPL-2.0-only */
/* The guest's network interfaces. */
#ifndef QEMU_NETWORK_H
#define QEMU_NETWORK_H

/*
 * Bring up lo, eth0 with @address in a /24, and eth1 with @outside unless that is "".
 * Returns 0 or -errno.
 */
int network__start(const char *address, const char *outside);

#endif
