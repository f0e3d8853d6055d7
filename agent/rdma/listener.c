// SPDX-License-Identifier: GPL-2.0-only
/* Handles RDMA CM events: connect requests, connections opened and ended. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>

#include "agent/base/clock.h"
#include "agent/base/log.h"
#include "agent/base/loop_timer.h"
#include "connect_request.h"
#include "listener.h"

/* After an event could not be read. */
#define PAUSE_MS 100

/* Memory regions are only valid on the device that they were registered on. */
static int check_device(const struct listener *listener,
			const struct rdma_cm_id *id, struct dart_error *error)
{
	if (!device__is(listener->device, id->verbs))
		return dart_error__set(error, EXDEV, "it came in through RDMA device %s, not %s",
				       ibv_get_device_name(id->verbs->device),
				       device__name(listener->device));
	return 0;
}

static int listener__accept(struct listener *listener, const struct peer_service *service,
			    const struct connect_request *request, struct dart_error *error)
{
	struct peer_offer offer = { .address = rdma_get_peer_addr(request->id) };
	struct connection *connection;
	int ret;

	ret = connect_request__check(request, service->kind, error)			    ?:
		      listener__admit(listener, service, request->id, error)		    ?:
		      check_device(listener, request->id, error)			    ?:
		      service->kind->offer(service->subject, &request->data, &offer, error) ?:
		      connection__accept(request->id, request->reads, listener->device,
					 listener->completions, service->kind, &offer, &connection,
					 error);
	if (!ret) {
		connection->counts = service->counts;
		listener__wait_for_peer(listener, connection);
		listener__follow_table(connection, &offer);
		TAILQ_INSERT_TAIL(&listener->connections, connection, link);
	}
	return ret;
}

static enum rejection reason_of(int code)
{
	switch (-code) {
	case EPROTO:
		return REJECTED_MALFORMED;
	case EPROTONOSUPPORT:
		return REJECTED_VERSION;
	case EACCES:
	case EPERM:
		return REJECTED_NOT_ALLOWED;
	case EUSERS:
		return REJECTED_LIMIT;
	case EXDEV:
		return REJECTED_DEVICE;
	case ENOENT:
		return REJECTED_NO_STORE;
	default:
		return REJECTED_RESOURCES;
	}
}

/* Counts and logs a connect request that was rejected with @code, -errno, which @text explains. */
static void note_rejection(struct connection_counts *counts, int code,
			   const char *kind, const char *peer, const char *text)
{
	/* Many rejections for one reason do not hide rejections for other reasons. */
	static struct log_limit limits[REJECTIONS];
	enum rejection reason = reason_of(code);

	count__add(&counts->rejected[reason], 1);
	log__write_limited(&limits[reason], LOG_WARNING, "%s %s rejected: %s", kind, peer, text);
}

/* Tells the peer why; on its side the sentence is hostile. */
static void reject(struct rdma_cm_id *id, const struct peer_kind *kind,
		   const struct dart_error *error)
{
	struct dart_control_reject reject = {
		.magic = htole64(kind->magic),
		.abi_version = htole32(kind->abi_version),
	};

	snprintf(reject.reason, sizeof(reject.reason), "%.*s",
		 (int)sizeof(reject.reason) - 1, error->text);
	rdma_reject(id, &reject, sizeof(reject));
}

static void listener__on_request(struct listener *listener, const struct connect_request *request)
{
	const struct peer_service *service;
	struct dart_error error;
	char peer[80];
	int ret;

	dart_cm_contexts__note(listener->device->cm_contexts, request->id->verbs);
	service = connect_request__find(request, listener->services);
	ret = listener__accept(listener, service, request, &error);
	if (!ret)
		return;
	connection__name_peer(request->id, peer, sizeof(peer));
	note_rejection(listener->counts, ret, service->kind->name, peer, error.text);
	reject(request->id, service->kind, &error);
	rdma_destroy_id(request->id);
}

static void listener__on_established(struct listener *listener, struct connection *connection)
{
	listener__end_wait(listener, connection);
	connection->established = dart_clock__ns(CLOCK_BOOTTIME);
	listener__keep_alive(listener);
	count__add(&connection->counts->connected, 1);
	count__add(&connection->counts->total, 1);
	log__peer_info("%s %s connected", connection->kind->name, connection->peer);
	changes__announce(listener->changes, "connected", connection->kind->name, connection->peer);
	listener__update(listener, connection);
}

/* Is @id one that listens? */
static bool listener__has_id(const struct listener *listener, const struct rdma_cm_id *id)
{
	size_t i;

	for (i = 0; i < listener->id_count; i++)
		if (listener->ids[i] == id)
			return true;
	return false;
}

/* @event has been acknowledged, so that its id may be destroyed. */
static void listener__on_event(struct listener *listener, const struct rdma_cm_event *event,
			       const struct connect_request *request)
{
	struct connection *connection;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		listener__on_request(listener, request);
		return;
	}
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		/*
		 * The device in use, or another device through which a peer connected: ignore the
		 * latter.
		 */
		if (event->id->verbs && device__is(listener->device, event->id->verbs))
			device__lose(listener->device, true, "it is being removed");
		return;
	}
	if (listener__has_id(listener, event->id)) {
		log__peer_warning("listener: %s", rdma_event_str(event->event));
		return;
	}

	connection = event->id->context;
	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		listener__on_established(listener, connection);
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		listener__end(listener, connection, "disconnected");
		break;
	default:
		listener__end(listener, connection, rdma_event_str(event->event));
	}
}

static bool is_lasting(int code)
{
	return code == EBADF || code == ENODEV || code == EIO;
}

/* Out of memory, for example: the event stays until there is some again. */
static int listener__pause(struct listener *listener, int code)
{
	log__peer_error("cannot read events of the RDMA CM: %s (tried again in %d ms)",
			strerror(code), PAUSE_MS);
	sd_event_source_set_enabled(listener->events, SD_EVENT_OFF);
	return loop_timer__start(listener->resume, PAUSE_MS * 1000);
}

static int on_resume(sd_event_source *source, uint64_t time, void *userdata)
{
	struct listener *listener = userdata;

	return sd_event_source_set_enabled(listener->events, SD_EVENT_ON);
}

/* One event for each call, so that other sources of the loop take turns. */
static int on_channel(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct listener *listener = userdata;
	struct rdma_cm_event *event, copy;
	struct connect_request request = { };

	if (!rdma_get_cm_event(listener->channel, &event)) {
		copy = *event;
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
			request = connect_request__of(event);
		rdma_ack_cm_event(event);
		listener__on_event(listener, &copy, &request);
		return 0;
	}
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	if (!is_lasting(errno))
		return listener__pause(listener, errno);
	log__error("cannot read events of the RDMA CM: %s", strerror(errno));
	return sd_event_exit(sd_event_source_get_event(source), EXIT_FAILURE);
}

static int listener__open_events(struct listener *listener, sd_event *loop)
{
	int ret;

	ret = sd_event_add_io(loop, &listener->events, listener->channel->fd,
			      EPOLLIN, on_channel, listener);
	if (ret >= 0)
		ret = loop_timer__add(loop, &listener->resume, CLOCK_MONOTONIC, on_resume,
				      listener);
	return ret;
}

static void listener__close_events(struct listener *listener)
{
	sd_event_source_disable_unref(listener->resume);
	sd_event_source_disable_unref(listener->events);
}

int listener__open(struct listener *listener, sd_event *loop, const struct listener_place *place,
		   const struct device *device, const struct peer_service *services,
		   const struct listener_limits *limits, const struct changes *changes,
		   struct connection_counts *counts, struct dart_error *error)
{
	int ret;

	*listener = (struct listener){
		.device = device,
		.services = services,
		.limits = limits,
		.keepalive_s = place->keepalive_s,
		.keepalive_slack_s = place->keepalive_slack_s,
		.changes = changes,
		.counts = counts,
	};
	TAILQ_INIT(&listener->connections);
	if (!device->context)
		return 0;

	listener->channel = rdma_create_event_channel();
	if (!listener->channel)
		return dart_error__set(error, errno,
				       "cannot open the RDMA CM: %s (load it: modprobe rdma_ucm)",
				       strerror(errno));
	if (fcntl(listener->channel->fd, F_SETFL, O_NONBLOCK)) {
		ret = dart_error__system(error, errno, "cannot use the RDMA CM");
		goto destroy_channel;
	}

	ret = listener__open_rates(listener);
	if (ret) {
		dart_error__system(error, -ret, "cannot prepare for peers");
		goto destroy_channel;
	}
	ret = listener__open_watch(listener, loop, error);
	if (ret)
		goto destroy_channel;
	ret = listener__listen(listener, place, error);
	if (ret)
		goto destroy_ids;

	ret = listener__open_events(listener, loop);
	if (ret < 0) {
		dart_error__system(error, -ret, "cannot wait for controllers");
		goto close_events;
	}
	return 0;

close_events:
	listener__close_events(listener);
destroy_ids:
	listener__destroy_ids(listener);
	listener__close_watch(listener);
destroy_channel:
	rdma_destroy_event_channel(listener->channel);
	listener->channel = NULL;
	return ret;
}

void listener__close(struct listener *listener)
{
	struct connection *connection;

	if (!listener->channel)
		return;
	while ((connection = TAILQ_FIRST(&listener->connections)))
		listener__drop(listener, connection);
	listener__close_events(listener);
	listener__destroy_ids(listener);
	listener__close_watch(listener);
	rdma_destroy_event_channel(listener->channel);
	listener->channel = NULL;
}

void listener__disconnect(struct listener *listener, const struct peer_object *object)
{
	struct connection *connection = TAILQ_FIRST(&listener->connections);
	struct connection *next;
	char reason[64];

	snprintf(reason, sizeof(reason), "disconnected: its %s was deleted", object->noun);
	for (; connection; connection = next) {
		next = TAILQ_NEXT(connection, link);
		if (connection->object == object)
			listener__end(listener, connection, reason);
	}
}

json_t *listener__names(const struct listener *listener, const struct peer_kind *kind)
{
	const struct connection *connection;
	json_t *names = json_array();

	TAILQ_FOREACH(connection, &listener->connections, link)
		if (connection->established && connection->kind == kind)
			reply__append(&names, json_string(connection->peer));
	return names;
}

/* ---- requests about connected peers: controllers, and readers of stores and tables */

static json_t *connection__describe(const struct connection *connection)
{
	const struct peer_object *object = connection->object;

	return json_pack("{s:s, s:s, s:s*, s:I}", "peer", connection->peer, "kind",
			 connection->kind->name, object ? object->noun : "store",
			 object ? object->name : NULL, "age_s",
			 (json_int_t)clock__age_s(connection->established));
}

static int list_controllers(struct request *request)
{
	const struct listener *listener = request->subject;
	const struct connection *connection;

	request->result = json_array();
	TAILQ_FOREACH(connection, &listener->connections, link)
		if (connection->established)
			reply__append(&request->result, connection__describe(connection));
	return 0;
}

static int disconnect_controller(struct request *request)
{
	struct listener *listener = request->subject;
	struct connection *connection;

	TAILQ_FOREACH(connection, &listener->connections, link)
		if (connection->established && !strcmp(connection->peer, request->text))
			break;
	if (!connection)
		return dart_error__set(&request->error, ENOENT,
				       "no controller or reader is connected from '%s'",
				       request->text);
	request->result = connection__describe(connection);
	listener__end(listener, connection, "is disconnected on request");
	return 0;
}

const struct request_type listener_requests[] = {
	{ "controller-list", "controllers", list_controllers, .member = "" },
	{ "controller-disconnect", "controller", disconnect_controller,
	  .member = "peer", .only_root = "disconnect a controller" },
	{ }
};
