// SPDX-License-Identifier: GPL-2.0-only
/*
 * peers HOST COUNT KIND...: for each KIND in turn, COUNT peers connect to the agent of
 * HOST, some of them at the same time:
 *
 *   controller  connects and disconnects
 *   reader      asks for the store "absent"
 *   newer       speaks the next version of the protocol
 *   stranger    sends other private data
 *   dead        connects, and is not heard of again
 *   half-open   is accepted, and does not establish the connection
 *
 * Exits with 1 unless the agent accepted all controllers, and rejected all peers of the
 * kinds reader, newer and stranger.  It may reject some dead and half-open peers; their
 * connections last until a test kills this program.
 */
#include <endian.h>
#include <err.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dart/control.h>
#include <dart/store_access.h>

/* Peers at the same time: fewer than the backlog of the agent. */
#define AT_ONCE 16
#define TIMEOUT_MS 20000

struct peers {
	struct rdma_event_channel *channel;
	struct addrinfo *host;
	const char *kind;
	bool stays;
	struct dart_store_request request; /* begins like any other */
	size_t request_length;
	unsigned long started, accepted, rejected;
	uint32_t queue_pair; /* the last number that a peer had */
};

static void peers__set_kind(struct peers *peers, const char *kind)
{
	struct dart_store_request *request = &peers->request;

	peers->kind = kind;
	peers->stays = false;
	peers->started = peers->accepted = peers->rejected = 0;
	peers->request_length = sizeof(struct dart_control_request);
	*request = (struct dart_store_request){
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
	};
	if (!strcmp(kind, "reader")) {
		peers->request_length = sizeof(*request);
		request->magic = htole64(DART_STORE_ACCESS_MAGIC);
		request->abi_version = htole32(DART_STORE_ACCESS_ABI_VERSION);
		strcpy(request->name, "absent");
	} else if (!strcmp(kind, "newer")) {
		request->abi_version = htole32(DART_CONTROL_ABI_VERSION + 1);
	} else if (!strcmp(kind, "stranger")) {
		request->magic = htole64(1);
	} else if (!strcmp(kind, "dead") || !strcmp(kind, "half-open")) {
		peers->stays = true;
	} else if (strcmp(kind, "controller")) {
		errx(2, "no kind of peers is called '%s'", kind);
	}
}

static void peers__start(struct peers *peers)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(peers->channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, peers->host->ai_addr, TIMEOUT_MS))
		err(1, "cannot start a connection");
	peers->started++;
}

/*
 * The agent sends nothing, so the queue pair need not exist, but the CM rejects the
 * number of a queue pair that was connected a moment ago.
 */
static void peers__connect(struct peers *peers, struct rdma_cm_id *id)
{
	struct rdma_conn_param parameters = {
		.private_data = &peers->request,
		.private_data_len = peers->request_length,
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.qp_num = ++peers->queue_pair,
	};

	if (rdma_connect(id, &parameters))
		err(1, "cannot connect");
}

/* True if this was the last event that the peer waits for. */
static bool on_event(struct peers *peers, struct rdma_cm_id *id, enum rdma_cm_event_type event)
{
	bool waited;

	switch (event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(id, TIMEOUT_MS))
			err(1, "cannot resolve the route");
		return false;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		peers__connect(peers, id);
		return false;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		peers->accepted++;
		id->context = peers->stays ? id : NULL;
		if (!strcmp(peers->kind, "half-open"))
			return true;
		/* The agent may already have ended a peer that stays, to make room for another. */
		if (peers->stays) {
			rdma_establish(id);
			return true;
		}
		if (rdma_establish(id) || rdma_disconnect(id))
			err(1, "cannot establish the connection");
		return false;
	case RDMA_CM_EVENT_REJECTED:
		peers->rejected += !id->context;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return false;
	default:
		if (!peers->stays)
			errx(1, "%s: %s", peers->kind, rdma_event_str(event));
	}
	/* A peer that stays is not waiting since the agent accepted it. */
	waited = !id->context;
	if (rdma_destroy_id(id))
		err(1, "cannot destroy an id");
	return waited;
}

/* Returns 0, or 1 if peers were not treated as their kind is. */
static int peers__run(struct peers *peers, const char *kind, unsigned long count)
{
	unsigned long running = 0, *expected;
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;

	peers__set_kind(peers, kind);
	expected = strcmp(kind, "controller") ? &peers->rejected : &peers->accepted;
	while (peers->started < count || running) {
		for (; running < AT_ONCE && peers->started < count; running++)
			peers__start(peers);
		if (rdma_get_cm_event(peers->channel, &event))
			err(1, "cannot read an event");
		type = event->event;
		id = event->id;
		rdma_ack_cm_event(event);
		running -= on_event(peers, id, type);
	}
	printf("%s: %lu accepted, %lu rejected\n", kind, peers->accepted, peers->rejected);
	fflush(stdout);
	return !peers->stays && *expected != count;
}

int main(int argc, char *argv[])
{
	const struct addrinfo hints = {
		.ai_family = AF_INET,
		.ai_socktype = SOCK_STREAM,
	};
	struct peers peers = { .queue_pair = 0x1000 };
	char port[8];
	int i, status = 0;

	if (argc < 4)
		errx(2, "usage: peers HOST COUNT KIND...");
	snprintf(port, sizeof(port), "%d", DART_CONTROL_PORT);
	if (getaddrinfo(argv[1], port, &hints, &peers.host))
		errx(2, "no host is called '%s'", argv[1]);
	peers.channel = rdma_create_event_channel();
	if (!peers.channel)
		err(1, "cannot open the RDMA CM");
	for (i = 3; i < argc; i++)
		status |= peers__run(&peers, argv[i], atol(argv[2]));
	if (peers.stays)
		pause();
	rdma_destroy_event_channel(peers.channel);
	freeaddrinfo(peers.host);
	return status;
}
