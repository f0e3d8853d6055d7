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
struct target_context {
	sd_event *event;
	struct sink *sink;
	const struct options *options;
	/* Called once per target, never from within target__new(). */
	void (*finished)(struct target_context *context, int result);
};

struct target;

/*
 * Starts to scrape.  @identity and @settings must outlive the agent.  Its
 * result, given to finished(), is 0 if as many scrapes as asked for are over;
 * -EHOSTUNREACH if none of them had values; or why nobody can go on.  Returns 0 or -errno.
 */
int target__new(struct target_context *context,
		const struct sink_target *identity,
		const struct target_settings *settings, struct target **target);
void target__free(struct target *target);
const struct summary *target__summary(const struct target *target);

#endif /* CONTROLLER_TARGET_H */
