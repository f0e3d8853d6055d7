/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The next host on the way to a peer, a neighbour, as the kernel's neighbour table knows it.
 * The verbs that open a queue pair for an address wait for ARP if it is not known; a caller that asks
 * here first never waits.
 */
#ifndef NEIGHBOUR_H
#define NEIGHBOUR_H

#include <netinet/in.h>

#include <libdart/error.h>

/*
 * Returns 0 if the kernel knows the MAC address of @peer, or needs none.  Otherwise the kernel asks
 * for it with ARP from now on, and this returns -EAGAIN at once: a later call sees the answer.
 * -errno if the kernel cannot be asked.
 */
int neighbour__resolve(struct in_addr peer, struct dart_error *error);

#endif /* NEIGHBOUR_H */
