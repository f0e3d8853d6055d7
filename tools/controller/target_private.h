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
#define AGENT_BACKOFF_MIN_US	100000ULL

enum agent_state {
	AGENT_AWAY,		/* until the next attempt to connect */
	AGENT_CONNECTING,
	AGENT_FETCHING,		/* the table is being READ, or will be again */
	AGENT_IDLE,		/* until the next scrape is due */
	AGENT_LOOKING,		/* the header is being READ before the values */
	AGENT_SCRAPING,		/* values and header are being READ */
	AGENT_FINISHED,
};

struct agent {
	struct agent_context *context;
	const struct sink_agent *identity;
	const struct agent_settings *settings;
	enum agent_state state;
	char said[DART_ERROR_MAX]; /* why it was lost, if that was said */

	sd_event_source *tick;		/* a scrape is due */
	sd_event_source *again;		/* connect, or fetch, again */
	sd_event_source *patience;	/* has run out */
	uint64_t backoff_us;
	struct schedule schedule;
	bool due;			/* a scrape that has not come about */

	struct dart_endpoint *endpoint;
	sd_event_source *connection;
	sd_event_source *completion;
	void *landing;
	struct fetch fetch;

	struct scrape *scrape;		/* NULL: no table yet */
	uint64_t posted_ns;		/* the batch in flight */
	uint64_t looked_ns;		/* the generation was right then */
	struct summary summary;
};

/* agent.c */

/* A line on standard error, unless a table has the terminal. */
void agent__say(const struct agent *agent, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* @delay_us from now; 0 switches the timer off. */
void agent__set_timer(sd_event_source *timer, uint64_t delay_us);
/* True if that was not done yet: a scrape is due now. */
bool agent__start_schedule(struct agent *agent);
/* Whatever was under way is over; another attempt will be made. */
void agent__lose(struct agent *agent, const char *reason);
/* There will be no other attempt. */
void agent__finish(struct agent *agent, int result);
/* If that was the last of the scrapes that were asked for. */
bool agent__finish_if_done(struct agent *agent);

/*
 * agent_read.c.  Each posts READs and returns at once; what comes back is
 * handled there, and in the end the agent is idle or lost.
 */
void agent__on_connected(struct agent *agent);
void agent__fetch_table(struct agent *agent);
void agent__start_scraping(struct agent *agent);

#endif /* CONTROLLER_TARGET_PRIVATE_H */
