// SPDX-License-Identifier: GPL-2.0-only
/* Opens an RDMA device and watches for its failure. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/rdma/verbs.h>

#include "agent/base/log.h"
#include "device.h"

bool device__is_wanted(const struct device *device)
{
	return !device->wanted || strcmp(device->wanted, DEVICE_NONE);
}

const char *device__known_name(const struct device *device)
{
	if (device->context)
		return device->name;
	if (device->wanted)
		return device->wanted;
	return *device->name ? device->name : NULL;
}

const char *device__name(const struct device *device)
{
	return device__known_name(device) ?: "the first RDMA device";
}

bool device__is(const struct device *device, const struct ibv_context *verbs)
{
	return device->context && verbs->device == device->context->device;
}

void device__lose(const struct device *device, bool is_removed, const char *reason)
{
	if (device->context)
		device->lost(device->subject, is_removed, reason);
}

/* Every asynchronous event must be acknowledged. */
static int on_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct device *device = userdata;
	struct ibv_async_event event;
	const char *text;

	while (!ibv_get_async_event(device->context, &event)) {
		text = ibv_event_type_str(event.event_type);
		ibv_ack_async_event(&event);
		/* Peers can cause the events of their queue pairs. */
		if (event.event_type != IBV_EVENT_DEVICE_FATAL) {
			log__peer_info("RDMA device %s: %s", device__name(device), text);
			continue;
		}
		device__lose(device, false, text);
		/* A removed device raises this event again and again. */
		return sd_event_source_set_enabled(source, SD_EVENT_OFF);
	}
	return 0;
}

static int device__watch(struct device *device, sd_event *loop)
{
	int fd = device->context->async_fd;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	return sd_event_add_io(loop, &device->events, fd, EPOLLIN, on_event, device);
}

/* Adds ", NAME" for each device to a list that may become too long. */
static void list_names(char *names, size_t size, struct ibv_device **devices)
{
	size_t used = 0;

	for (; *devices && used < size; devices++)
		used += snprintf(names + used, size - used, "%s%s", used ? ", " : "",
				 ibv_get_device_name(*devices));
}

/* The device that was registered first. */
static struct ibv_device **first(struct ibv_device **devices)
{
	struct ibv_device **found = devices;

	for (; *devices; devices++)
		if (ibv_get_device_index(*devices) < ibv_get_device_index(*found))
			found = devices;
	return found;
}

static int device__find(struct device *device, struct ibv_device **devices,
			struct dart_error *error)
{
	const char *name = device->wanted;
	struct ibv_device **found = devices;
	char names[256] = "";

	if (!*found)
		return dart_error__set(
			error, ENODEV,
			name ? "this host has no RDMA device '%s', and no other" :
			       "this host has no RDMA device (create one: rdma link add rxe0 type rxe netdev eth0)",
			name);
	while (name && *found && strcmp(ibv_get_device_name(*found), name))
		found++;
	if (!name)
		found = first(devices);
	if (!*found) {
		list_names(names, sizeof(names), devices);
		return dart_error__set(
			error, ENODEV,
			"this host has no RDMA device '%s', but %s (choose one of these in the configuration)",
			name, names);
	}
	device->context = ibv_open_device(*found);
	if (!device->context)
		return dart_error__system(error, errno, "cannot open RDMA device %s",
					  ibv_get_device_name(*found));
	snprintf(device->name, sizeof(device->name), "%s", ibv_get_device_name(*found));
	return 0;
}

/* Open only the device in use, so that the removal of any other device need not wait for dartd. */
static int device__open_context(struct device *device, struct dart_error *error)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_device *none = NULL;
	int ret;

	/* Without the kernel's RDMA modules the list is NULL. */
	ret = device__find(device, devices ?: &none, error);
	if (devices)
		ibv_free_device_list(devices);
	return ret;
}

/* The vendors of soft-RoCE (rxe) and soft-iWARP (siw). */
#define VENDOR_RXE 0xffffff
#define VENDOR_SIW 0x626d74

/*
 * Such a device copies rows by loads of this host's processors, and only those of x86 keep their
 * loads in order: see "Hosts" in <dart/control.h>.
 */
static bool mixes_updates(const struct ibv_device_attr *attributes)
{
#ifdef __x86_64__
	return false;
#else
	return attributes->vendor_id == VENDOR_RXE || attributes->vendor_id == VENDOR_SIW;
#endif
}

static int device__open_parts(struct device *device, struct dart_error *error)
{
	struct ibv_device_attr attributes;
	int ret = ibv_query_device(device->context, &attributes);

	if (ret)
		return dart_error__system(error, ret, "cannot query RDMA device %s",
					  device__name(device));
	device->reads_max = attributes.max_qp_rd_atom < RDMA_MAX_RESP_RES ?
				    attributes.max_qp_rd_atom :
				    RDMA_MAX_RESP_RES;
	device->has_atomics = attributes.atomic_cap != IBV_ATOMIC_NONE;
	device->mixes_updates = mixes_updates(&attributes);
	if (device->mixes_updates)
		log__warning(
			"RDMA device %s is software, which on this processor can show a row that mixes values of two updates (let controllers use transport: tcp)",
			device__name(device));

	device->pd = ibv_alloc_pd(device->context);
	if (device->pd)
		device->message_pd = ibv_alloc_pd(device->context);
	if (!device->message_pd)
		return dart_error__system(error, errno, "cannot open a protection domain on %s",
					  device__name(device));

	device->cq = ibv_create_cq(device->context, 1, NULL, NULL, 0);
	if (!device->cq)
		return dart_error__system(error, errno, "cannot open a completion queue on %s",
					  device__name(device));
	return 0;
}

void device__prepare(struct device *device, const char *wanted, uint8_t dscp,
		     struct dart_cm_contexts *cm_contexts,
		     void (*lost)(void *subject, bool is_removed, const char *reason),
		     void *subject)
{
	*device = (struct device){
		.wanted = wanted,
		.dscp = dscp,
		.cm_contexts = cm_contexts,
		.lost = lost,
		.subject = subject,
	};
}

int device__open(struct device *device, sd_event *loop, struct dart_error *error)
{
	int ret;

	if (!device__is_wanted(device))
		return 0;
	ret = device__open_context(device, error);
	if (ret)
		return ret;
	ret = device__open_parts(device, error);
	if (!ret) {
		ret = device__watch(device, loop);
		if (!ret)
			return 0;
		dart_error__system(error, -ret, "cannot watch RDMA device %s",
				   device__name(device));
	}
	device__close(device);
	return ret;
}

void device__close(struct device *device)
{
	if (!device->context)
		return;
	device->events = sd_event_source_disable_unref(device->events);
	if (device->cq)
		ibv_destroy_cq(device->cq);
	if (device->message_pd)
		ibv_dealloc_pd(device->message_pd);
	if (device->pd)
		ibv_dealloc_pd(device->pd);
	ibv_close_device(device->context);
	device->cq = NULL;
	device->message_pd = NULL;
	device->pd = NULL;
	device->context = NULL;
	device->mixes_updates = false;
}

struct ibv_qp *device__create_qp(struct ibv_pd *pd, enum ibv_qp_type type, struct ibv_cq *sent,
				 struct ibv_cq *received, uint32_t sends)
{
	struct ibv_qp_init_attr attributes = {
		.send_cq = sent,
		.recv_cq = received,
		.qp_type = type,
		.cap = {
			.max_send_wr = sends,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	return ibv_create_qp(pd, &attributes);
}

/* Retries of messages that dartd sends.  Soft-RoCE takes 7 as endless. */
#define TIMEOUT 17
#define RETRIES 6

/* A peer without a receive is waited for; it is the caller who limits the time. */
#define RNR_RETRIES 7

enum ibv_mtu device__path_mtu(struct ibv_context *context, uint8_t port_number)
{
	struct ibv_port_attr port;

	if (ibv_query_port(context, port_number, &port) || port.active_mtu < IBV_MTU_256 ||
	    port.active_mtu > IBV_MTU_4096)
		return IBV_MTU_4096;
	return port.active_mtu;
}

uint8_t device__traffic_class(const struct device *device)
{
	return device->dscp << DART_VERBS_DSCP_SHIFT;
}

int device__advance_qp(const struct device *device, struct ibv_qp *queue_pair,
		       struct rdma_cm_id *id, enum ibv_qp_state state, unsigned int access,
		       uint8_t reads)
{
	const enum ibv_mtu mtu = device__path_mtu(queue_pair->context, id->port_num);
	struct ibv_qp_attr attributes = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(id, &attributes, &mask))
		return -errno;
	if (mask & IBV_QP_PATH_MTU && attributes.path_mtu > mtu)
		attributes.path_mtu = mtu;
	if (mask & IBV_QP_ACCESS_FLAGS)
		attributes.qp_access_flags = access;
	/* Otherwise the class of the peer's requests, which its connect request told. */
	if (mask & IBV_QP_AV && device->dscp)
		attributes.ah_attr.grh.traffic_class = device__traffic_class(device);
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		attributes.max_dest_rd_atomic = reads;
	/* Otherwise the peer's choice. */
	if (mask & IBV_QP_TIMEOUT)
		attributes.timeout = TIMEOUT;
	if (mask & IBV_QP_RETRY_CNT)
		attributes.retry_cnt = RETRIES;
	if (mask & IBV_QP_RNR_RETRY)
		attributes.rnr_retry = RNR_RETRIES;
	return dart_verbs__result(ibv_modify_qp(queue_pair, &attributes, mask));
}
