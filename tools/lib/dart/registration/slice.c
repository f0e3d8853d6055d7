// SPDX-License-Identifier: LGPL-2.1-or-later
/* Registers slices with each dartd that appears: see slice.h. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <libdart/registration/slice_set_internal.h>

#include "slice.h"

int dart_slices__new(struct dart_slices **result, const char *path, struct dart_error *error)
{
	struct dart_slices *slices = calloc(1, sizeof(*slices));
	uint64_t seed = 0;
	int state, ret;

	if (!slices)
		return dart_error__no_memory(error);
	slices->client.socket = -1;
	slices->delay = DART_SLICES_DELAY_MIN_MS;
	TAILQ_INIT(&slices->arenas);
	for (state = 0; state < SLICE_STATES; state++)
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
	slices->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (slices->timer < 0) {
		ret = dart_error__system(error, errno, "cannot create a timer");
		goto close_epoll;
	}
	ret = dart_slices__watch_fd(slices, EPOLL_CTL_ADD, slices->watch.fd, EPOLLIN, error) ?:
		      dart_slices__watch_fd(slices, EPOLL_CTL_ADD, slices->timer, EPOLLIN, error);
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

/*
 * Another dartd knows none of the slices, whatever the last one said, and no controller READs the
 * memory that the last one exposed.
 */
static void slices__begin_again(struct dart_slices *slices)
{
	struct dart_slice_state *slice, *next;
	int state;

	for (state = 0; state < SLICE_STATES; state++)
		for (slice = TAILQ_FIRST(&slices->lists[state]); slice; slice = next) {
			next = TAILQ_NEXT(slice, link);
			slice->is_listed = false;
			if (slice->is_removed)
				dart_slices__drop(slices, slice);
		}
	slices->is_outdated = slices->is_connected;
	dart_slices__move_all(slices, SLICE_SETTLED, SLICE_WAITING);
	TAILQ_FOREACH(slice, &slices->lists[SLICE_WAITING], link)
		dart_slices__set_status(slices, slice, -EINPROGRESS, NULL);
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
		slices->delay = DART_SLICES_DELAY_MIN_MS;
	if (event != DART_SOCKET_UNCHANGED ||
	    read(slices->timer, &expirations, sizeof(expirations)) > 0)
		dart_slices__stop_delay(slices);
	if (event == DART_SOCKET_CREATED)
		slices__begin_again(slices);
	return 0;
}

int dart_slices__process(struct dart_slices *slices, struct dart_error *error)
{
	int ret = slices__look(slices, error);

	if (ret)
		return ret;
	dart_slices__proceed(slices);
	return slices->unregistered;
}

/* Unmaps an arena; its slices, which have been removed, end with it. */
static void slices__free_arena(struct dart_slices *slices, struct dart_slice_arena *arena)
{
	struct dart_slice_state *slice;

	while ((slice = TAILQ_FIRST(&arena->members)))
		dart_slices__drop(slices, slice);
	dart_slice_arena__free(&slices->arenas, arena);
}

void dart_slices__remove(struct dart_slices *slices, struct dart_slice *shown)
{
	struct dart_slice_state *slice = (struct dart_slice_state *)shown;

	slices->unregistered -= !!slice->shown.status;
	slice->is_removed = true;
	/* With the arena's descriptor and memory dartd removes its entries. */
	if (!--slice->arena->slices)
		slices__free_arena(slices, slice->arena);
	else if (slice != slices->asking)
		dart_slices__leave(slices, slice);
	/* The others may have waited for the answer to this one. */
	dart_slices__proceed(slices);
}

void dart_slices__free(struct dart_slices *slices)
{
	struct dart_slice_arena *arena;

	while ((arena = TAILQ_FIRST(&slices->arenas)))
		slices__free_arena(slices, arena);
	dart_slices__disconnect(slices);
	close(slices->timer);
	close(slices->epoll);
	dart_socket_watch__close(&slices->watch);
	free(slices);
}

/* Bytes of removed slices that controllers do not READ any more can be used. */
static void slices__end_leases(struct dart_slices *slices)
{
	struct dart_slice_state *slice;

	while ((slice = TAILQ_FIRST(&slices->lists[SLICE_RETIRED])) &&
	       dart_slice_state__is_due(slice))
		dart_slices__drop(slices, slice);
}

int dart_slices__add(struct dart_slices *slices, const char *name, const json_t *schema,
		     struct dart_slice **result, struct dart_error *error)
{
	struct dart_slice_state *slice;
	int ret;

	/* Otherwise a dartd that appeared before this call would be asked twice. */
	ret = slices__look(slices, error);
	if (ret)
		return ret;
	slices__end_leases(slices);
	ret = dart_slice_state__new(&slice, &slices->arenas, name, schema, error);
	if (ret)
		return ret;
	TAILQ_INSERT_TAIL(&slices->lists[SLICE_WAITING], slice, link);
	slices->unregistered++;
	*result = &slice->shown;
	dart_slices__proceed(slices);
	return 0;
}
