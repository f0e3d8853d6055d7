// SPDX-License-Identifier: GPL-2.0-only
/* Asks the driver of an RDMA device which queue pairs it has: see transport.h. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <libdart/rdma/verbs.h>

#include "transport.h"

#define CHECK "transport"
/* Of soft-iWARP (drivers/infiniband/sw/siw/siw.h), which is no PCI device. */
#define VENDOR_SIW 0x626d74

struct abilities {
	bool is_iwarp;
	bool has_reliable;	/* RC: READs, calls of dartd, lookup tables */
	bool has_unreliable;	/* UC: reports */
	uint32_t vendor;
};

/* False only if the driver refuses the kind, not if the device is full or the user has no right. */
static bool has_kind(struct ibv_pd *pd, struct ibv_cq *cq, enum ibv_qp_type kind)
{
	struct ibv_qp_init_attr attributes = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = kind,
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct ibv_qp *queue_pair = ibv_create_qp(pd, &attributes);

	if (!queue_pair)
		return errno != EOPNOTSUPP && errno != EINVAL && errno != ENOSYS;
	ibv_destroy_qp(queue_pair);
	return true;
}

static bool ask_context(struct ibv_context *context, struct abilities *abilities)
{
	struct ibv_device_attr attributes;
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = pd ? ibv_create_cq(context, 2, NULL, NULL, 0) : NULL;

	if (cq) {
		abilities->is_iwarp = dart_verbs__is_iwarp(context);
		abilities->has_reliable = has_kind(pd, cq, IBV_QPT_RC);
		abilities->has_unreliable = has_kind(pd, cq, IBV_QPT_UC);
		if (!ibv_query_device(context, &attributes))
			abilities->vendor = attributes.vendor_id;
		ibv_destroy_cq(cq);
	}
	if (pd)
		ibv_dealloc_pd(pd);
	return cq;
}

static bool ask(const char *name, struct abilities *abilities)
{
	struct ibv_device **devices = ibv_get_device_list(NULL), **device;
	struct ibv_context *context;
	bool is_known = false;

	for (device = devices; device && *device; device++) {
		if (strcmp(ibv_get_device_name(*device), name))
			continue;
		context = ibv_open_device(*device);
		is_known = context && ask_context(context, abilities);
		if (context)
			ibv_close_device(context);
	}
	if (devices)
		ibv_free_device_list(devices);
	return is_known;
}

/* Reads the name of the driver from sysfs, as struct device holds it. */
static void find_driver(const char *device, char *driver, size_t size)
{
	char path[2 * NAME_MAX], target[PATH_MAX], *name;
	ssize_t length;

	*driver = '\0';
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/driver", device);
	length = readlink(path, target, sizeof(target) - 1);
	if (length <= 0)
		return;
	target[length] = '\0';
	name = strrchr(target, '/');
	snprintf(driver, size, " (driver %.40s)", name ? name + 1 : target);
}

struct device {
	const char *name;
	char driver[64];	/* in brackets, after a space; "" for devices in software */
	bool is_roce;
	bool is_soft;
	struct abilities abilities;
};

/* Does soft-RoCE copy rows in the order that <dart/control.h> relies on? */
#ifdef __x86_64__
static const bool keeps_loads_in_order = true;
#else
static const bool keeps_loads_in_order = false;
#endif

static void check_of_controller(struct findings *findings, const struct device *device)
{
	if (!device->abilities.has_reliable) {
		findings__fail(
			findings, CHECK,
			"%s%s has no reliable connected queue pairs (RC): this machine can READ no host through it",
			device->name, device->driver);
		findings__advise(findings, "ask the agents over TCP: --transport tcp");
	} else if (device->abilities.is_iwarp) {
		findings__ok(
			findings, CHECK,
			"%s%s can READ hosts; it is iWARP: they could also write to the memory that their values land in",
			device->name, device->driver);
	} else {
		findings__ok(findings, CHECK, "%s%s can READ hosts", device->name, device->driver);
	}
}

/* READs work; reporters and switches send RoCE packets to unreliable or reliable queue pairs. */
static void check_reports(struct findings *findings, const struct device *device,
			  enum transport_use use)
{
	const char *missing = NULL;

	if (device->abilities.is_iwarp)
		missing = "it is iWARP, and reporters and switches need RoCE";
	else if (!device->is_roce)
		missing = "it is InfiniBand, and reporters and switches need RoCE";
	else if (!device->abilities.has_unreliable && use == TRANSPORT_OF_UNRELIABLE)
		missing = "it has no unreliable connected queue pairs (UC)";
	if (!missing && !device->abilities.has_unreliable) {
		findings__ok(
			findings, CHECK,
			"%s%s serves READs and switches with lookup tables; stores here get reports over reliable connections (RC), as dart-report sends them",
			device->name, device->driver);
	} else if (!missing) {
		findings__ok(findings, CHECK, "%s%s serves READs, reports and switches",
			     device->name, device->driver);
	} else if (use == TRANSPORT_OF_HOST) {
		findings__ok(findings, CHECK, "%s%s serves READs; stores here would get no reports: %s",
			     device->name, device->driver, missing);
	} else {
		findings__warn(findings, CHECK, "the stores of this host get no reports: %s%s: %s",
			       device->name, device->driver, missing);
		findings__advise(
			findings,
			"create the stores with --transport rc, or keep them on a host with an mlx5 or mlx4 adapter, or with soft-RoCE");
	}
}

static void check_of_host(struct findings *findings, const struct device *device,
			  enum transport_use use)
{
	if (!device->abilities.has_reliable) {
		findings__fail(
			findings, CHECK,
			"%s%s has no reliable connected queue pairs (RC): no controller can READ this host through it",
			device->name, device->driver);
		findings__advise(
			findings,
			"answer controllers over TCP ('tcp' in dartd.yaml(5)), and start them with --transport tcp");
	} else if (device->abilities.is_iwarp && device->abilities.vendor == VENDOR_SIW) {
		findings__warn(
			findings, CHECK,
			"%s is soft-iWARP, which ignores the addresses at which dartd shows its memory: unless its driver is mended, controllers cannot READ this host",
			device->name);
		findings__advise(
			findings,
			"use soft-RoCE (rdma link add rxe0 type rxe netdev NAME), or start controllers with --transport rpc or tcp");
	} else if (device->is_soft && !keeps_loads_in_order) {
		findings__warn(
			findings, CHECK,
			"%s is software, which on this processor can show a row that mixes values of two updates",
			device->name);
		findings__advise(findings, "let controllers use transport: tcp");
	} else {
		check_reports(findings, device, use);
	}
}

void check_transport(struct findings *findings, const struct rdma_port *port,
		     enum transport_use use)
{
	struct device device = {
		.name = port->device,
		.is_roce = port->is_roce,
		.is_soft = port->is_soft,
	};

	if (!ask(port->device, &device.abilities))
		return;
	find_driver(port->device, device.driver, sizeof(device.driver));
	if (use == TRANSPORT_OF_CONTROLLER)
		check_of_controller(findings, &device);
	else
		check_of_host(findings, &device, use);
}
