// SPDX-License-Identifier: GPL-2.0-only
/* Samples the statistics of network devices, physical and virtual. */
#include "netdev_sampler.h"

#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include <linux/dart_zero.h>

#include "namespace.h"
#include "sampler.h"

struct netdev_sampler {
	struct dart_sampler sampler;
	struct dart_namespace_reference namespace;
	u32 ifindex;
	bool is_gone;			/* another device may have its number */
	const struct net *net;		/* to compare only */
	struct hlist_node link;
};

/* Taken inside rtnl_lock. */
static DEFINE_MUTEX(netdev_sampler_lock);
/* By the number of the device: each device that ends looks here. */
static DEFINE_HASHTABLE(netdev_samplers, 8);

void dart_netdev_sampler_end(const struct net_device *device)
{
	struct netdev_sampler *sampler;

	mutex_lock(&netdev_sampler_lock);
	hash_for_each_possible(netdev_samplers, sampler, link,
			       device->ifindex)
		if (sampler->ifindex == device->ifindex &&
		    sampler->net == dev_net(device))
			WRITE_ONCE(sampler->is_gone, true);
	mutex_unlock(&netdev_sampler_lock);
}

/* NULL: it has ended or moved.  Called as an RCU reader. */
static struct net_device *find_device(const struct netdev_sampler *sampler)
{
	struct net *net = rcu_dereference(sampler->namespace.net);
	struct net_device *device;

	device = net ? dev_get_by_index_rcu(net, sampler->ifindex) : NULL;
	/* It may be a later one with the same number. */
	smp_rmb();
	return READ_ONCE(sampler->is_gone) ? NULL : device;
}

static void sample_device(struct net_device *device,
			  struct dart_zero_netdev_link *link)
{
	struct rtnl_link_stats64 stats;

	/* The kernel's members in the kernel's order. */
	static_assert(offsetofend(struct rtnl_link_stats64,
				  rx_otherhost_dropped) ==
		      offsetofend(struct dart_zero_netdev_link,
				  rx_otherhost_dropped));
	dev_get_stats(device, &stats);
	memcpy(link, &stats,
	       offsetofend(struct dart_zero_netdev_link, rx_otherhost_dropped));

	link->carrier = netif_carrier_ok(device);
	link->operstate = netif_running(device) ? READ_ONCE(device->operstate) :
						  IF_OPER_DOWN;
	link->mtu = READ_ONCE(device->mtu);
	link->carrier_changes = atomic_read(&device->carrier_up_count) +
				atomic_read(&device->carrier_down_count);
}

/* As /proc/net/dev does: drivers give their statistics to RCU readers. */
static int sample_link(struct dart_sampler *base, void *sample, u64 *time)
{
	struct netdev_sampler *sampler =
		container_of(base, struct netdev_sampler, sampler);
	struct net_device *device;

	rcu_read_lock();
	device = find_device(sampler);
	if (device)
		sample_device(device, sample);
	rcu_read_unlock();
	return device ? 0 : -ENODEV;
}

static void sampler_free(struct dart_sampler *base)
{
	struct netdev_sampler *sampler =
		container_of(base, struct netdev_sampler, sampler);

	mutex_lock(&netdev_sampler_lock);
	hash_del(&sampler->link);
	mutex_unlock(&netdev_sampler_lock);
	dart_namespace_forget(&sampler->namespace);
	kfree(sampler);
}

static const struct dart_sampler_kind link_kind = {
	.name = "dart_zero_netdev_link",
	.length = sizeof(struct dart_zero_netdev_link),
	.sample = sample_link,
	.free = sampler_free,
};

struct dart_sampler *
dart_netdev_sampler_open(const struct dart_zero_window *window)
{
	struct netdev_sampler *sampler;
	bool is_there;
	int ret;

	sampler = kzalloc(sizeof(*sampler), GFP_KERNEL_ACCOUNT);
	if (!sampler)
		return ERR_PTR(-ENOMEM);
	sampler->sampler.kind = &link_kind;
	sampler->ifindex = window->ifindex;
	ret = dart_namespace_refer(&sampler->namespace, window,
				   &sampler->sampler.payer);
	if (ret) {
		kfree(sampler);
		return ERR_PTR(ret);
	}
	sampler->net = rcu_access_pointer(sampler->namespace.net);

	/* From now on its end is seen. */
	mutex_lock(&netdev_sampler_lock);
	hash_add(netdev_samplers, &sampler->link, sampler->ifindex);
	mutex_unlock(&netdev_sampler_lock);
	rcu_read_lock();
	is_there = find_device(sampler);
	rcu_read_unlock();
	if (is_there)
		return &sampler->sampler;
	sampler_free(&sampler->sampler);
	return ERR_PTR(-ENODEV);
}
