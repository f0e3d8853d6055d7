// SPDX-License-Identifier: GPL-2.0-only
/* Asks agents for the values instead of READing them. */
#include "transport_call.h"

#include <errno.h>
#include <stdlib.h>

#include <libdart/rpc/client.h>

#include "tools/controller/decode/ring.h"
#include "tools/controller/flow/credit.h"
#include "tools/controller/io/io_thread.h"

#define WATCHES 2

struct transport_call {
	struct transport base; /* first: a transport is found by it */
	struct dart_rpc_client *client; /* of the thread that owns the transport */
	sd_event_source *source; /* while it connects */
	uint32_t window; /* fragments of an answer that can be in flight */

	void *table;
	uint32_t table_length;
	uint32_t followed_max; /* bytes */
	struct ring *ring; /* of the target; NULL: not prepared */
	struct dart_rpc_plan *plan; /* of its scraper */

	/* Of the I/O thread. */
	struct io_thread *thread; /* NULL: not adopted */
	struct call_watch {
		struct io_watch base; /* first */
		struct transport_call *call;
	} watches[WATCHES];
	enum transport_part part; /* that was begun last */
	uint32_t posted; /* fragments of it */
	uint32_t completed;
	bool has_failed; /* the client can only be freed */
	struct dart_error error; /* why, or why an answer did not come */
};

/* Messages of an answer, of up to 16 KiB, before the turn of other targets. */
#define TURN 8

static struct transport_call *call_of(const struct transport *transport)
{
	return (struct transport_call *)transport;
}

static void transport_call__free(struct transport *transport)
{
	struct transport_call *call = call_of(transport);

	sd_event_source_disable_unref(call->source);
	/* First: then nothing lands in the table. */
	dart_rpc_client__free(call->client);
	dart_rpc_plan__free(call->plan);
	free(call->table);
	free(call);
}

/* ---- in the control loop */

static void transport_call__unreserve(struct transport *transport)
{
	struct transport_call *call = call_of(transport);

	free(call->table);
	call->table = NULL;
}

static int transport_call__reserve(struct transport *transport, uint32_t length)
{
	struct transport_call *call = call_of(transport);

	transport_call__unreserve(transport);
	/* All zeros after the end of a table that became shorter. */
	call->table = calloc(1, length);
	call->table_length = length;
	return call->table ? 0 : -ENOMEM;
}

static const void *transport_call__table(const struct transport *transport)
{
	return call_of(transport)->table;
}

static void transport_call__forget(struct transport *transport)
{
	struct transport_call *call = call_of(transport);

	dart_rpc_plan__free(call->plan);
	call->plan = NULL;
	call->ring = NULL;
}

static int transport_call__prepare(struct transport *transport, struct ring *ring)
{
	struct transport_call *call = call_of(transport);
	const struct scraper *scraper = ring->scraper;
	const struct catalog *catalog = scraper->catalog;
	int err;

	transport_call__forget(transport);
	/* The header is that of this host; the entries are common to equal hosts. */
	err = dart_rpc_plan__new(&scraper->table, catalog->plan, catalog->wanted,
				 catalog->wanted_count, &call->plan);
	if (err)
		return err;
	call->ring = ring;
	transport->scrape.operations = dart_rpc_plan__requests(call->plan);
	transport->scrape.bytes = dart_rpc_plan__answer_size(call->plan);
	return 0;
}

static void transport_call__path(const struct transport *transport, struct dart_endpoint_path *path)
{
	dart_rpc_client__path(call_of(transport)->client, path);
}

/* ---- in the I/O thread */

/* Watches the descriptors that the client waits for. */
static int transport_call__watch(struct transport_call *call)
{
	struct pollfd descriptors[WATCHES];
	unsigned int i, count = 0;
	int ret = 0, err;

	if (!call->has_failed)
		count = dart_rpc_client__wait(call->client, descriptors);
	for (i = 0; i < WATCHES; i++) {
		/* poll(2) and epoll use the same numbers for events. */
		err = io_thread__watch(call->thread, &call->watches[i].base,
				       i < count ? descriptors[i].fd : -1,
				       i < count ? descriptors[i].events : 0);
		ret = ret ?: err;
	}
	return ret;
}

static void transport_call__fail(struct transport_call *call)
{
	call->has_failed = true;
	transport_call__watch(call);
}

/* Takes one event; true if more may follow. */
static bool transport_call__take(struct transport_call *call)
{
	enum dart_rpc_client_event event;
	int result;

	event = dart_rpc_client__on_ready(call->client, &call->error);
	/* Only values can belong to an earlier table. */
	if (event == DART_RPC_CLIENT_STALE && call->part == TRANSPORT_TABLE)
		event = DART_RPC_CLIENT_DISCONNECTED;
	switch (event) {
	case DART_RPC_CLIENT_MORE:
		io_thread__again(call->thread, &call->watches[0].base);
		/* fall through */
	case DART_RPC_CLIENT_NOTHING:
		/* The agent is heard, however long its answer is. */
		call->base.handlers->completed(call->base.data, 0);
		return false;
	case DART_RPC_CLIENT_CHANGED:
		call->base.handlers->updated(call->base.data);
		return !call->has_failed;
	case DART_RPC_CLIENT_ANSWERED:
		result = 1;
		break;
	case DART_RPC_CLIENT_STALE:
		result = -ESTALE;
		break;
	case DART_RPC_CLIENT_BUSY:
		result = -EBUSY;
		break;
	default:
		/* Requests may still be under way. */
		transport_call__fail(call);
		call->base.handlers->completed(call->base.data, -ECONNRESET);
		return false;
	}
	call->completed += call->posted;
	call->posted = 0;
	call->base.handlers->completed(call->base.data, result);
	return !call->has_failed;
}

static void on_ready(struct io_watch *watch)
{
	struct transport_call *call = ((struct call_watch *)watch)->call;

	while (transport_call__take(call))
		;
	/* Without memory of the kernel it is not heard any more, and lost for its silence. */
	transport_call__watch(call);
}

static int transport_call__adopt(struct transport *transport, struct io_thread *thread)
{
	struct transport_call *call = call_of(transport);
	int i;

	call->thread = thread;
	for (i = 0; i < WATCHES; i++) {
		call->watches[i].base.ready = on_ready;
		call->watches[i].call = call;
	}
	dart_rpc_client__limit(call->client, TURN);
	dart_error__set(&call->error, 0, "cannot wait for the agent");
	return transport_call__watch(call);
}

static void transport_call__leave(struct transport *transport)
{
	struct transport_call *call = call_of(transport);
	int i;

	for (i = 0; call->thread && i < WATCHES; i++)
		io_thread__watch(call->thread, &call->watches[i].base, -1, 0);
	call->thread = NULL;
}

static int transport_call__ask_table(struct transport_call *call)
{
	if (call->table_length > call->followed_max)
		return dart_rpc_client__get_table(call->client, call->table, call->table_length,
						  &call->error);
	return dart_rpc_client__follow_table(call->client, call->table, call->table_length,
					     &call->error);
}

static int transport_call__send(struct transport_call *call)
{
	int err;

	dart_error__set(&call->error, 0, "cannot send a request");
	if (call->part == TRANSPORT_TABLE)
		err = transport_call__ask_table(call);
	else
		err = dart_rpc_client__get_values(call->client, call->plan,
						  (void *)ring__current(call->ring)->landing,
						  &call->error);
	if (err)
		transport_call__fail(call);
	else
		err = transport_call__watch(call);
	return err;
}

static int transport_call__begin(struct transport *transport, enum transport_part part,
				 uint32_t *fragments)
{
	struct transport_call *call = call_of(transport);
	uint64_t bytes = part == TRANSPORT_TABLE ? call->table_length : transport->scrape.bytes;
	uint64_t count = (bytes + CREDIT_FRAGMENT - 1) / CREDIT_FRAGMENT;

	call->part = part;
	if (!fragments) {
		call->posted = 1;
		return transport_call__send(call);
	}
	*fragments = count < call->window ? count : call->window;
	return 0;
}

static int transport_call__post(struct transport *transport, uint32_t fragments)
{
	struct transport_call *call = call_of(transport);

	call->posted = fragments;
	return transport_call__send(call);
}

static uint32_t transport_call__take_completed(struct transport *transport)
{
	struct transport_call *call = call_of(transport);
	const uint32_t completed = call->completed;

	call->completed = 0;
	return completed;
}

static void transport_call__explain(const struct transport *transport, struct dart_error *error)
{
	*error = call_of(transport)->error;
}

static const struct transport_operations transport_call__operations = {
	.is_call = true,
	.reserve = transport_call__reserve,
	.table = transport_call__table,
	.unreserve = transport_call__unreserve,
	.prepare = transport_call__prepare,
	.forget = transport_call__forget,
	.path = transport_call__path,
	.free = transport_call__free,
	.adopt = transport_call__adopt,
	.leave = transport_call__leave,
	.begin = transport_call__begin,
	.post = transport_call__post,
	.take_completed = transport_call__take_completed,
	.explain = transport_call__explain,
};

/* ---- connecting, in the control loop */

static void transport_call__accept(struct transport_call *call)
{
	const struct dart_rpc_welcome_values *welcome = dart_rpc_client__welcome(call->client);
	struct dart_endpoint_accept *accept = &call->base.accept;

	accept->length = welcome->length;
	accept->used = welcome->used;
	dart_rpc_client__clock(call->client, &accept->clock_offset_ns,
			       &accept->clock_uncertainty_ns);
	transport__date(&call->base);
	call->window = dart_rpc_client__window(call->client) / CREDIT_FRAGMENT;
}

/* While the client connects, it waits for a single descriptor, always the same. */
static uint32_t transport_call__events(const struct transport_call *call, int *fd)
{
	struct pollfd descriptors[WATCHES];

	dart_rpc_client__wait(call->client, descriptors);
	*fd = descriptors[0].fd;
	return descriptors[0].events;
}

static int on_connecting(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct transport_call *call = data;
	const struct transport_handlers *handlers = call->base.handlers;
	struct dart_error error;

	switch (dart_rpc_client__on_ready(call->client, &error)) {
	case DART_RPC_CLIENT_NOTHING:
		events = transport_call__events(call, &fd);
		return sd_event_source_set_io_events(source, events);
	case DART_RPC_CLIENT_CONNECTED:
		call->source = sd_event_source_disable_unref(call->source);
		transport_call__accept(call);
		handlers->connected(call->base.data, NULL);
		return 0;
	default:
		call->source = sd_event_source_disable_unref(call->source);
		handlers->connected(call->base.data, &error);
		return 0;
	}
}

/* Takes over @call; @err is that of the client. */
static int transport_call__start(struct transport_call *call,
				 const struct transport_call_parts *parts, int err,
				 struct transport **transport, struct dart_error *error)
{
	uint32_t events;
	int fd;

	call->base.operations = &transport_call__operations;
	call->base.handlers = parts->handlers;
	call->base.data = parts->data;
	call->base.is_told = parts->followed_max;
	call->followed_max = parts->followed_max;
	if (!err) {
		dart_rpc_client__tell_interval(call->client, parts->interval_ms);
		events = transport_call__events(call, &fd);
		err = sd_event_add_io(parts->event, &call->source, fd, events, on_connecting, call);
		if (err < 0)
			dart_error__system(error, -err, "cannot wait for the agent");
	}
	if (err < 0)
		transport__free(&call->base);
	else
		*transport = &call->base;
	return err < 0 ? err : 0;
}

int transport_call__connect_rpc(const struct transport_call_parts *parts,
				struct transport **transport, struct dart_error *error)
{
	struct transport_call *call = calloc(1, sizeof(*call));
	int err;

	if (!call)
		return dart_error__no_memory(error);
	err = dart_rpc_client__connect_rdma(parts->host, parts->port, parts->dscp, &call->client,
					    error);
	return transport_call__start(call, parts, err, transport, error);
}

int transport_call__connect_tcp(const struct transport_call_parts *parts, struct dart_tls *tls,
				const char *name, struct transport **transport,
				struct dart_error *error)
{
	struct transport_call *call = calloc(1, sizeof(*call));
	int err;

	if (!call)
		return dart_error__no_memory(error);
	err = dart_rpc_client__connect_tcp(parts->host, parts->port, tls, name, &call->client,
					   error);
	return transport_call__start(call, parts, err, transport, error);
}
