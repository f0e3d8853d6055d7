/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_NETDEV_H
#define DART_ZERO_NETDEV_H

struct dart_percpu;
struct dart_source;
struct dart_zero_window;

int dart_netdev_init(void);
void dart_netdev_exit(void);

/* The packet and byte counters of a device, of whichever type it has. */
struct dart_percpu *dart_netdev_open(const struct dart_source *source,
				     const struct dart_zero_window *window);
/* What the network core has dropped for it. */
struct dart_percpu *
dart_netdev_open_core(const struct dart_source *source,
		      const struct dart_zero_window *window);

#endif /* DART_ZERO_NETDEV_H */
