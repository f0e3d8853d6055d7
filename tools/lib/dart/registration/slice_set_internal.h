/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of slices.  slice.c acts on calls of the application and on each dartd that appears, and
 * calls slice_exchange.c, which asks dartd.
 */
#ifndef DART_SLICE_SET_H
#define DART_SLICE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/random.h>
#include <libdart/registration/client.h>

#include "slice_state_internal.h"
#include "socket_watch_internal.h"

/* Between attempts, where no event tells that the next one can succeed. */
#define DART_SLICES_DELAY_MIN_MS 10
#define DART_SLICES_DELAY_MAX_MS 10000

struct dart_slices {
	int epoll, timer;
	struct dart_socket_watch watch;
	struct dart_registration_client client;
	short client_events; /* events that epoll waits for */
	bool is_connected;
	bool is_outdated; /* connected to an earlier dartd */
	struct dart_slice_state
		*asking; /* the first waiting slice, or NULL */
	struct dart_slice_list lists[SLICE_STATES]; /* by state */
	struct dart_slice_arenas arenas;
	unsigned int unregistered; /* slices that are not removed */
	bool is_armed; /* the timer runs */
	bool is_blocked; /* until it expires: dartd cannot be asked */
	unsigned int delay; /* ms, the next time */
	struct dart_random random;
};

int dart_slices__watch_fd(struct dart_slices *slices, int operation, int fd, uint32_t events,
			  struct dart_error *error);
void dart_slices__move_all(struct dart_slices *slices, enum slice_state from, enum slice_state to);
void dart_slices__set_status(struct dart_slices *slices, struct dart_slice_state *slice, int status,
			     const char *reason);
/* Frees a slice that has been removed. */
void dart_slices__drop(struct dart_slices *slices, struct dart_slice_state *slice);

void dart_slices__disconnect(struct dart_slices *slices);
/* Tells dartd to remove the entry of a removed slice, if there may be one. */
void dart_slices__leave(struct dart_slices *slices, struct dart_slice_state *slice);
/* Asks for slices until all are answered, or until it has to wait. */
void dart_slices__proceed(struct dart_slices *slices);
/* The timer has expired, or need not. */
void dart_slices__stop_delay(struct dart_slices *slices);

#endif /* DART_SLICE_SET_H */
