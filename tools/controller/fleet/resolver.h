/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of hosts become addresses while the event loop goes on: threads ask the name services
 * (getaddrinfo(3)), as many as questions wait, up to RESOLVER_THREADS.  A name without an answer
 * keeps its thread for 10 s and more, so names that had none before wait in a line of their own,
 * and get RESOLVER_THREADS_AGAIN at most.
 */
#ifndef CONTROLLER_RESOLVER_H
#define CONTROLLER_RESOLVER_H

#define RESOLVER_THREADS 256
#define RESOLVER_THREADS_AGAIN (RESOLVER_THREADS * 3 / 4)

#include <stdbool.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

struct resolver;
struct resolution; /* in progress */

/*
 * Called by the loop, once: @numeric is an address as text, one of @count, valid until the handler
 * returns, or NULL with a sentence in @error.
 */
typedef void (*resolved_handler)(void *data, const char *numeric, unsigned int count,
				 const struct dart_error *error);

/* Returns 0 or -errno. */
int resolver__new(sd_event *event, struct resolver **resolver);
/* Waits for no name service; all resolutions are cancelled before.  NULL is allowed. */
void resolver__free(struct resolver *resolver);

/*
 * Returns 0, and calls @handler later, or -errno.  @again: @host had no address the last time.
 * Of several addresses the handler gets number @turn, counted from 0 in their order, and beyond
 * the last from the first again.
 */
int resolver__ask(struct resolver *resolver, const char *host, bool again, unsigned int turn,
		  resolved_handler handler, void *data, struct resolution **resolution);
/* The handler is not called any more.  NULL is allowed. */
void resolution__cancel(struct resolution *resolution);

/* Does @host need no name service? */
bool resolver__is_numeric(const char *host);

#endif /* CONTROLLER_RESOLVER_H */
