/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_NETDEV_SAMPLER_H
#define DART_ZERO_NETDEV_SAMPLER_H

struct net_device;

/*
 * To call when @device ends or moves to another namespace, with rtnl_lock held, when RCU readers
 * can no longer find it and before another device can have its number.
 */
void dart_netdev_sampler_end(const struct net_device *device);

#endif /* DART_ZERO_NETDEV_SAMPLER_H */
