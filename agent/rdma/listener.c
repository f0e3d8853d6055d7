// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/log.h"
#include "connect_request.h"
#include "listener.h"

/* Memory regions are only good on the device that they were made on. */
static int check_device(const struct listener *listener,
			const struct rdma_cm_id *id, struct dart_error *error)
{
	if (id->verbs != listener->device->context)
		return dart_error__set(
			error, EXDEV,
			"it came in through RDMA device %s, not %s",
			ibv_get_device_name(id->verbs->device),
			device__name(listener->device));
	return 0;
}

static const char *kind_of(const struct connection *connection)
{
	return connection->store ? "reader" : "controller";
}

static int listener__accept_controller(struct listener *listener,
				       const struct connect_request *request,
				       struct connection **connection,
				       struct dart_error *error)
{
	struct dart_control_accept accept;
	const struct connection_offer offer = {
		.pd = listener->device->pd,
		.data = &accept,
		.length = sizeof(accept),
	};

	control_region__accept(listener->control_region, &accept);
	return connection__accept(request->id, request->reads, listener->device,
				  &offer, connection, error);
}

static int listener__accept_reader(struct listener *listener,
				   const struct connect_request *request,
				   struct connection **connection,
				   struct dart_error *error)
{
	const char *name = request->data.store.name;
	struct store *store = stores__find(listener->stores, name);
	struct dart_store_accept accept;
	struct connection_offer offer = {
		.data = &accept,
		.length = sizeof(accept),
		.store = store,
	};
	int ret;

	if (!store)
		return dart_error__set(error, ENOENT, "there is no store '%s'",
				       name);
	offer.pd = store->pd;
	store__accept(store, &accept);
	ret = connection__accept(request->id, request->reads, listener->device,
				 &offer, connection, error);
	if (!ret)
		store->readers++;
	return ret;
}

static void listener__on_request(struct listener *listener,
				 const struct connect_request *request)
{
	bool is_reader = connect_request__is_reader(request);
	struct connection *connection;
	struct dart_error error;
	char peer[80];
	int ret;

	ret = connect_request__check(request, &error);
	if (!ret)
		ret = check_device(listener, request->id, &error);
	if (!ret && is_reader)
		ret = listener__accept_reader(listener, request, &connection,
					      &error);
	else if (!ret)
		ret = listener__accept_controller(listener, request,
						  &connection, &error);
	if (!ret) {
		TAILQ_INSERT_TAIL(&listener->connections, connection, link);
		return;
	}

	connection__name_peer(request->id, peer, sizeof(peer));
	log__warning("%s %s rejected: %s", is_reader ? "reader" : "controller",
		     peer, error.text);
	rdma_reject(request->id, NULL, 0);
	rdma_destroy_id(request->id);
}

static void listener__on_established(struct connection *connection)
{
	connection->is_established = true;
	log__info("%s %s connected", kind_of(connection), connection->peer);
}

static void listener__drop(struct listener *listener,
			   struct connection *connection)
{
	TAILQ_REMOVE(&listener->connections, connection, link);
	if (connection->store)
		connection->store->readers--;
	connection__free(connection);
}

static void listener__on_end(struct listener *listener,
			     struct connection *connection, const char *reason)
{
	log__info("%s %s %s", kind_of(connection), connection->peer, reason);
	listener__drop(listener, connection);
}

/* @event has been acknowledged: an id can be destroyed only then. */
static void listener__on_event(struct listener *listener,
			       const struct rdma_cm_event *event,
			       const struct connect_request *request)
{
	struct connection *connection;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		listener__on_request(listener, request);
		return;
	}
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		log__error("RDMA device %s goes away",
			   device__name(listener->device));
		sd_event_exit(sd_event_source_get_event(listener->events),
			      EXIT_FAILURE);
		return;
	}
	if (event->id == listener->id) {
		log__warning("listener: %s", rdma_event_str(event->event));
		return;
	}

	connection = event->id->context;
	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		listener__on_established(connection);
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		listener__on_end(listener, connection, "disconnected");
		break;
	default:
		listener__on_end(listener, connection,
				 rdma_event_str(event->event));
	}
}

static int on_channel(sd_event_source *source, int fd, uint32_t revents,
		      void *userdata)
{
	struct listener *listener = userdata;
	struct rdma_cm_event *event, copy;
	struct connect_request request = { };

	while (!rdma_get_cm_event(listener->channel, &event)) {
		copy = *event;
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
			request = connect_request__of(event);
		rdma_ack_cm_event(event);
		listener__on_event(listener, &copy, &request);
	}
	if (errno == EAGAIN)
		return 0;
	log__error("the RDMA CM does not answer: %s", strerror(errno));
	return sd_event_exit(sd_event_source_get_event(source), EXIT_FAILURE);
}

/* What the RDMA CM says of a port that another one listens at. */
static bool is_taken(int error)
{
	return error == EADDRINUSE || error == EADDRNOTAVAIL;
}

/* Any address, of IPv6 and IPv4 if the host has both. */
static int listener__bind(struct listener *listener, uint16_t port)
{
	struct sockaddr_in6 any6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htobe16(port),
	};
	struct sockaddr_in any = {
		.sin_family = AF_INET,
		.sin_port = htobe16(port),
	};
	int v6_only = 0;

	rdma_set_option(listener->id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY,
			&v6_only, sizeof(v6_only));
	if (!rdma_bind_addr(listener->id, (struct sockaddr *)&any6))
		return 0;
	if (is_taken(errno))
		return -1;
	return rdma_bind_addr(listener->id, (struct sockaddr *)&any);
}

static int listener__listen(struct listener *listener, uint16_t port,
			    struct dart_error *error)
{
	const int backlog = 64;

	if (listener__bind(listener, port) ||
	    rdma_listen(listener->id, backlog))
		return dart_error__set(
			error, errno,
			"cannot listen for controllers at port %u: %s%s", port,
			strerror(errno),
			is_taken(errno) ? " (choose another with --port)" : "");
	return 0;
}

int listener__open(struct listener *listener, sd_event *loop, uint16_t port,
		   const struct device *device,
		   const struct control_region *control_region,
		   const struct stores *stores, struct dart_error *error)
{
	int ret;

	*listener = (struct listener){
		.device = device,
		.control_region = control_region,
		.stores = stores,
	};
	TAILQ_INIT(&listener->connections);

	listener->channel = rdma_create_event_channel();
	if (!listener->channel)
		return dart_error__set(
			error, errno,
			"cannot open the RDMA CM: %s (load it: modprobe rdma_ucm)",
			strerror(errno));
	if (fcntl(listener->channel->fd, F_SETFL, O_NONBLOCK) ||
	    rdma_create_id(listener->channel, &listener->id, NULL,
			   RDMA_PS_TCP)) {
		ret = dart_error__set(error, errno,
				      "cannot use the RDMA CM: %s",
				      strerror(errno));
		goto destroy_channel;
	}

	ret = listener__listen(listener, port, error);
	if (ret)
		goto destroy_id;

	ret = sd_event_add_io(loop, &listener->events, listener->channel->fd,
			      EPOLLIN, on_channel, listener);
	if (ret < 0) {
		dart_error__set(error, -ret, "cannot wait for controllers: %s",
				strerror(-ret));
		goto destroy_id;
	}
	return 0;

destroy_id:
	rdma_destroy_id(listener->id);
destroy_channel:
	rdma_destroy_event_channel(listener->channel);
	return ret;
}

void listener__close(struct listener *listener)
{
	struct connection *connection;

	while ((connection = TAILQ_FIRST(&listener->connections)))
		listener__drop(listener, connection);
	sd_event_source_unref(listener->events);
	rdma_destroy_id(listener->id);
	rdma_destroy_event_channel(listener->channel);
}

void listener__hang_up(struct listener *listener, const struct store *store)
{
	struct connection *connection = TAILQ_FIRST(&listener->connections);
	struct connection *next;

	for (; connection; connection = next) {
		next = TAILQ_NEXT(connection, link);
		if (connection->store == store)
			listener__on_end(listener, connection,
					 "loses its store");
	}
}
