/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two halves of an agent share: agent.c, which connects, waits and
 * gives up, and agent_read.c, which READs.
 */
#ifndef CONTROLLER_TARGET_PRIVATE_H
#define CONTROLLER_TARGET_PRIVATE_H

#include <libdart/rdma/endpoint.h>

#include "target.h"
#include "fetch.h"
#include "schedule.h"
#include "scraper.h"

/* From the first loss to the next attempt. */
#define TARGET_BACKOFF_MIN_US	100000ULL

enum target_state {
	TARGET_DISCONNECTED,		/* until the next attempt to connect */
	TARGET_CONNECTING,
	TARGET_FETCHING,		/* the table is being READ, or will be again */
	TARGET_IDLE,		/* until the next scrape is due */
	TARGET_CHECKING,		/* the header is being READ before the values */
	TARGET_SCRAPING,		/* values and header are being READ */
	TARGET_FINISHED,
};

struct target {
	struct target_context *context;
	const struct sink_target *identity;
	const struct target_settings *settings;
	enum target_state state;
	char last_error[DART_ERROR_MAX]; /* why it was lost, if that was said */

	sd_event_source *scrape_timer;		/* a scrape is due */
	sd_event_source *retry_timer;		/* connect, or fetch, again */
	sd_event_source *connect_timeout;	/* has run out */
	uint64_t backoff_us;
	struct schedule schedule;
	bool scrape_pending;			/* a scrape that has not come about */

	struct dart_endpoint *endpoint;
	sd_event_source *connection;
	sd_event_source *completion;
	void *landing;
	struct fetch fetch;

	struct scraper *scraper;		/* NULL: no table yet */
	uint64_t posted_ns;		/* the batch in flight */
	uint64_t checked_ns;		/* the generation was right then */
	struct summary summary;
};

/* agent.c */

/* A line on standard error, unless a table has the terminal. */
void target__log(const struct target *target, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* @delay_us from now; 0 switches the timer off. */
void target__set_timer(sd_event_source *timer, uint64_t delay_us);
/* True if that was not done yet: a scrape is due now. */
bool target__start_schedule(struct target *target);
/* Whatever was under way is over; another attempt will be made. */
void target__lose(struct target *target, const char *reason);
/* There will be no other attempt. */
void target__finish(struct target *target, int result);
/* If that was the last of the scrapes that were asked for. */
bool target__finish_if_done(struct target *target);

/*
 * agent_read.c.  Each posts READs and returns at once; what comes back is
 * handled there, and in the end the agent is idle or lost.
 */
void target__on_connected(struct target *target);
void target__fetch_table(struct target *target);
void target__start_scraping(struct target *target);

#endif /* CONTROLLER_TARGET_PRIVATE_H */
