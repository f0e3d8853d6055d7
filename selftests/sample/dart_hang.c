// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver that hangs: statistics of the network device hang0, and of all RDMA devices,
 * are not answered while /sys/module/dart_hang/parameters/hangs is 1.  The parameter
 * waiting counts the calls that wait.
 */
#include <linux/atomic.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/netdevice.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

static bool hangs;
static int waiting;
static DEFINE_SPINLOCK(waiting_lock);
static DECLARE_WAIT_QUEUE_HEAD(released);
static struct net_device *hanging_device;

static int set_hangs(const char *text, const struct kernel_param *param)
{
	int ret = param_set_bool(text, param);

	wake_up_all(&released);
	return ret;
}

static const struct kernel_param_ops hangs_ops = {
	.set = set_hangs,
	.get = param_get_bool,
};

module_param_cb(hangs, &hangs_ops, &hangs, 0600);
module_param(waiting, int, 0400);

static void count_waiting(int change)
{
	spin_lock(&waiting_lock);
	WRITE_ONCE(waiting, waiting + change);
	spin_unlock(&waiting_lock);
}

/* Called by RCU readers, which cannot sleep. */
static void get_stats(struct net_device *device, struct rtnl_link_stats64 *stats)
{
	count_waiting(1);
	while (READ_ONCE(hangs))
		cpu_relax();
	count_waiting(-1);
	stats->rx_packets = 1234;
}

static netdev_tx_t drop(struct sk_buff *packet, struct net_device *device)
{
	dev_kfree_skb(packet);
	return NETDEV_TX_OK;
}

static const struct net_device_ops operations = {
	.ndo_start_xmit = drop,
	.ndo_get_stats64 = get_stats,
};

/* The driver of all RDMA devices of a guest is the same. */
static int (*get_rdma_stats)(struct ib_device *device,
			     struct rdma_hw_stats *stats, u32 port, int index);

static int get_hw_stats(struct ib_device *device, struct rdma_hw_stats *stats, u32 port, int index)
{
	int ret;

	count_waiting(1);
	wait_event(released, !READ_ONCE(hangs));
	ret = get_rdma_stats(device, stats, port, index);
	count_waiting(-1);
	return ret;
}

static int add_rdma(struct ib_device *device)
{
	get_rdma_stats = device->ops.get_hw_stats;
	if (get_rdma_stats)
		WRITE_ONCE(device->ops.get_hw_stats, get_hw_stats);
	return 0;
}

static void remove_rdma(struct ib_device *device, void *data)
{
	if (device->ops.get_hw_stats == get_hw_stats)
		WRITE_ONCE(device->ops.get_hw_stats, get_rdma_stats);
}

static struct ib_client client = {
	.name = "dart_hang",
	.add = add_rdma,
	.remove = remove_rdma,
};

static int __init hang_init(void)
{
	int ret;

	hanging_device = alloc_netdev(0, "hang0", NET_NAME_USER, ether_setup);
	if (!hanging_device)
		return -ENOMEM;
	hanging_device->netdev_ops = &operations;
	eth_hw_addr_random(hanging_device);
	ret = register_netdev(hanging_device);
	if (ret)
		goto err_free;
	ret = ib_register_client(&client);
	if (ret)
		goto err_unregister;
	return 0;

err_unregister:
	unregister_netdev(hanging_device);
err_free:
	free_netdev(hanging_device);
	return ret;
}

static void __exit hang_exit(void)
{
	WRITE_ONCE(hangs, false);
	wake_up_all(&released);
	ib_unregister_client(&client);
	unregister_netdev(hanging_device);
	free_netdev(hanging_device);
	while (READ_ONCE(waiting))
		cond_resched();
	/* The last call returns. */
	synchronize_rcu();
}

module_init(hang_init);
module_exit(hang_exit);

MODULE_DESCRIPTION("A driver that hangs, for the tests of dart_zero");
MODULE_LICENSE("GPL");
