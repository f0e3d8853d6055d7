/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_NETDEV_H
#define DART_ZERO_NETDEV_H

#include "kmod/objects/source.h"

int dart_netdev_init(void);
void dart_netdev_exit(void);

/*
 * Borrows the packet and byte counters of a device, which can be of several types, or its drop
 * counters, which the network core keeps.
 */
struct dart_percpu *dart_netdev_borrow(const struct dart_source *source,
				       const struct dart_zero_window *window, struct net *net);

#endif /* DART_ZERO_NETDEV_H */
