// SPDX-License-Identifier: LGPL-2.1-or-later
/* Asks dartd for the slices of a set, one after the other, without blocking. */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "slice_set_internal.h"

int dart_slices__watch_fd(struct dart_slices *slices, int operation, int fd,
			  uint32_t events, struct dart_error *error)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	if (epoll_ctl(slices->epoll, operation, fd, &event))
		return dart_error__system(error, errno, "cannot poll");
	return 0;
}

static void dart_slices__move(struct dart_slices *slices, struct dart_slice_state *slice,
			      enum slice_state state)
{
	TAILQ_REMOVE(&slices->lists[slice->state], slice, link);
	slice->state = state;
	TAILQ_INSERT_TAIL(&slices->lists[state], slice, link);
}

void dart_slices__move_all(struct dart_slices *slices, enum slice_state from, enum slice_state to)
{
	struct dart_slice_state *slice;

	while ((slice = TAILQ_FIRST(&slices->lists[from])))
		dart_slices__move(slices, slice, to);
}

void dart_slices__set_status(struct dart_slices *slices, struct dart_slice_state *slice, int status,
			     const char *reason)
{
	if (slice->is_removed)
		return;
	slices->unregistered += !!status - !!slice->shown.status;
	dart_slice_state__set(slice, status, reason);
}

void dart_slices__drop(struct dart_slices *slices, struct dart_slice_state *slice)
{
	if (slices->asking == slice)
		dart_slices__disconnect(slices);
	TAILQ_REMOVE(&slices->lists[slice->state], slice, link);
	dart_slice_state__free(slice);
}

void dart_slices__leave(struct dart_slices *slices, struct dart_slice_state *slice)
{
	/* In an arena that dartd did not lend there is no entry. */
	if (!slice->is_listed || slice->arena->fd < 0)
		dart_slices__drop(slices, slice);
	else
		dart_slices__move(slices, slice,
				  dart_slice_state__leave(slice) ? SLICE_SETTLED : SLICE_WAITING);
}

void dart_slices__disconnect(struct dart_slices *slices)
{
	dart_registration_client__close(&slices->client);
	slices->is_connected = false;
	slices->is_outdated = false;
	slices->asking = NULL;
}

/* Repeats the attempt after a while, longer each time. */
static void slices__delay(struct dart_slices *slices)
{
	unsigned int ms = slices->delay / 2 + dart_random__below(&slices->random, slices->delay);
	const struct itimerspec when = {
		.it_value = { ms / 1000, ms % 1000 * 1000000 },
	};

	if (slices->is_armed)
		return;
	timerfd_settime(slices->timer, 0, &when, NULL);
	slices->is_armed = true;
	slices->delay *= 2;
	if (slices->delay > DART_SLICES_DELAY_MAX_MS)
		slices->delay = DART_SLICES_DELAY_MAX_MS;
}

void dart_slices__stop_delay(struct dart_slices *slices)
{
	static const struct itimerspec never;

	timerfd_settime(slices->timer, 0, &never, NULL);
	slices->is_armed = false;
	slices->is_blocked = false;
	dart_slices__move_all(slices, SLICE_POSTPONED, SLICE_WAITING);
}

static bool has_listener(int ret)
{
	switch (ret) {
	case -ENOENT:
	case -ENOTDIR:
	case -ECONNREFUSED:
	case -EACCES:
	case -EPERM:
		return false; /* until the watch reports an event */
	default:
		return true;
	}
}

/* No slice can be registered now: all waiting slices fail with @ret. */
static void slices__failed(struct dart_slices *slices, int ret, const struct dart_error *error)
{
	bool was_connected = slices->is_connected;
	struct dart_slice_state *slice;

	dart_slices__disconnect(slices);
	TAILQ_FOREACH(slice, &slices->lists[SLICE_WAITING], link)
		dart_slices__set_status(slices, slice, ret, error->text);
	slices->is_blocked = was_connected || has_listener(ret);
	if (slices->is_blocked)
		slices__delay(slices);
}

static int slices__connect(struct dart_slices *slices, struct dart_error *error)
{
	int ret;

	ret = dart_registration_client__open_now(&slices->client, slices->watch.path, error);
	if (ret)
		return ret;
	slices->is_connected = true;
	slices->client_events = POLLOUT;
	return dart_slices__watch_fd(slices, EPOLL_CTL_ADD, slices->client.socket, EPOLLOUT, error);
}

/* The answer to the request that dartd removes @slice. */
static void slices__left(struct dart_slices *slices, struct dart_slice_state *slice, int ret,
			 const json_t *reply)
{
	if (ret && ret != -ENOENT) {
		/* EBUSY can end.  After another error its bytes stay with the entry. */
		dart_slices__move(slices, slice, ret == -EBUSY ? SLICE_POSTPONED : SLICE_SETTLED);
		return;
	}
	dart_slice_state__retire(slice, reply);
	dart_slices__move(slices, slice, SLICE_RETIRED);
}

/* Takes dartd's answer about the slice that asks: @ret is its result. */
static void slices__answered(struct dart_slices *slices, int ret, int fd,
			     const json_t *reply, struct dart_error *error)
{
	struct dart_slice_state *slice = slices->asking;

	slices->asking = NULL;
	if (slice->is_leaving) {
		slices__left(slices, slice, ret, reply);
		return;
	}
	if (!ret)
		ret = dart_slice_state__registered(slice, fd, error);
	if (!ret)
		slices->delay = DART_SLICES_DELAY_MIN_MS;
	/* Whatever an earlier dartd says. */
	slice->is_listed = !ret && !slices->is_outdated;
	if (slice->is_removed) {
		dart_slices__leave(slices, slice);
		return;
	}
	if (slices->is_outdated) {
		dart_slices__move(slices, slice, SLICE_WAITING);
		return;
	}
	dart_slices__set_status(slices, slice, ret, ret ? error->text : NULL);
	/* EBUSY: an earlier dartd has not ended, or a lease. */
	dart_slices__move(slices, slice, ret == -EBUSY ? SLICE_POSTPONED : SLICE_SETTLED);
}

/* Waits for the events of the connection. */
static int slices__wait(struct dart_slices *slices, struct dart_error *error)
{
	short events = dart_registration_client__events(&slices->client);

	if (events == slices->client_events)
		return 0;
	slices->client_events = events;
	return dart_slices__watch_fd(slices, EPOLL_CTL_MOD, slices->client.socket,
				     events == POLLOUT ? EPOLLOUT : EPOLLIN, error);
}

/* Begins to ask for the slice. */
static int slices__begin(struct dart_slices *slices, struct dart_slice_state *slice,
			 struct dart_error *error)
{
	const json_t *request = dart_slice_state__request(slice);
	int ret;

	slices->asking = slice;
	if (!request)
		return dart_error__no_memory(error);
	ret = dart_registration_client__begin(&slices->client, request, slice->arena->fd, error);
	if (!ret)
		slice->is_listed = true;
	return ret;
}

/* Asks for the slice; 1: the answer has not come. */
static int slices__ask(struct dart_slices *slices,
		       struct dart_slice_state *slice, struct dart_error *error)
{
	json_t *reply = NULL;
	int ret = 0, fd;

	if (!slices->asking)
		ret = slices__begin(slices, slice, error);
	if (ret)
		return ret;
	ret = dart_registration_client__proceed(&slices->client, &reply, &fd, error);
	if (ret == -EAGAIN && !reply)
		return slices__wait(slices, error) ?: 1;
	/* Without a reply the connection has failed: dartd has ended. */
	if (!reply || ret == -EUSERS) {
		json_decref(reply);
		return ret;
	}
	slices__answered(slices, ret, fd, reply, error);
	json_decref(reply);
	return 0;
}

/* Returns the slice that dartd is being asked for, or the next one. */
static struct dart_slice_state *slices__next(struct dart_slices *slices)
{
	struct dart_slice_list *waiting = &slices->lists[SLICE_WAITING];
	struct dart_slice_state *slice;

	/* Slices that were removed while the connection that asked for them failed. */
	while ((slice = TAILQ_FIRST(waiting)) && slice->is_removed &&
	       !slice->is_leaving && slice != slices->asking)
		dart_slices__leave(slices, slice);
	return slice;
}

void dart_slices__proceed(struct dart_slices *slices)
{
	struct dart_error error;
	struct dart_slice_state *slice;
	int ret = 0;

	while (!ret && !slices->is_blocked && (slice = slices__next(slices))) {
		if (!slices->asking && slices->is_outdated)
			dart_slices__disconnect(slices);
		if (!slices->is_connected)
			ret = slices__connect(slices, &error);
		ret = ret ?: slices__ask(slices, slice, &error);
	}
	if (ret < 0)
		slices__failed(slices, ret, &error);
	else if (!ret)
		dart_slices__disconnect(slices);
	if (!ret && !TAILQ_EMPTY(&slices->lists[SLICE_POSTPONED]))
		slices__delay(slices);
}
