// SPDX-License-Identifier: GPL-2.0-only
/* Connects to agents that are called, in the control loop. */
#include "transport_call_private.h"

#include <stdlib.h>

#include "tools/controller/flow/credit.h"

static void transport_call__accept(struct transport_call *call)
{
	const struct dart_rpc_welcome_values *welcome =
		dart_rpc_client__welcome(call->client);
	struct dart_endpoint_accept *accept = &call->base.accept;

	accept->length = welcome->length;
	accept->used = welcome->used;
	dart_rpc_client__clock(call->client, &accept->clock_offset_ns,
			       &accept->clock_uncertainty_ns);
	transport__date(&call->base);
	call->window = dart_rpc_client__window(call->client) / CREDIT_FRAGMENT;
}

/* While it connects it waits for one descriptor, which stays the same. */
static uint32_t transport_call__events(const struct transport_call *call,
				       int *fd)
{
	struct pollfd descriptors[WATCHES];

	dart_rpc_client__wait(call->client, descriptors);
	*fd = descriptors[0].fd;
	return descriptors[0].events;
}

static int on_connecting(sd_event_source *source, int fd, uint32_t events,
			 void *data)
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
				 const struct transport_call_parts *parts,
				 int err, struct transport **transport,
				 struct dart_error *error)
{
	uint32_t events;
	int fd;

	call->base.operations = &transport_call__operations;
	call->base.handlers = parts->handlers;
	call->base.data = parts->data;
	if (!err) {
		events = transport_call__events(call, &fd);
		err = sd_event_add_io(parts->event, &call->source, fd, events,
				      on_connecting, call);
		if (err < 0)
			dart_error__system(error, -err,
					   "cannot wait for the agent");
	}
	if (err < 0)
		transport__free(&call->base);
	else
		*transport = &call->base;
	return err < 0 ? err : 0;
}

int transport_call__connect_rpc(const struct transport_call_parts *parts,
				struct transport **transport,
				struct dart_error *error)
{
	struct transport_call *call = calloc(1, sizeof(*call));
	int err;

	if (!call)
		return dart_error__no_memory(error);
	err = dart_rpc_client__connect_rdma(parts->host, parts->port,
					    &call->client, error);
	return transport_call__start(call, parts, err, transport, error);
}

int transport_call__connect_tcp(const struct transport_call_parts *parts,
				struct dart_tls *tls, const char *name,
				struct transport **transport,
				struct dart_error *error)
{
	struct transport_call *call = calloc(1, sizeof(*call));
	int err;

	if (!call)
		return dart_error__no_memory(error);
	err = dart_rpc_client__connect_tcp(parts->host, parts->port, tls, name,
					   &call->client, error);
	return transport_call__start(call, parts, err, transport, error);
}
