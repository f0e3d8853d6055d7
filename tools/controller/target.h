/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One agent as the controller deals with it, from the first attempt to connect
 * to the last scrape:
 *
 *   away --> connecting --> fetching --> idle <--> looking --> scraping
 *    ^           |             |  ^                   |           |
 *    |           |             |  +-- table changed --+-----------+
 *    +-----------+-------------+-------- lost --------+-----------+
 */
#ifndef CONTROLLER_TARGET_H
#define CONTROLLER_TARGET_H

#include <systemd/sd-event.h>

#include "options.h"
#include "sample.h"
#include "sink.h"

/* What all agents share.  Must outlive them. */
struct agent_context {
	sd_event *event;
	struct sink *sink;
	const struct options *options;
	/* Called once per agent, never from within agent__new(). */
	void (*finished)(struct agent_context *context, int result);
};

struct agent;

/*
 * Starts to scrape.  @identity and @settings must outlive the agent.  Its
 * result, given to finished(), is 0 if as many scrapes as asked for are over;
 * -EHOSTUNREACH if none of them had values; or why nobody can go on.  Returns 0 or -errno.
 */
int agent__new(struct agent_context *context,
	       const struct sink_agent *identity,
	       const struct agent_settings *settings, struct agent **agent);
void agent__free(struct agent *agent);
const struct summary *agent__summary(const struct agent *agent);

#endif /* CONTROLLER_TARGET_H */
