/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the two halves of a target: target.c connects, waits and gives up,
 * target_read.c READs.
 */
#ifndef CONTROLLER_TARGET_PRIVATE_H
#define CONTROLLER_TARGET_PRIVATE_H

#include <libdart/rdma/endpoint.h>

#include "decode/decoder.h"
#include "fetch.h"
#include "flow.h"
#include "io/timers.h"
#include "schedule.h"
#include "table_age.h"
#include "target.h"

/* From the first loss of a connection to the next attempt. */
#define TARGET_BACKOFF_MIN_US	100000ULL

enum target_state {
	TARGET_DISCONNECTED,	/* until the next attempt to connect */
	TARGET_RESOLVING,	/* its name */
	TARGET_CONNECTING,
	TARGET_FETCHING,	/* the table is being READ, or will be again */
	TARGET_IDLE,		/* until the next scrape, or the table, is due */
	TARGET_CHECKING,	/* the header is being READ before the values */
	TARGET_SCRAPING,	/* values and header are being READ */
	TARGET_FINISHED,
};

struct target {
	struct target_context *context;
	const struct target_settings *settings;
	enum target_state state;
	struct dart_error last_error;	/* printed last; empty once connected */

	struct timer scrape_timer;	/* the next scrape is due */
	struct timer retry_timer;	/* connect again, or fetch the table */
	struct timer connect_timeout;
	uint64_t backoff_us;
	struct schedule schedule;
	bool scrape_pending;		/* due, but without values so far */

	struct resolution *resolution;
	struct dart_endpoint *endpoint;
	struct flow flow;		/* of the endpoint, and of those before it */
	sd_event_source *connection;
	sd_event_source *completion;
	void *landing;			/* of the table */
	struct fetch fetch;

	struct ring *ring;		/* NULL: no table yet */
	struct dart_landing *ring_landing;
	struct scraper *scraper;	/* the ring's, or NULL */
	struct decoder decoder;
	uint64_t posted_ns;		/* READs that are in flight or have landed */
	bool is_counted;		/* in the capacity */
	struct table_age age;		/* of the scraper's table */
	struct summary summary;
};

/* target.c */

/* Prints a line to standard error, unless the sink owns the terminal. */
void target__log(const struct target *target, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* True if the schedule had not started: a scrape is due now. */
bool target__start_schedule(struct target *target);
/* Cancels what is in progress, disconnects and schedules a retry. */
void target__lose(struct target *target, const char *reason, ...)
	__attribute__((format(printf, 2, 3)));
/* Has a first table, or none yet, of @bytes for each scrape, or 0: see capacity.h. */
void target__count(struct target *target, uint64_t bytes);
/* Of the scraped table; workers may still have scrapes of it. */
void target__drop_table(struct target *target);
/* Stops for good and reports @result. */
void target__finish(struct target *target, int result);
/* Finishes after the last requested scrape; true if so. */
bool target__finish_if_done(struct target *target);

/*
 * target_read.c.  Each posts READs and returns at once; their completions are
 * handled there, and leave the target idle or lost.
 */
void target__on_connected(struct target *target);
void target__fetch_table(struct target *target);
void target__start_scraping(struct target *target);

#endif /* CONTROLLER_TARGET_PRIVATE_H */
