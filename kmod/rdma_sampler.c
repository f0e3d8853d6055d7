// SPDX-License-Identifier: GPL-2.0-only
/* Samples the ports of RDMA devices: what their drivers count. */
#include "sampler.h"

#include <linux/err.h>
#include <linux/netdevice.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include <linux/dart_zero.h>

#if IS_ENABLED(CONFIG_INFINIBAND)
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

/* The words of struct dart_zero_rdma_port behind the state, in their order. */
static const char *const counters[] = {
	"sent_pkts",
	"rcvd_pkts",
	"duplicate_request",
	"out_of_seq_request",
	"rcvd_rnr_err",
	"send_rnr_err",
	"rcvd_seq_err",
	"ack_deferred",
	"retry_exceeded_err",
	"retry_rnr_exceeded_err",
	"completer_retry_err",
	"send_err",
	"link_downed",
	"rdma_sends",
	"rdma_recvs",
	"rx_write_requests",
	"rx_read_requests",
	"rx_atomic_requests",
	"rx_dct_connect",
	"out_of_buffer",
	"out_of_sequence",
	"rnr_nak_retry_err",
	"packet_seq_err",
	"implied_nak_seq_err",
	"local_ack_timeout_err",
	"resp_local_length_error",
	"resp_cqe_error",
	"req_cqe_error",
	"req_remote_invalid_request",
	"req_remote_access_errors",
	"resp_remote_access_errors",
	"resp_cqe_flush_error",
	"req_cqe_flush_error",
	"roce_adp_retrans",
	"roce_adp_retrans_to",
	"roce_slow_restart",
	"roce_slow_restart_cnps",
	"roce_slow_restart_trans",
	"rp_cnp_ignored",
	"rp_cnp_handled",
	"np_ecn_marked_roce_packets",
	"np_cnp_sent",
	"rx_icrc_encapsulated",
};

static_assert(sizeof(struct dart_zero_rdma_port) ==
	      (1 + ARRAY_SIZE(counters)) * sizeof(u64));

/* Which counter of a driver each word has; below 0: none. */
struct rdma_port {
	const struct rdma_stat_desc *descs; /* to compare only */
	int count;
	s16 places[ARRAY_SIZE(counters)];
};

/*
 * The device is looked up by its name each time, because it cannot be removed while it
 * is held.
 */
struct rdma_sampler {
	struct dart_sampler sampler;
	char name[IB_DEVICE_NAME_MAX];
	u32 index; /* of the device, in the kernel */
	struct rdma_port ports[];
};

/* Returns how many counters have a name that a word has. */
static int find_places(struct rdma_port *port,
		       const struct rdma_hw_stats *stats)
{
	int i, place, found = 0;

	port->descs = stats->descs;
	port->count = stats->num_counters;
	for (i = 0; i < stats->num_counters; i++) {
		place = match_string(counters, ARRAY_SIZE(counters),
				     stats->descs[i].name);
		if (place < 0)
			continue;
		port->places[place] = i;
		found++;
	}
	return found;
}

static void forget_places(struct rdma_port *port)
{
	memset(port->places, -1, sizeof(port->places));
}

/* rdma_free_hw_stats_struct() after use. */
static struct rdma_hw_stats *stats_new(struct ib_device *device, u32 port)
{
	if (!device->ops.alloc_hw_port_stats || !device->ops.get_hw_stats)
		return NULL;
	return device->ops.alloc_hw_port_stats(device, port);
}

static int sample_port(struct ib_device *device, u32 number,
		       struct rdma_port *port,
		       struct dart_zero_rdma_port *sample)
{
	struct rdma_hw_stats *stats = stats_new(device, number);
	u64 *words = (u64 *)sample + 1;
	enum ib_port_state state;
	int ret, i;

	if (!stats)
		return -ENODATA;
	if (stats->descs != port->descs || stats->num_counters != port->count) {
		forget_places(port);
		find_places(port, stats);
	}
	ret = device->ops.get_hw_stats(device, stats, number,
				       stats->num_counters);
	for (i = 0; i < ARRAY_SIZE(counters) && ret >= 0; i++)
		if (port->places[i] >= 0)
			words[i] = stats->value[port->places[i]];
	rdma_free_hw_stats_struct(stats);
	if (ret < 0)
		return -ENODATA;
	if (!ib_get_cached_port_state(device, number, &state))
		sample->state = state;
	return 0;
}

static int sample_row(struct dart_sampler *base, u32 index, u64 *number,
		      void *sample, u64 *time)
{
	struct rdma_sampler *sampler =
		container_of(base, struct rdma_sampler, sampler);
	struct ib_device *device;
	int ret = -ENODEV;

	device = ib_device_get_by_name(sampler->name, RDMA_DRIVER_UNKNOWN);
	if (!device)
		return ret;
	*number = index + 1;
	if (device->index == sampler->index)
		ret = rdma_is_port_valid(device, *number) ?
			      sample_port(device, *number,
					  &sampler->ports[index], sample) :
			      -ENODATA;
	ib_device_put(device);
	return ret;
}

static const struct dart_sampler_kind port_kind = {
	.name = "dart_zero_rdma_port",
	.length = sizeof(struct dart_zero_rdma_port),
	.sample_row = sample_row,
};

/* ib_device_put() after use. */
static struct ib_device *find_device(const struct dart_zero_window *window)
{
	struct net *net = get_net_ns_by_fd(window->fd);
	struct ib_device *device = ERR_PTR(-ENODEV);
	struct net_device *netdev;

	if (IS_ERR(net))
		return ERR_CAST(net);
	netdev = dev_get_by_index(net, window->ifindex);
	if (netdev) {
		device = ib_device_get_by_netdev(netdev, RDMA_DRIVER_UNKNOWN) ?:
				 ERR_PTR(-EOPNOTSUPP);
		dev_put(netdev);
	}
	put_net(net);
	return device;
}

static bool has_counters(struct ib_device *device, struct rdma_sampler *sampler)
{
	struct rdma_hw_stats *stats;
	int found = 0;
	u32 i;

	for (i = 0; i < sampler->sampler.rows; i++) {
		forget_places(&sampler->ports[i]);
		stats = stats_new(device, i + 1);
		if (!stats)
			continue;
		found += find_places(&sampler->ports[i], stats);
		rdma_free_hw_stats_struct(stats);
	}
	return found;
}

struct dart_sampler *
dart_rdma_sampler_open(const struct dart_zero_window *window)
{
	struct ib_device *device = find_device(window);
	struct rdma_sampler *sampler;
	int ret = -ENOMEM;

	if (IS_ERR(device))
		return ERR_CAST(device);
	sampler = kzalloc(struct_size(sampler, ports, device->phys_port_cnt),
			  GFP_KERNEL_ACCOUNT);
	if (!sampler)
		goto put_device;
	sampler->sampler.kind = &port_kind;
	sampler->sampler.indices = device->phys_port_cnt;
	sampler->sampler.rows = device->phys_port_cnt;
	sampler->index = device->index;
	strscpy(sampler->name, dev_name(&device->dev), sizeof(sampler->name));
	ret = has_counters(device, sampler) ? 0 : -EOPNOTSUPP;
	if (ret)
		kfree(sampler);

put_device:
	ib_device_put(device);
	return ret ? ERR_PTR(ret) : &sampler->sampler;
}

#else

struct dart_sampler *
dart_rdma_sampler_open(const struct dart_zero_window *window)
{
	return ERR_PTR(-EOPNOTSUPP);
}

#endif /* CONFIG_INFINIBAND */
