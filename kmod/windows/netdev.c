// SPDX-License-Identifier: GPL-2.0-only
/* The counters of network devices. */
#include "netdev.h"

#include <linux/err.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include <linux/dart_zero.h>

#include "kmod/base/compat.h"
#include "kmod/extents/borrowed.h"
#include "kmod/extents/percpu.h"
#include "kmod/objects/namespace.h"
#include "kmod/samplers/netdev_link.h"

/*
 * A device is about to end or to move to another namespace: it is down, and all
 * users that saw it up have finished.  Called with rtnl_lock held.
 */
static int netdev_event(struct notifier_block *block, unsigned long event, void *info)
{
	struct net_device *device = netdev_notifier_info_to_dev(info);

	if (event == NETDEV_UNREGISTER) {
		dart_borrowed_keep(device);
		dart_netdev_sampler_end(device);
	}
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

int dart_netdev_init(void)
{
	return register_netdevice_notifier(&netdev_notifier);
}

void dart_netdev_exit(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
}

static struct dart_percpu *borrow(struct net_device *device, void __percpu **place, size_t length,
				  size_t align, const char *name)
{
	return dart_borrowed_get(device, place, length, align, name,
				 dart_namespace_payer(dev_net(device)));
}

#define BORROW(device, variable, type)					\
	borrow(device, (void __percpu **)(variable), sizeof(struct type), \
	       __alignof__(struct type), #type)

static struct dart_percpu *borrow_stats(struct net_device *device)
{
	/* Without a type only the driver knows the counters. */
	switch (dart_pcpu_stat_type(device)) {
	case NETDEV_PCPU_STAT_TSTATS:
		return BORROW(device, &device->tstats, pcpu_sw_netstats);
	case NETDEV_PCPU_STAT_LSTATS:
		return BORROW(device, &device->lstats, pcpu_lstats);
	case NETDEV_PCPU_STAT_DSTATS:
		return BORROW(device, &device->dstats, pcpu_dstats);
	default:
		return ERR_PTR(-EOPNOTSUPP);
	}
}

static struct dart_percpu *borrow_core_stats(struct net_device *device)
{
	struct net_device_core_stats __percpu *stats;

	/* The kernel allocates them when it drops the first packet. */
	if (!READ_ONCE(device->core_stats)) {
		stats = alloc_percpu(struct net_device_core_stats);
		if (!stats)
			return ERR_PTR(-ENOMEM);
		if (cmpxchg(&device->core_stats, NULL, stats))
			free_percpu(stats);
	}
	return BORROW(device, &device->core_stats, net_device_core_stats);
}

struct dart_percpu *dart_netdev_borrow(const struct dart_source *source,
				       const struct dart_zero_window *window, struct net *net)
{
	struct dart_percpu *percpu = ERR_PTR(-ENODEV);
	struct net_device *device;

	/* A device that is found under this lock does not end before it is released. */
	rtnl_lock();
	device = __dev_get_by_index(net, window->ifindex);
	if (device)
		percpu = window->source == DART_ZERO_SOURCE_NETDEV_CORE ?
				 borrow_core_stats(device) :
				 borrow_stats(device);
	rtnl_unlock();
	return percpu;
}
