// SPDX-License-Identifier: GPL-2.0-only
/* Connections with hosts that are memory of this process: see simulated_network.h. */
#include "simulated_network.h"

#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include <dart/control.h>

struct simulated_id {
	struct rdma_cm_id id; /* first */
	struct simulated_host *host;
	bool is_asking; /* from the address to the answer */
	TAILQ_ENTRY(simulated_id) place; /* among identifiers with an event */
	bool has_event;
	struct rdma_cm_event event;
	struct dart_control_accept answer;
};

static struct {
	struct simulated_host **hosts;
	uint32_t host_count;
	unsigned int asking, asking_max; /* connections at the same time */
	struct rdma_event_channel channel;
	TAILQ_HEAD(, simulated_id) with_event;
	struct simulated_adapter adapter;
} network;

void simulated_network__open(struct simulated_host **hosts, uint32_t count)
{
	memset(&network, 0, sizeof(network));
	network.hosts = hosts;
	network.host_count = count;
	TAILQ_INIT(&network.with_event);
	simulated_adapter__init(&network.adapter);
}

const struct simulated_adapter *simulated_network__adapter(void)
{
	return &network.adapter;
}

unsigned int simulated_network__asking_max(void)
{
	return network.asking_max;
}

static void simulated_id__tell(struct simulated_id *id, enum rdma_cm_event_type type)
{
	if (id->has_event)
		errx(EXIT_FAILURE, "a connection has two events at once");
	id->event = (struct rdma_cm_event){ .event = type, .id = &id->id };
	if (type == RDMA_CM_EVENT_ESTABLISHED) {
		id->event.param.conn.private_data = id->host->answer ?: &id->answer;
		id->event.param.conn.private_data_len = id->host->answer ? id->host->answer_length :
									   sizeof(id->answer);
	}
	id->has_event = true;
	TAILQ_INSERT_TAIL(&network.with_event, id, place);
	simulated__tell(network.channel.fd);
}

static void simulated_id__set_asking(struct simulated_id *id, bool is_asking)
{
	network.asking += is_asking - id->is_asking;
	id->is_asking = is_asking;
	if (network.asking > network.asking_max)
		network.asking_max = network.asking;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	network.channel.fd = eventfd(0, EFD_SEMAPHORE);
	return &network.channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **idp,
		   void *context, enum rdma_port_space space)
{
	struct simulated_id *id = simulated__allocate(sizeof(*id));

	id->id.context = context;
	id->id.port_num = 1;
	*idp = &id->id;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *of)
{
	struct simulated_id *id = (struct simulated_id *)of;

	simulated_id__set_asking(id, false);
	if (id->has_event)
		TAILQ_REMOVE(&network.with_event, id, place);
	free(id);
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *of, struct sockaddr *source,
		      struct sockaddr *destination, int timeout_ms)
{
	const struct sockaddr_in *address = (struct sockaddr_in *)destination;
	const uint32_t index = ntohl(address->sin_addr.s_addr) - (10U << 24);
	struct simulated_id *id = (struct simulated_id *)of;

	if (address->sin_family != AF_INET || index >= network.host_count) {
		errno = EHOSTUNREACH;
		return -1;
	}
	id->host = network.hosts[index];
	memcpy(rdma_get_local_addr(of), address, sizeof(*address));
	memcpy(rdma_get_peer_addr(of), address, sizeof(*address));
	simulated_id__set_asking(id, true);
	of->verbs = &network.adapter.context;
	simulated_id__tell(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	simulated_id__tell((struct simulated_id *)id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return 0;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t length)
{
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attributes)
{
	id->qp = simulated_qp__new(id->verbs, ((struct simulated_id *)id)->host, attributes);
	id->qp->pd = pd;
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	free(id->qp);
	id->qp = NULL;
}

int rdma_connect(struct rdma_cm_id *of, struct rdma_conn_param *parameters)
{
	struct simulated_id *id = (struct simulated_id *)of;
	const struct simulated_memory *table = &id->host->table;

	id->host->mirror = (struct dart_control_mirror){};
	if (parameters->private_data_len >=
	    sizeof(struct dart_control_request) + sizeof(id->host->mirror))
		memcpy(&id->host->mirror,
		       (const uint8_t *)parameters->private_data + sizeof(struct dart_control_request),
		       sizeof(id->host->mirror));
	id->answer = (struct dart_control_accept){
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
		.rkey = htole32(table->rkey),
		.address = htole64((uintptr_t)table->bytes),
		.length = htole32(table->length),
		.used = htole32(table->length),
	};
	simulated_id__tell(id, RDMA_CM_EVENT_ESTABLISHED);
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	return 0;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct simulated_id *id = TAILQ_FIRST(&network.with_event);
	eventfd_t one;

	if (eventfd_read(channel->fd, &one))
		return -1;
	/* Its identifier may be destroyed by now. */
	if (!id) {
		errno = EAGAIN;
		return -1;
	}
	TAILQ_REMOVE(&network.with_event, id, place);
	id->has_event = false;
	if (id->event.event == RDMA_CM_EVENT_ESTABLISHED)
		simulated_id__set_asking(id, false);
	*event = &id->event;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	return 0;
}
