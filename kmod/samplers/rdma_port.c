// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples the counters of RDMA devices for each port.  A driver asks the device, which may no
 * longer answer, so each port is a question.
 */
#include "rdma_port.h"

#include <linux/err.h>
#include <linux/netdevice.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include <linux/dart_zero.h>

#include "question.h"
#include "sampler.h"

#if IS_ENABLED(CONFIG_INFINIBAND)
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

/* Longest time that ADD_RECORD waits for the first values of a port. */
#define FIRST_MS 200
/* Longest time that a pass waits for the values of a port. */
#define PATIENCE_MS 20

/* The words of struct dart_zero_rdma_port after the state, in their order. */
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
	"sent_bytes",
	"rcvd_bytes",
};

static_assert(sizeof(struct dart_zero_rdma_port) == (1 + ARRAY_SIZE(counters)) * sizeof(u64));

/* The registered devices, by their index. */
static DEFINE_XARRAY(devices);

static int device_begins(struct ib_device *device)
{
	return xa_err(xa_store(&devices, device->index, device, GFP_KERNEL));
}

/* The core frees the device after this call, and after the last ib_device_put(). */
static void device_ends(struct ib_device *device, void *data)
{
	xa_erase(&devices, device->index);
}

/* The core tells a client of each device; newer kernels export no other way to find one again. */
static struct ib_client client = {
	.name = KBUILD_MODNAME,
	.add = device_begins,
	.remove = device_ends,
	.no_kverbs_req = true,
};

int dart_rdma_sampler_init(void)
{
	return ib_register_client(&client);
}

void dart_rdma_sampler_exit(void)
{
	ib_unregister_client(&client);
}

/* NULL: the device has ended.  The caller ends with ib_device_put(). */
static struct ib_device *device_get(u32 index)
{
	struct ib_device *device;

	xa_lock(&devices);
	device = xa_load(&devices, index);
	if (device && !ib_device_try_get(device))
		device = NULL;
	xa_unlock(&devices);
	return device;
}

/*
 * A port of a device.  Each question looks the device up by its index, because the device cannot be
 * removed while it is held.
 */
struct rdma_port {
	struct dart_question question;
	u32 index;			/* of the device, in the kernel */
	u32 number;
	/* Set by the question. */
	const struct rdma_stat_desc *descs; /* to compare only */
	int count;
	/* Index of the driver's counter for each word; negative without a counter. */
	s16 places[ARRAY_SIZE(counters)];
	bool has_none;			/* the driver has no counter for any word */
	struct dart_zero_rdma_port values;
};

struct rdma_sampler {
	struct dart_sampler sampler;
	struct rdma_port *ports[];	/* @sampler.rows */
};

static struct rdma_port *of_question(struct dart_question *question)
{
	return container_of(question, struct rdma_port, question);
}

/* Returns the number of counters whose names are names of words. */
static int find_places(struct rdma_port *port, const struct rdma_hw_stats *stats)
{
	int i, place, found = 0;

	port->descs = stats->descs;
	port->count = stats->num_counters;
	for (i = 0; i < stats->num_counters; i++) {
		place = match_string(counters, ARRAY_SIZE(counters), stats->descs[i].name);
		if (place < 0)
			continue;
		port->places[place] = i;
		found++;
	}
	return found;
}

static void find_all_places(struct rdma_port *port, const struct rdma_hw_stats *stats)
{
	memset(port->places, -1, sizeof(port->places));
	port->has_none = !find_places(port, stats);
}

/* The caller ends with rdma_free_hw_stats_struct(). */
static struct rdma_hw_stats *stats_new(struct ib_device *device, u32 port)
{
	if (!device->ops.alloc_hw_port_stats || !device->ops.get_hw_stats)
		return NULL;
	return device->ops.alloc_hw_port_stats(device, port);
}

static int ask_port(struct ib_device *device, struct rdma_port *port)
{
	struct rdma_hw_stats *stats = stats_new(device, port->number);
	u64 *words = (u64 *)&port->values + 1;
	enum ib_port_state state;
	int ret, i;

	if (!stats) {
		port->has_none = true;
		return -ENODATA;
	}
	if (stats->descs != port->descs || stats->num_counters != port->count)
		find_all_places(port, stats);
	ret = device->ops.get_hw_stats(device, stats, port->number, stats->num_counters);
	for (i = 0; i < ARRAY_SIZE(counters) && ret >= 0; i++)
		if (port->places[i] >= 0)
			words[i] = stats->value[port->places[i]];
	rdma_free_hw_stats_struct(stats);
	if (ret < 0)
		return -ENODATA;
	if (!ib_get_cached_port_state(device, port->number, &state))
		port->values.state = state;
	return 0;
}

static int ask(struct dart_question *question)
{
	struct rdma_port *port = of_question(question);
	struct ib_device *device = device_get(port->index);
	int ret;

	if (!device)
		return -ENODEV;
	ret = rdma_is_port_valid(device, port->number) ? ask_port(device, port) : -ENODATA;
	ib_device_put(device);
	return ret;
}

static void port_free(struct dart_question *question)
{
	kfree(of_question(question));
}

static const struct dart_question_kind question_kind = {
	.ask = ask,
	.free = port_free,
};

static int sample_row(struct dart_sampler *base, u32 index, u64 *number, void *sample, u64 *time)
{
	struct rdma_sampler *sampler = container_of(base, struct rdma_sampler, sampler);
	struct rdma_port *port = sampler->ports[index];

	*number = port->number;
	return dart_question_sample(&port->question, sample, time);
}

static void sampler_free(struct dart_sampler *base)
{
	struct rdma_sampler *sampler = container_of(base, struct rdma_sampler, sampler);
	u32 i;

	for (i = 0; i < base->rows && sampler->ports[i]; i++)
		dart_question_put(&sampler->ports[i]->question);
	kfree(sampler);
}

static const struct dart_sampler_kind port_kind = {
	.name = "dart_zero_rdma_port",
	.length = sizeof(struct dart_zero_rdma_port),
	.sample_row = sample_row,
	.free = sampler_free,
};

/* The caller ends with ib_device_put(). */
static struct ib_device *find_device(const struct dart_zero_window *window)
{
	struct net *net = get_net_ns_by_fd(window->fd);
	struct ib_device *device = ERR_PTR(-ENODEV);
	struct net_device *netdev;

	if (IS_ERR(net))
		return ERR_CAST(net);
	netdev = dev_get_by_index(net, window->ifindex);
	if (netdev) {
		device = ib_device_get_by_netdev(netdev, RDMA_DRIVER_UNKNOWN);
		dev_put(netdev);
		/* While the core registers a device, its netdev has it before the clients do. */
		if (device && !xa_load(&devices, device->index)) {
			ib_device_put(device);
			device = NULL;
		}
		device = device ?: ERR_PTR(-EOPNOTSUPP);
	}
	put_net(net);
	return device;
}

static struct rdma_port *port_new(const struct ib_device *device, u32 number)
{
	struct rdma_port *port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);

	if (!port)
		return NULL;
	port->index = device->index;
	port->number = number;
	dart_question_begin(&port->question, &question_kind, DART_QUESTION_DRIVERS, PATIENCE_MS,
			    &port->values, sizeof(port->values));
	return port;
}

static struct rdma_sampler *sampler_new(const struct ib_device *device)
{
	struct rdma_sampler *sampler;
	u32 i;

	sampler = kzalloc(struct_size(sampler, ports, device->phys_port_cnt), GFP_KERNEL_ACCOUNT);
	if (!sampler)
		return NULL;
	sampler->sampler.kind = &port_kind;
	sampler->sampler.indices = device->phys_port_cnt;
	sampler->sampler.rows = device->phys_port_cnt;
	for (i = 0; i < sampler->sampler.rows; i++) {
		sampler->ports[i] = port_new(device, i + 1);
		if (!sampler->ports[i]) {
			sampler_free(&sampler->sampler);
			return NULL;
		}
	}
	return sampler;
}

/* A port whose driver does not answer in time counts as one that may have counters. */
static bool has_counters(struct rdma_sampler *sampler)
{
	u32 i, having = 0;

	for (i = 0; i < sampler->sampler.rows; i++)
		if (dart_question_first(&sampler->ports[i]->question, FIRST_MS) == -EAGAIN ||
		    !sampler->ports[i]->has_none)
			having++;
	return having;
}

struct dart_sampler *dart_rdma_sampler_open(const struct dart_zero_window *window)
{
	struct ib_device *device = find_device(window);
	struct rdma_sampler *sampler;

	if (IS_ERR(device))
		return ERR_CAST(device);
	sampler = sampler_new(device);
	ib_device_put(device);
	if (!sampler)
		return ERR_PTR(-ENOMEM);
	if (has_counters(sampler))
		return &sampler->sampler;
	sampler_free(&sampler->sampler);
	return ERR_PTR(-EOPNOTSUPP);
}

#else

int dart_rdma_sampler_init(void)
{
	return 0;
}

void dart_rdma_sampler_exit(void)
{
}

struct dart_sampler *dart_rdma_sampler_open(const struct dart_zero_window *window)
{
	return ERR_PTR(-EOPNOTSUPP);
}

#endif /* CONFIG_INFINIBAND */
