// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples the statistics of network devices, physical and virtual.  A driver may ask the device,
 * which may no longer answer.  So each device is a question, unless its driver only adds up
 * counters.
 */
#include "netdev_link.h"

#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/rtnetlink.h>

#include <linux/dart_zero.h>

#include "kmod/objects/namespace.h"
#include "question.h"
#include "sampler.h"

/* Longest time that a pass waits for the values of a device. */
#define PATIENCE_MS 20

struct netdev_sampler {
	struct dart_question question;
	struct dart_namespace_reference namespace;
	u32 ifindex;
	bool is_gone;			/* another device may have its number */
	const struct net *net;		/* to compare only */
	struct hlist_node link;
	struct dart_zero_netdev_link values;
};

static struct netdev_sampler *of_question(struct dart_question *question)
{
	return container_of(question, struct netdev_sampler, question);
}

/* Taken inside rtnl_lock. */
static DEFINE_MUTEX(netdev_sampler_lock);
/*
 * By namespace and number of the device, because most namespaces have a device of each low number.
 * Each device that ends looks here.
 */
static DEFINE_HASHTABLE(netdev_samplers, 12);

static unsigned long key_of(const struct net *net, u32 ifindex)
{
	return (unsigned long)net + ifindex;
}

void dart_netdev_sampler_end(const struct net_device *device)
{
	struct netdev_sampler *sampler;

	mutex_lock(&netdev_sampler_lock);
	hash_for_each_possible(netdev_samplers, sampler, link,
			       key_of(dev_net(device), device->ifindex))
		if (sampler->ifindex == device->ifindex && sampler->net == dev_net(device))
			WRITE_ONCE(sampler->is_gone, true);
	mutex_unlock(&netdev_sampler_lock);
}

/* NULL if the device has ended or moved.  Called as an RCU reader. */
static struct net_device *find_device(const struct netdev_sampler *sampler)
{
	struct net *net = rcu_dereference(sampler->namespace.net);
	struct net_device *device;

	device = net ? dev_get_by_index_rcu(net, sampler->ifindex) : NULL;
	/* The device may be a later one with the same number. */
	smp_rmb();
	return READ_ONCE(sampler->is_gone) ? NULL : device;
}

static void sample_device(struct net_device *device, struct dart_zero_netdev_link *link)
{
	struct rtnl_link_stats64 stats;

	/* The kernel's members in the kernel's order. */
	static_assert(offsetofend(struct rtnl_link_stats64, rx_otherhost_dropped) ==
		      offsetofend(struct dart_zero_netdev_link, rx_otherhost_dropped));
	dev_get_stats(device, &stats);
	memcpy(link, &stats, offsetofend(struct dart_zero_netdev_link, rx_otherhost_dropped));

	link->carrier = netif_carrier_ok(device);
	link->operstate = netif_running(device) ? READ_ONCE(device->operstate) : IF_OPER_DOWN;
	link->mtu = READ_ONCE(device->mtu);
	link->carrier_changes = atomic_read(&device->carrier_up_count) +
				atomic_read(&device->carrier_down_count);
}

/* As /proc/net/dev does: drivers give their statistics to RCU readers. */
static int ask(struct dart_question *question)
{
	struct netdev_sampler *sampler = of_question(question);
	struct net_device *device;

	rcu_read_lock();
	device = find_device(sampler);
	if (device)
		sample_device(device, &sampler->values);
	rcu_read_unlock();
	return device ? 0 : -ENODEV;
}

static void netdev_sampler_free(struct dart_question *question)
{
	struct netdev_sampler *sampler = of_question(question);

	mutex_lock(&netdev_sampler_lock);
	hash_del(&sampler->link);
	mutex_unlock(&netdev_sampler_lock);
	dart_namespace_forget(&sampler->namespace);
	kfree(sampler);
}

static const struct dart_question_kind question_kind = {
	.ask = ask,
	.free = netdev_sampler_free,
};

/*
 * True if the driver only adds up counters in memory.  A host can have thousands of such devices,
 * and they need no work item.  They are devices whose counters the network core keeps, and devices
 * of known kinds.
 */
static bool adds_up(const struct net_device *device)
{
	static const char *const kinds[] = {
		"bridge", "dummy", "ipvlan", "macvlan", "tun", "veth",
	};
	const struct net_device_ops *ops = device->netdev_ops;

	if (!ops->ndo_get_stats64)
		return !ops->ndo_get_stats;
	return ops->ndo_get_stats64 == dev_get_tstats64 || device->flags & IFF_LOOPBACK ||
	       (device->rtnl_link_ops &&
		match_string(kinds, ARRAY_SIZE(kinds), device->rtnl_link_ops->kind) >= 0);
}

static int sample_link(struct dart_sampler *base, void *sample, u64 *time)
{
	struct dart_question *question = dart_question_of(base);
	struct net_device *device;
	bool is_sampled;

	rcu_read_lock();
	device = find_device(of_question(question));
	is_sampled = device && adds_up(device);
	if (is_sampled)
		sample_device(device, sample);
	rcu_read_unlock();
	if (is_sampled)
		return 0;
	return device ? dart_question_sample(question, sample, time) : -ENODEV;
}

static const struct dart_sampler_kind link_kind = {
	.name = "dart_zero_netdev_link",
	.length = sizeof(struct dart_zero_netdev_link),
	.sample = sample_link,
	.free = dart_question_sampler_free,
};

static struct netdev_sampler *netdev_sampler_new(const struct dart_zero_window *window, u64 *payer)
{
	struct netdev_sampler *sampler;
	int ret;

	sampler = kzalloc(sizeof(*sampler), GFP_KERNEL_ACCOUNT);
	if (!sampler)
		return ERR_PTR(-ENOMEM);
	sampler->ifindex = window->ifindex;
	ret = dart_namespace_refer(&sampler->namespace, window, payer);
	if (ret) {
		kfree(sampler);
		return ERR_PTR(ret);
	}
	sampler->net = rcu_access_pointer(sampler->namespace.net);
	dart_question_begin(&sampler->question, &question_kind, DART_QUESTION_DRIVERS, PATIENCE_MS,
			    &sampler->values, sizeof(sampler->values));

	/* From now on the sampler learns that the device ends. */
	mutex_lock(&netdev_sampler_lock);
	hash_add(netdev_samplers, &sampler->link, key_of(sampler->net, sampler->ifindex));
	mutex_unlock(&netdev_sampler_lock);
	return sampler;
}

static bool is_there(const struct netdev_sampler *sampler)
{
	bool is_found;

	rcu_read_lock();
	is_found = find_device(sampler);
	rcu_read_unlock();
	return is_found;
}

struct dart_sampler *dart_netdev_sampler_open(const struct dart_zero_window *window)
{
	struct dart_sampler *sampler = NULL;
	struct netdev_sampler *netdev;
	int ret = -ENODEV;
	u64 payer;

	netdev = netdev_sampler_new(window, &payer);
	if (IS_ERR(netdev))
		return ERR_CAST(netdev);
	if (is_there(netdev)) {
		sampler = dart_question_sampler_new(&link_kind, &netdev->question);
		ret = -ENOMEM;
	}
	if (!sampler) {
		dart_question_put(&netdev->question);
		return ERR_PTR(ret);
	}
	sampler->payer = payer;
	return sampler;
}
