// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watches connections: serves peers with messages in turn, updates mirrors, ends connections whose
 * queue pair has failed or whose time is up, and finds peers that do not answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/base/log.h"
#include "agent/base/loop_timer.h"
#include "listener.h"

#define US_PER_S UINT64_C(1000000)

/* Serves the connection again after the other connections. */
static void listener__give_turn(struct listener *listener, struct connection *connection)
{
	if (connection->has_turn)
		return;
	if (TAILQ_EMPTY(&listener->turns))
		eventfd_write(listener->turns_fd, 1);
	connection->has_turn = true;
	TAILQ_INSERT_TAIL(&listener->turns, connection, turn_link);
}

void listener__drop(struct listener *listener, struct connection *connection)
{
	TAILQ_REMOVE(&listener->connections, connection, link);
	listener__end_wait(listener, connection);
	if (connection->has_deadline)
		lease__cancel(&listener->deadlines, &connection->lease);
	if (connection->has_turn)
		TAILQ_REMOVE(&listener->turns, connection, turn_link);
	if (connection->established) {
		count__add(&connection->counts->connected, -1);
		listener__keep_alive(listener);
		changes__announce(listener->changes, "disconnected",
				  connection->kind->name, connection->peer);
	} else {
		count__add(&listener->counts->unfinished, 1);
	}
	connection__free(connection);
}

void listener__end(struct listener *listener, struct connection *connection, const char *reason)
{
	log__peer_info("%s %s %s", connection->kind->name, connection->peer, reason);
	listener__drop(listener, connection);
}

static void on_deadline(struct lease *lease)
{
	struct connection *connection = lease__owner(lease, struct connection);
	const char *reason = NULL;

	connection->has_deadline = false;
	/* dartd that is late may have sent messages just now. */
	if (!lease__is_late(lease))
		reason = message_qp__expire(&connection->message_qp);
	if (reason)
		listener__end(connection->listener, connection, reason);
	else if (connection__is_busy(connection))
		/* The peer took all messages so far: dartd was too late with the next one. */
		listener__give_turn(connection->listener, connection);
}

/*
 * Leases until a half-open connection ends, 11 s: on a busy network the messages of the RDMA
 * CM are repeated meanwhile.
 */
#define PATIENCE 3

static void on_no_patience(struct lease *lease)
{
	struct patience *patience = lease__owner(lease, struct patience);
	struct connection *connection = patience->connection;
	struct listener *listener = connection->listener;

	/* If this lease is late, an event that the peer caused in time may still be unread. */
	if (!lease__is_late(lease) && patience->leases == PATIENCE) {
		patience->leases = 0;
		listener__end(listener, connection, "did not establish its connection in time");
		return;
	}
	if (patience->leases < PATIENCE)
		patience->leases++;
	lease__start(&listener->deadlines, lease, on_no_patience);
}

void listener__wait_for_peer(struct listener *listener, struct connection *connection)
{
	connection->listener = listener;
	connection->patience = (struct patience){ .connection = connection, .leases = 1 };
	lease__start(&listener->deadlines, &connection->patience.lease, on_no_patience);
}

void listener__end_wait(struct listener *listener, struct connection *connection)
{
	if (connection->patience.leases)
		lease__cancel(&listener->deadlines, &connection->patience.lease);
	connection->patience.leases = 0;
}

/* An answer takes at most as long as a lease. */
static void listener__set_deadline(struct listener *listener, struct connection *connection)
{
	const uint32_t request = connection->message_qp.requests;
	bool is_busy = connection__is_busy(connection);

	if (connection->has_deadline && (!is_busy || connection->deadline_request != request)) {
		lease__cancel(&listener->deadlines, &connection->lease);
		connection->has_deadline = false;
	}
	if (connection->has_deadline || !is_busy)
		return;
	lease__start(&listener->deadlines, &connection->lease, on_deadline);
	connection->listener = listener;
	connection->has_deadline = true;
	connection->deadline_request = request;
}

/* One timer for all: a mirror waits as long as the one that waits the shortest, or twice. */
void listener__update(struct listener *listener, struct connection *connection)
{
	const int64_t wait_us = connection__update(connection);
	int enabled = SD_EVENT_OFF;

	if (wait_us < 0)
		log__peer_warning("%s %s gets no more updates of the table: %s",
				  connection->kind->name, connection->peer, strerror(-wait_us));
	if (wait_us <= 0)
		return;
	sd_event_source_get_enabled(listener->updates, &enabled);
	if (enabled == SD_EVENT_OFF)
		loop_timer__start(listener->updates, wait_us);
}

static int on_updates(sd_event_source *source, uint64_t time, void *userdata)
{
	struct listener *listener = userdata;
	struct connection *connection;

	TAILQ_FOREACH(connection, &listener->connections, link)
		listener__update(listener, connection);
	return 0;
}

static void on_table_changed(struct table_watcher *watcher)
{
	struct connection *connection =
		(struct connection *)((char *)watcher -
				      offsetof(struct connection, mirror.watcher));

	listener__update(connection->listener, connection);
}

static void on_message(struct peer_messenger *messenger)
{
	struct connection *connection = messenger->owner;

	listener__give_turn(connection->listener, connection);
}

void listener__follow_table(struct connection *connection, const struct peer_offer *offer)
{
	if (offer->messenger) {
		offer->messenger->wake = on_message;
		offer->messenger->owner = connection;
	}
	if (offer->mirrors)
		mirrors__join(offer->mirrors, &connection->mirror, &offer->mirror,
			      on_table_changed);
}

static void listener__serve(struct listener *listener, struct connection *connection)
{
	bool has_more;
	const char *reason = connection__serve(connection, &has_more);

	if (reason) {
		listener__end(listener, connection, reason);
		return;
	}
	listener__set_deadline(listener, connection);
	listener__update(listener, connection);
	if (has_more)
		listener__give_turn(listener, connection);
}

/*
 * One connection for each call, so that other sources of the loop take turns.  Connections that
 * waited may have ended meanwhile.
 */
static int on_turn(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct listener *listener = userdata;
	struct connection *connection = TAILQ_FIRST(&listener->turns);
	eventfd_t count;

	if (connection) {
		TAILQ_REMOVE(&listener->turns, connection, turn_link);
		connection->has_turn = false;
		listener__serve(listener, connection);
	}
	if (TAILQ_EMPTY(&listener->turns))
		eventfd_read(fd, &count);
	return 0;
}

/* One event for each call, so that other sources of the loop take turns. */
static int on_completion(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct listener *listener = userdata;
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(listener->completions, &cq, &context))
		return 0;
	ibv_ack_cq_events(cq, 1);
	listener__serve(listener, context);
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
	return loop_timer__start(source, listener->keepalive_s * US_PER_S);
}

void listener__keep_alive(const struct listener *listener)
{
	int enabled = SD_EVENT_OFF;

	if (!listener->keepalive)
		return;
	if (!has_established(listener)) {
		sd_event_source_set_enabled(listener->keepalive, SD_EVENT_OFF);
		return;
	}
	sd_event_source_get_enabled(listener->keepalive, &enabled);
	if (enabled != SD_EVENT_OFF)
		return;
	loop_timer__start(listener->keepalive, listener->keepalive_s * US_PER_S);
}

/* A deferred source would come before all others: it has always waited the longest. */
static int listener__open_turns(struct listener *listener, sd_event *loop)
{
	listener->turns_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (listener->turns_fd < 0)
		return -errno;
	return sd_event_add_io(loop, &listener->next_turn, listener->turns_fd,
			       EPOLLIN, on_turn, listener);
}

static int listener__open_keepalive(struct listener *listener, sd_event *loop)
{
	int ret;

	if (!listener->keepalive_s)
		return 0;
	/* It may be late: wake-ups of a host coincide. */
	ret = sd_event_add_time_relative(loop, &listener->keepalive, CLOCK_BOOTTIME,
					 listener->keepalive_s * US_PER_S,
					 listener->keepalive_slack_s * US_PER_S,
					 on_keepalive, listener);
	if (ret < 0)
		return ret;
	return sd_event_source_set_enabled(listener->keepalive, SD_EVENT_OFF);
}

static int listener__open_updates(struct listener *listener, sd_event *loop)
{
	int ret = loop_timer__add(loop, &listener->updates, CLOCK_BOOTTIME, on_updates, listener);

	if (ret < 0)
		return ret;
	/* The accuracy is 250 ms otherwise. */
	return sd_event_source_set_time_accuracy(listener->updates, 1);
}

int listener__open_watch(struct listener *listener, sd_event *loop, struct dart_error *error)
{
	int ret;

	TAILQ_INIT(&listener->deadlines.queue);
	TAILQ_INIT(&listener->turns);
	listener->turns_fd = -1;
	listener->completions = ibv_create_comp_channel(listener->device->context);
	if (!listener->completions)
		return dart_error__system(error, errno, "cannot open a completion channel on %s",
					  device__name(listener->device));
	ret = fcntl(listener->completions->fd, F_SETFL, O_NONBLOCK) ? -errno : 0;
	if (!ret)
		ret = sd_event_add_io(loop, &listener->completion_events, listener->completions->fd,
				      EPOLLIN, on_completion, listener);
	if (ret >= 0)
		ret = listener__open_turns(listener, loop);
	if (ret >= 0)
		ret = listener__open_keepalive(listener, loop);
	if (ret >= 0)
		ret = listener__open_updates(listener, loop);
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
	sd_event_source_disable_unref(listener->updates);
	sd_event_source_disable_unref(listener->next_turn);
	if (listener->turns_fd >= 0)
		close(listener->turns_fd);
	sd_event_source_disable_unref(listener->completion_events);
	ibv_destroy_comp_channel(listener->completions);
}
