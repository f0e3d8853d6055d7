// SPDX-License-Identifier: GPL-2.0-only
/* Check of the limits of the RDMA device against its use by all processes. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"

#define CHECK "device"
/* Warn when less than a tenth is left. */
#define FULL(used, most) ((used) * 10 > (most) * 9LL)

static bool query(const char *name, struct ibv_device_attr *attributes)
{
	struct ibv_device **devices, **device;
	struct ibv_context *context;
	bool is_known = false;

	devices = ibv_get_device_list(NULL);
	for (device = devices; device && *device; device++) {
		if (strcmp(ibv_get_device_name(*device), name))
			continue;
		context = ibv_open_device(*device);
		is_known = context && !ibv_query_device(context, attributes);
		if (context)
			ibv_close_device(context);
	}
	if (devices)
		ibv_free_device_list(devices);
	return is_known;
}

/* Counts the objects in use with rdma-resource(8); NULL if it fails. */
static json_t *count_objects(const char *name)
{
	json_t *devices = NULL, *counts = NULL;
	char command[512];
	FILE *output;

	/* Safe in a command: the name comes from a directory in sysfs. */
	snprintf(command, sizeof(command),
		 "PATH=$PATH:/usr/sbin:/sbin rdma -j resource show '%s' 2>/dev/null", name);
	output = strchr(name, '\'') ? NULL : popen(command, "re");
	if (output) {
		devices = json_loadf(output, 0, NULL);
		pclose(output);
	}
	counts = json_incref(json_array_get(devices, 0));
	json_decref(devices);
	return counts;
}

void check_device_limits(struct findings *findings, const struct rdma_port *port)
{
	long long qps, cqs, mrs;
	struct ibv_device_attr device;
	json_t *counts;

	if (!query(port->device, &device)) {
		findings__warn(findings, CHECK, "the limits of %s are not visible", port->device);
		findings__command(findings, "modprobe ib_uverbs");
		return;
	}
	counts = count_objects(port->device);
	if (!counts) {
		findings__ok(
			findings, CHECK,
			"%s has %d queue pairs, %d completion queues and %d memory regions at most",
			port->device, device.max_qp, device.max_cq, device.max_mr);
		return;
	}
	qps = json_integer_value(json_object_get(counts, "qp"));
	cqs = json_integer_value(json_object_get(counts, "cq"));
	mrs = json_integer_value(json_object_get(counts, "mr"));
	json_decref(counts);
	if (!FULL(qps, device.max_qp) && !FULL(cqs, device.max_cq) && !FULL(mrs, device.max_mr)) {
		findings__ok(
			findings, CHECK,
			"%s has %lld of %d queue pairs, %lld of %d completion queues and %lld of %d memory regions in use",
			port->device, qps, device.max_qp, cqs, device.max_cq, mrs, device.max_mr);
		return;
	}
	findings__warn(
		findings, CHECK,
		"%s is almost full: %lld of %d queue pairs, %lld of %d completion queues and %lld of %d memory regions are in use",
		port->device, qps, device.max_qp, cqs, device.max_cq, mrs, device.max_mr);
	findings__advise(
		findings,
		"see which processes use it, and remove entries or disconnect controllers");
	findings__command(findings, "rdma resource show mr dev %s", port->device);
}
