// SPDX-License-Identifier: GPL-2.0-only
/* Ends connections whose queue pair has failed, and finds peers that do not answer. */
#include <errno.h>
#include <fcntl.h>

#include "listener.h"

#define US_PER_S UINT64_C(1000000)

static void on_deadline(struct lease *lease)
{
	struct connection *connection = lease__owner(lease, struct connection);
	struct peer_messenger *messenger = connection->message_qp.messenger;

	connection->has_deadline = false;
	messenger->operations->cut_off(messenger);
	listener__end(connection->listener, connection,
		      "disconnected: it is too slow with an answer");
}

/* An answer takes at most as long as a lease. */
static void listener__set_deadline(struct listener *listener,
				   struct connection *connection)
{
	bool is_busy = connection__is_busy(connection);

	if (connection->has_deadline && !is_busy)
		lease__cancel(&listener->deadlines, &connection->lease);
	else if (!connection->has_deadline && is_busy)
		lease__start(&listener->deadlines, &connection->lease,
			     on_deadline);
	connection->listener = listener;
	connection->has_deadline = is_busy;
}

/* One event for each call, so that other sources of the loop take turns. */
static int on_failure(sd_event_source *source, int fd, uint32_t revents,
		      void *userdata)
{
	struct listener *listener = userdata;
	struct connection *connection;
	const char *reason;
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(listener->failures, &cq, &context))
		return 0;
	ibv_ack_cq_events(cq, 1);
	connection = context;
	reason = connection__serve(connection);
	if (reason)
		listener__end(listener, connection, reason);
	else
		listener__set_deadline(listener, connection);
	return 0;
}

static bool has_established(const struct listener *listener)
{
	const struct connection *connection;

	TAILQ_FOREACH(connection, &listener->connections, link)
		if (connection->established)
			return true;
	return false;
}

/* Runs while there are peers only. */
static int on_keepalive(sd_event_source *source, uint64_t time, void *userdata)
{
	struct listener *listener = userdata;
	struct connection *connection;

	if (!has_established(listener))
		return 0;
	TAILQ_FOREACH(connection, &listener->connections, link)
		if (connection->established)
			connection__probe(connection);
	sd_event_source_set_time_relative(source,
					  listener->keepalive_s * US_PER_S);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

void listener__keep_alive(const struct listener *listener)
{
	int enabled = SD_EVENT_OFF;

	if (!listener->keepalive)
		return;
	sd_event_source_get_enabled(listener->keepalive, &enabled);
	if (enabled != SD_EVENT_OFF)
		return;
	sd_event_source_set_time_relative(listener->keepalive,
					  listener->keepalive_s * US_PER_S);
	sd_event_source_set_enabled(listener->keepalive, SD_EVENT_ONESHOT);
}

static int listener__open_keepalive(struct listener *listener, sd_event *loop)
{
	int ret;

	if (!listener->keepalive_s)
		return 0;
	/* It may be late by a second: wake-ups of a host coincide. */
	ret = sd_event_add_time_relative(loop, &listener->keepalive,
					 CLOCK_BOOTTIME,
					 listener->keepalive_s * US_PER_S,
					 US_PER_S, on_keepalive, listener);
	if (ret < 0)
		return ret;
	return sd_event_source_set_enabled(listener->keepalive, SD_EVENT_OFF);
}

int listener__open_watch(struct listener *listener, sd_event *loop,
			 struct dart_error *error)
{
	int ret;

	TAILQ_INIT(&listener->deadlines.queue);
	listener->failures = ibv_create_comp_channel(listener->device->context);
	if (!listener->failures)
		return dart_error__system(
			error, errno, "cannot open a completion channel on %s",
			device__name(listener->device));
	ret = fcntl(listener->failures->fd, F_SETFL, O_NONBLOCK) ? -errno : 0;
	if (!ret)
		ret = sd_event_add_io(loop, &listener->failure_events,
				      listener->failures->fd, EPOLLIN,
				      on_failure, listener);
	if (ret >= 0)
		ret = listener__open_keepalive(listener, loop);
	if (ret >= 0)
		ret = leases__open(&listener->deadlines, loop);
	if (ret >= 0)
		return 0;
	listener__close_watch(listener);
	return dart_error__system(error, -ret, "cannot watch queue pairs");
}

void listener__close_watch(struct listener *listener)
{
	leases__close(&listener->deadlines);
	sd_event_source_disable_unref(listener->keepalive);
	sd_event_source_disable_unref(listener->failure_events);
	ibv_destroy_comp_channel(listener->failures);
}
