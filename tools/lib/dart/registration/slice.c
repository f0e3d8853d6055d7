// SPDX-License-Identifier: LGPL-2.1-or-later
/* Registers slices with each dartd that appears: see slice.h. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <libdart/private/slice_state.h>
#include <libdart/private/socket_watch.h>
#include <libdart/random.h>

#include "client.h"
#include "slice.h"

/* Between attempts, where no event tells that the next one can succeed. */
#define DELAY_MIN_MS 10
#define DELAY_MAX_MS 10000

struct dart_slices {
	int epoll, timer;
	struct dart_socket_watch watch;
	struct dart_registration_client client;
	short client_events; /* those that epoll waits for */
	bool is_connected;
	bool is_outdated; /* connected to an earlier dartd */
	struct dart_slice_state
		*asking; /* the first of those that wait, or NULL */
	struct dart_slice_list lists[SLICE_SETTLED + 1]; /* by state */
	unsigned int unregistered;
	bool is_armed; /* the timer runs */
	bool is_blocked; /* until it expires: dartd cannot be asked */
	unsigned int delay; /* ms, the next time */
	struct dart_random random;
};

static int watch_fd(struct dart_slices *slices, int operation, int fd,
		    uint32_t events, struct dart_error *error)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	if (epoll_ctl(slices->epoll, operation, fd, &event))
		return dart_error__system(error, errno, "cannot poll");
	return 0;
}

int dart_slices__new(struct dart_slices **result, const char *path,
		     struct dart_error *error)
{
	struct dart_slices *slices = calloc(1, sizeof(*slices));
	uint64_t seed = 0;
	int state, ret;

	if (!slices)
		return dart_error__no_memory(error);
	slices->client.socket = -1;
	slices->delay = DELAY_MIN_MS;
	for (state = 0; state <= SLICE_SETTLED; state++)
		TAILQ_INIT(&slices->lists[state]);
	/* Without random numbers processes repeat their attempts together. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = getpid();
	slices->random = dart_random__of(seed);

	ret = dart_socket_watch__open(&slices->watch, path, error);
	if (ret)
		goto free_slices;
	slices->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (slices->epoll < 0) {
		ret = dart_error__system(error, errno, "cannot poll");
		goto close_watch;
	}
	slices->timer =
		timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (slices->timer < 0) {
		ret = dart_error__system(error, errno, "cannot create a timer");
		goto close_epoll;
	}
	ret = watch_fd(slices, EPOLL_CTL_ADD, slices->watch.fd, EPOLLIN, error) ?:
		      watch_fd(slices, EPOLL_CTL_ADD, slices->timer, EPOLLIN,
			       error);
	if (ret)
		goto close_timer;
	*result = slices;
	return 0;

close_timer:
	close(slices->timer);
close_epoll:
	close(slices->epoll);
close_watch:
	dart_socket_watch__close(&slices->watch);
free_slices:
	free(slices);
	return ret;
}

int dart_slices__fd(const struct dart_slices *slices)
{
	return slices->epoll;
}

static void slice__move(struct dart_slices *slices,
			struct dart_slice_state *slice, enum slice_state state)
{
	TAILQ_REMOVE(&slices->lists[slice->state], slice, link);
	slice->state = state;
	TAILQ_INSERT_TAIL(&slices->lists[state], slice, link);
}

static void slices__move_all(struct dart_slices *slices, enum slice_state from,
			     enum slice_state to)
{
	struct dart_slice_state *slice;

	while ((slice = TAILQ_FIRST(&slices->lists[from])))
		slice__move(slices, slice, to);
}

static void slices__set_status(struct dart_slices *slices,
			       struct dart_slice_state *slice, int status,
			       const char *reason)
{
	slices->unregistered += !!status - !!slice->shown.status;
	dart_slice_state__set(slice, status, reason);
}

static void slices__disconnect(struct dart_slices *slices)
{
	dart_registration_client__close(&slices->client);
	slices->is_connected = false;
	slices->is_outdated = false;
	slices->asking = NULL;
}

/* Repeats the attempt after a while, longer each time. */
static void slices__delay(struct dart_slices *slices)
{
	unsigned int ms = slices->delay / 2 +
			  dart_random__below(&slices->random, slices->delay);
	const struct itimerspec when = {
		.it_value = { ms / 1000, ms % 1000 * 1000000 },
	};

	if (slices->is_armed)
		return;
	timerfd_settime(slices->timer, 0, &when, NULL);
	slices->is_armed = true;
	slices->delay *= 2;
	if (slices->delay > DELAY_MAX_MS)
		slices->delay = DELAY_MAX_MS;
}

static void slices__stop_delay(struct dart_slices *slices)
{
	static const struct itimerspec never;

	timerfd_settime(slices->timer, 0, &never, NULL);
	slices->is_armed = false;
	slices->is_blocked = false;
	slices__move_all(slices, SLICE_POSTPONED, SLICE_WAITING);
}

static bool has_listener(int ret)
{
	switch (ret) {
	case -ENOENT:
	case -ENOTDIR:
	case -ECONNREFUSED:
	case -EACCES:
	case -EPERM:
		return false; /* until the watch has an event */
	default:
		return true;
	}
}

/* No slice can be registered now: all that wait have failed with @ret. */
static void slices__failed(struct dart_slices *slices, int ret,
			   const struct dart_error *error)
{
	bool was_connected = slices->is_connected;
	struct dart_slice_state *slice;

	slices__disconnect(slices);
	TAILQ_FOREACH(slice, &slices->lists[SLICE_WAITING], link)
		slices__set_status(slices, slice, ret, error->text);
	slices->is_blocked = was_connected || has_listener(ret);
	if (slices->is_blocked)
		slices__delay(slices);
}

static int slices__connect(struct dart_slices *slices, struct dart_error *error)
{
	int ret;

	ret = dart_registration_client__open_now(&slices->client,
						 slices->watch.path, error);
	if (ret)
		return ret;
	slices->is_connected = true;
	slices->client_events = POLLOUT;
	return watch_fd(slices, EPOLL_CTL_ADD, slices->client.socket, EPOLLOUT,
			error);
}

/* The answer to the slice that asks: @ret is what dartd has said. */
static void slices__answered(struct dart_slices *slices, int ret, int fd,
			     struct dart_error *error)
{
	struct dart_slice_state *slice = slices->asking;

	slices->asking = NULL;
	if (!ret)
		ret = dart_slice_state__registered(slice, fd, error);
	if (!ret)
		slices->delay = DELAY_MIN_MS;
	/* Whatever an earlier dartd says. */
	if (slices->is_outdated) {
		slice__move(slices, slice, SLICE_WAITING);
		return;
	}
	slices__set_status(slices, slice, ret, ret ? error->text : NULL);
	/* EBUSY: an earlier dartd has not ended, or a lease. */
	slice__move(slices, slice,
		    ret == -EBUSY ? SLICE_POSTPONED : SLICE_SETTLED);
}

/* Waits for what the connection waits for. */
static int slices__wait(struct dart_slices *slices, struct dart_error *error)
{
	short events = dart_registration_client__events(&slices->client);

	if (events == slices->client_events)
		return 0;
	slices->client_events = events;
	return watch_fd(slices, EPOLL_CTL_MOD, slices->client.socket,
			events == POLLOUT ? EPOLLOUT : EPOLLIN, error);
}

/* Asks for the slice; 1: the answer has not come. */
static int slices__ask(struct dart_slices *slices,
		       struct dart_slice_state *slice, struct dart_error *error)
{
	json_t *reply = NULL;
	int ret = 0, fd;

	if (!slices->asking)
		ret = dart_registration_client__begin(
			&slices->client, slice->request, slice->fd, error);
	slices->asking = slice;
	if (ret)
		return ret;
	ret = dart_registration_client__proceed(&slices->client, &reply, &fd,
						error);
	if (ret == -EAGAIN && !reply)
		return slices__wait(slices, error) ?: 1;
	/* Without a reply the connection has failed: dartd has ended. */
	if (!reply || ret == -EUSERS) {
		json_decref(reply);
		return ret;
	}
	json_decref(reply);
	slices__answered(slices, ret, fd, error);
	return 0;
}

/* Registers slices until all are, or something has to be waited for. */
static void slices__proceed(struct dart_slices *slices)
{
	struct dart_error error;
	struct dart_slice_state *slice;
	int ret = 0;

	while (!ret && !slices->is_blocked &&
	       (slice = TAILQ_FIRST(&slices->lists[SLICE_WAITING]))) {
		if (!slices->asking && slices->is_outdated)
			slices__disconnect(slices);
		if (!slices->is_connected)
			ret = slices__connect(slices, &error);
		ret = ret ?: slices__ask(slices, slice, &error);
	}
	if (ret < 0)
		slices__failed(slices, ret, &error);
	else if (!ret)
		slices__disconnect(slices);
	if (!ret && !TAILQ_EMPTY(&slices->lists[SLICE_POSTPONED]))
		slices__delay(slices);
}

/* Another dartd has none of the slices, whatever the last one has said. */
static void slices__begin_again(struct dart_slices *slices)
{
	struct dart_slice_state *slice;

	slices->is_outdated = slices->is_connected;
	slices__move_all(slices, SLICE_SETTLED, SLICE_WAITING);
	TAILQ_FOREACH(slice, &slices->lists[SLICE_WAITING], link)
		slices__set_status(slices, slice, -EINPROGRESS, NULL);
}

/* Reads the events of the timer and of the socket's path. */
static int slices__look(struct dart_slices *slices, struct dart_error *error)
{
	uint64_t expirations;
	int event;

	event = dart_socket_watch__read(&slices->watch, error);
	if (event < 0)
		return event;
	if (event != DART_SOCKET_UNCHANGED)
		slices->delay = DELAY_MIN_MS;
	if (event != DART_SOCKET_UNCHANGED ||
	    read(slices->timer, &expirations, sizeof(expirations)) > 0)
		slices__stop_delay(slices);
	if (event == DART_SOCKET_CREATED)
		slices__begin_again(slices);
	return 0;
}

int dart_slices__process(struct dart_slices *slices, struct dart_error *error)
{
	int ret = slices__look(slices, error);

	if (ret)
		return ret;
	slices__proceed(slices);
	return slices->unregistered;
}

static void slices__drop(struct dart_slices *slices,
			 struct dart_slice_state *slice)
{
	if (slices->asking == slice)
		slices__disconnect(slices);
	slices->unregistered -= !!slice->shown.status;
	TAILQ_REMOVE(&slices->lists[slice->state], slice, link);
	dart_slice_state__free(slice);
}

void dart_slices__remove(struct dart_slices *slices, struct dart_slice *slice)
{
	slices__drop(slices, (struct dart_slice_state *)slice);
	/* The others may have waited for the answer to this one. */
	slices__proceed(slices);
}

void dart_slices__free(struct dart_slices *slices)
{
	struct dart_slice_state *slice;
	int state;

	for (state = 0; state <= SLICE_SETTLED; state++)
		while ((slice = TAILQ_FIRST(&slices->lists[state])))
			slices__drop(slices, slice);
	slices__disconnect(slices);
	close(slices->timer);
	close(slices->epoll);
	dart_socket_watch__close(&slices->watch);
	free(slices);
}

int dart_slices__add(struct dart_slices *slices, const char *name,
		     const json_t *schema, struct dart_slice **result,
		     struct dart_error *error)
{
	struct dart_slice_state *slice;
	int ret;

	ret = dart_slice_state__new(&slice, name, schema, error);
	if (ret)
		return ret;
	/* A dartd that has appeared before would be asked twice. */
	ret = slices__look(slices, error);
	if (ret) {
		dart_slice_state__free(slice);
		return ret;
	}
	TAILQ_INSERT_TAIL(&slices->lists[SLICE_WAITING], slice, link);
	slices->unregistered++;
	*result = &slice->shown;
	slices__proceed(slices);
	return 0;
}
