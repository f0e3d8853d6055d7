// SPDX-License-Identifier: GPL-2.0-only
/* Starts and stops a host of the farm, and accepts its controllers. */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "farm_host.h"

#define PAGE 4096
#define BACKLOG 16

static size_t whole_pages(size_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

static uint8_t *values_of(const struct farm_host *host)
{
	return host->memory + farm_table__capacity(&host->farm->shape);
}

static uint8_t *extra_of(const struct farm_host *host)
{
	return values_of(host) + whole_pages(farm_shape__size(&host->farm->shape));
}

static size_t memory_size(const struct farm_shape *shape)
{
	return farm_table__capacity(shape) + whole_pages(farm_shape__size(shape)) +
	       whole_pages(farm_shape__entry(shape));
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static struct dart_memory_region region_of(const struct ibv_mr *mr)
{
	return (struct dart_memory_region){
		.address = (uintptr_t)mr->addr,
		.length = mr->length,
		.rkey = mr->rkey,
	};
}

void farm_host__init(struct farm_host *host, struct farm *farm, uint32_t number)
{
	*host = (struct farm_host){ .farm = farm, .number = number };
	TAILQ_INIT(&host->connections);
}

static void farm_host__release(struct farm_host *host)
{
	struct ibv_mr *const regions[] = { host->control, host->values, host->extra };
	size_t i;

	if (host->listener)
		rdma_destroy_id(host->listener);
	host->listener = NULL;
	for (i = 0; i < sizeof(regions) / sizeof(*regions); i++)
		if (regions[i])
			ibv_dereg_mr(regions[i]);
	host->control = host->values = host->extra = NULL;
	host->extra_ends_ns = 0;
	farm_table__close(&host->table);
	if (host->memory)
		munmap(host->memory, memory_size(&host->farm->shape));
	host->memory = NULL;
}

static int farm_host__listen(struct farm_host *host, struct dart_error *error)
{
	struct sockaddr_in6 address = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(host->farm->first_port + host->number),
	};

	if (rdma_create_id(host->farm->device.channel, &host->listener, host, RDMA_PS_TCP)) {
		host->listener = NULL;
		return dart_error__system(error, errno, "cannot use the RDMA CM");
	}
	if (rdma_bind_addr(host->listener, (struct sockaddr *)&address) ||
	    rdma_listen(host->listener, BACKLOG))
		return dart_error__system(error, errno, "cannot listen on port %u",
					  host->farm->first_port + host->number);
	return 0;
}

static int farm_host__expose(struct farm_host *host, struct dart_error *error)
{
	const struct farm_shape *shape = &host->farm->shape;
	const struct farm_device *device = &host->farm->device;

	host->memory = mmap(NULL, memory_size(shape), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (host->memory == MAP_FAILED) {
		host->memory = NULL;
		return dart_error__no_memory(error);
	}
	host->control = farm_device__expose(device, host->memory, farm_table__capacity(shape));
	if (host->control)
		host->values = farm_device__expose(device, values_of(host),
						   farm_shape__size(shape));
	if (!host->values)
		return dart_error__system(error, errno, "cannot register memory of host %u",
					  host->number);
	return 0;
}

int farm_host__start(struct farm_host *host, struct dart_error *error)
{
	const struct farm *farm = host->farm;
	struct farm_connection *old;
	int ret;

	if (host->is_up)
		return dart_error__set(error, EALREADY, "host %u is up", host->number);
	/* Connections from before the host vanished. */
	while ((old = TAILQ_FIRST(&host->connections)))
		farm_connection__free(old);
	host->epoch++;
	ret = farm_host__expose(host, error);
	if (!ret) {
		const struct dart_memory_region values = region_of(host->values);

		ret = farm_table__open(&host->table, host->memory, &farm->shape, farm->schema,
				       host->number, host->epoch, &values, error);
	}
	if (!ret) {
		host->is_up = true;
		farm_host__update(host);
		ret = farm_host__listen(host, error);
	}
	if (ret) {
		host->is_up = false;
		farm_host__release(host);
	}
	return ret;
}

void farm_host__stop(struct farm_host *host, bool vanishes)
{
	struct farm_connection *connection, *next;

	if (!host->is_up)
		return;
	host->is_up = false;
	for (connection = TAILQ_FIRST(&host->connections); connection; connection = next) {
		next = TAILQ_NEXT(connection, link);
		if (vanishes)
			farm_connection__vanish(connection);
		else
			farm_connection__free(connection);
	}
	farm_host__release(host);
}

void farm_host__clear(struct farm_host *host)
{
	struct farm_connection *connection;

	while ((connection = TAILQ_FIRST(&host->connections)))
		farm_connection__free(connection);
}

void farm_host__update(struct farm_host *host)
{
	const struct farm *farm = host->farm;
	const struct farm_shape *shape = &farm->shape;
	uint32_t i;

	if (!host->is_up)
		return;
	for (i = 0; i < shape->entries; i++)
		farm_values__write(values_of(host) + i * farm_shape__entry(shape), shape,
				   host->number, host->epoch, i, farm->update);
	if (host->extra)
		farm_values__write(extra_of(host), shape, host->number, host->epoch,
				   farm_shape__extra(shape), farm->update);
	if (host->extra_ends_ns && monotonic_ns() >= host->extra_ends_ns) {
		ibv_dereg_mr(host->extra);
		host->extra = NULL;
		host->extra_ends_ns = 0;
	}
}

int farm_host__add(struct farm_host *host, struct dart_error *error)
{
	const struct farm_shape *shape = &host->farm->shape;
	struct dart_memory_region region;
	int ret;

	if (!host->is_up)
		return dart_error__set(error, EHOSTDOWN, "host %u is down", host->number);
	if (!host->extra)
		host->extra = farm_device__expose(&host->farm->device, extra_of(host),
						  farm_shape__entry(shape));
	if (!host->extra)
		return dart_error__system(error, errno, "cannot register memory of host %u",
					  host->number);
	farm_values__write(extra_of(host), shape, host->number, host->epoch,
			   farm_shape__extra(shape), host->farm->update);
	region = region_of(host->extra);
	ret = farm_table__add(&host->table, &region, error);
	if (!ret)
		host->extra_ends_ns = 0;
	return ret;
}

int farm_host__remove(struct farm_host *host, struct dart_error *error)
{
	int ret;

	if (!host->is_up)
		return dart_error__set(error, EHOSTDOWN, "host %u is down", host->number);
	ret = farm_table__remove(&host->table, error);
	if (!ret)
		host->extra_ends_ns = monotonic_ns() + 2 * DART_CONTROL_RETRIES_MS * 1000000;
	return ret;
}

uint32_t farm_host__connected(const struct farm_host *host)
{
	const struct farm_connection *connection;
	uint32_t count = 0;

	TAILQ_FOREACH(connection, &host->connections, link)
		count += connection->is_established;
	return count;
}

static int farm_host__accept(struct farm_host *host, struct rdma_cm_id *id, uint8_t reads)
{
	const struct dart_memory_region region = region_of(host->control);
	const struct dart_control_accept offer = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
		.rkey = htole32(region.rkey),
		.address = htole64(region.address),
		.length = htole32(region.length),
		.used = htole32(host->table.used),
	};

	return farm_connection__accept(&host->connections, &host->farm->device, id, reads, offer);
}

void farm_host__on_event(struct rdma_cm_event *event)
{
	const enum rdma_cm_event_type type = event->event;
	const uint8_t reads = event->param.conn.responder_resources;
	struct rdma_cm_id *id = event->id;
	struct farm_host *host = NULL;
	bool is_wanted = false;
	int ret;

	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		host = event->listen_id->context;
		is_wanted = farm_connection__is_asked(&event->param.conn);
	}
	/* Otherwise its id cannot be destroyed. */
	rdma_ack_cm_event(event);
	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		ret = is_wanted ? farm_host__accept(host, id, reads) : -EPROTO;
		if (!ret)
			break;
		fprintf(stderr, "farm: host %u rejects a peer: %s\n", host->number, strerror(-ret));
		rdma_reject(id, NULL, 0);
		rdma_destroy_id(id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		/* The host may already be gone. */
		((struct farm_connection *)id->context)->is_established = id->qp;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		farm_connection__free(id->context);
		break;
	default:
		break;
	}
}
