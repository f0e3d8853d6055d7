// SPDX-License-Identifier: GPL-2.0-only
/* Ends connections whose queue pair has failed, and finds peers that do not answer. */
#include <errno.h>
#include <fcntl.h>

#include "listener.h"

#define US_PER_S UINT64_C(1000000)

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
	reason = peer_qp__failure(&connection->peer_qp);
	if (reason)
		listener__end(listener, connection, reason);
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
	/* One that fails is about to end. */
	TAILQ_FOREACH(connection, &listener->connections, link)
		if (connection->established)
			peer_qp__probe(&connection->peer_qp);
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
		return 0;
	listener__close_watch(listener);
	return dart_error__system(error, -ret, "cannot watch queue pairs");
}

void listener__close_watch(struct listener *listener)
{
	sd_event_source_disable_unref(listener->keepalive);
	sd_event_source_disable_unref(listener->failure_events);
	ibv_destroy_comp_channel(listener->failures);
}
