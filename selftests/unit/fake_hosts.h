/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of verbs and of the RDMA CM as a controller needs to connect to many hosts, which
 * are memory of this process, and to READ from them.  Host i has the address 10.0.0.0 + i.
 * A READ outside the memory of its host, or with another key, fails like one that an adapter
 * refuses.  Descriptors are ready when there are events, as real ones.
 */
#ifndef FAKE_HOSTS_H
#define FAKE_HOSTS_H

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <sys/queue.h>

#include <dart/control.h>

#include "fake_verbs.h"

struct fake_id {
	struct rdma_cm_id id; /* first */
	const struct fake_host *host;
	bool is_asking; /* from the address to the answer */
	TAILQ_ENTRY(fake_id) place; /* among those with an event */
	bool has_event;
	struct rdma_cm_event event;
	struct dart_control_accept answer;
};

static struct {
	const struct fake_host *hosts;
	uint32_t host_count;
	unsigned int asking, asking_max; /* connections at the same time */
	struct rdma_event_channel channel;
	TAILQ_HEAD(, fake_id) with_event;
	struct ibv_device device;
	struct ibv_context context;
} fake;

static void fake__open(const struct fake_host *hosts, uint32_t count)
{
	memset(&fake, 0, sizeof(fake));
	fake.hosts = hosts;
	fake.host_count = count;
	TAILQ_INIT(&fake.with_event);
	strcpy(fake.device.name, "fake0");
	fake.context.device = &fake.device;
	fake.context.ops.poll_cq = fake__poll_cq;
	fake.context.ops.req_notify_cq = fake__req_notify_cq;
	fake.context.ops.post_send = fake__post_send;
}

/* ---- the RDMA CM */

static void fake_id__tell(struct fake_id *id, enum rdma_cm_event_type type)
{
	assert_false(id->has_event);
	id->event = (struct rdma_cm_event){ .event = type, .id = &id->id };
	if (type == RDMA_CM_EVENT_ESTABLISHED) {
		id->event.param.conn.private_data = &id->answer;
		id->event.param.conn.private_data_len = sizeof(id->answer);
	}
	id->has_event = true;
	TAILQ_INSERT_TAIL(&fake.with_event, id, place);
	fake__tell(fake.channel.fd);
}

static void fake_id__set_asking(struct fake_id *id, bool is_asking)
{
	fake.asking += is_asking - id->is_asking;
	id->is_asking = is_asking;
	if (fake.asking > fake.asking_max)
		fake.asking_max = fake.asking;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	fake.channel.fd = eventfd(0, EFD_SEMAPHORE);
	return &fake.channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **idp,
		   void *context, enum rdma_port_space space)
{
	struct fake_id *id = calloc(1, sizeof(*id));

	assert_non_null(id);
	id->id.context = context;
	id->id.port_num = 1;
	*idp = &id->id;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *of)
{
	struct fake_id *id = (struct fake_id *)of;

	fake_id__set_asking(id, false);
	if (id->has_event)
		TAILQ_REMOVE(&fake.with_event, id, place);
	free(id);
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *of, struct sockaddr *source,
		      struct sockaddr *destination, int timeout_ms)
{
	const struct sockaddr_in *address = (struct sockaddr_in *)destination;
	const uint32_t index = ntohl(address->sin_addr.s_addr) - (10U << 24);
	struct fake_id *id = (struct fake_id *)of;

	assert_int_equal(address->sin_family, AF_INET);
	assert_true(index < fake.host_count);
	id->host = &fake.hosts[index];
	memcpy(rdma_get_local_addr(of), address, sizeof(*address));
	memcpy(rdma_get_peer_addr(of), address, sizeof(*address));
	fake_id__set_asking(id, true);
	of->verbs = &fake.context;
	fake_id__tell(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	fake_id__tell((struct fake_id *)id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return 0;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value,
		    size_t length)
{
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *attributes)
{
	id->qp = &fake_qp__new(((struct fake_id *)id)->host, attributes)->qp;
	id->qp->context = id->verbs;
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	free(id->qp);
	id->qp = NULL;
}

int rdma_connect(struct rdma_cm_id *of, struct rdma_conn_param *parameters)
{
	struct fake_id *id = (struct fake_id *)of;
	const struct fake_memory *table = &id->host->table;

	id->answer = (struct dart_control_accept){
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
		.rkey = htole32(table->rkey),
		.address = htole64((uintptr_t)table->bytes),
		.length = htole32(table->length),
		.used = htole32(table->length),
	};
	fake_id__tell(id, RDMA_CM_EVENT_ESTABLISHED);
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	return 0;
}

int rdma_get_cm_event(struct rdma_event_channel *channel,
		      struct rdma_cm_event **event)
{
	struct fake_id *id = TAILQ_FIRST(&fake.with_event);
	eventfd_t one;

	if (eventfd_read(channel->fd, &one))
		return -1;
	/* Its identifier may have been destroyed. */
	if (!id) {
		errno = EAGAIN;
		return -1;
	}
	TAILQ_REMOVE(&fake.with_event, id, place);
	id->has_event = false;
	if (id->event.event == RDMA_CM_EVENT_ESTABLISHED)
		fake_id__set_asking(id, false);
	*event = &id->event;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	return 0;
}

#endif /* FAKE_HOSTS_H */
