/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_NETDEV_SAMPLER_H
#define DART_ZERO_NETDEV_SAMPLER_H

struct net_device;

/*
 * @device ends or moves to another namespace.  Called with rtnl_lock held, when no RCU
 * reader can find it any more and before another one can have its number.
 */
void dart_netdev_sampler_end(const struct net_device *device);

#endif /* DART_ZERO_NETDEV_SAMPLER_H */
