/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A target: one agent to connect to and scrape, from the first attempt to
 * connect to the last scrape:
 *
 *   disconnected --> connecting --> fetching <--> idle <--> checking --> scraping
 *    ^                   |             |           ^            |            |
 *    |                   |             |           +------------+------------+
 *    +-------------------+-------------+-------- lost ----------+------------+
 *
 * A name is resolved before each attempt to connect.
 * Values are READ whenever they are due; a table that has changed is fetched between
 * scrapes, at a bounded rate (see table_age.h).
 */
#ifndef CONTROLLER_TARGET_H
#define CONTROLLER_TARGET_H

#include <systemd/sd-event.h>

#include "capacity.h"
#include "decode/sink.h"
#include "decode/workers.h"
#include "options.h"
#include "outputs/output.h"
#include "resolver.h"

/* Shared by all targets; must outlive them. */
struct target_context {
	sd_event *event;
	struct timers *timers;
	struct resolver *resolver;
	struct flow_control *flow_control;
	struct capacity capacity;	/* of targets that have been READ or lost */
	struct workers *workers;
	struct sink *sink;
	struct output *log;	/* messages: standard error */
	const struct options *options;
	/* Called once per target, never from within target__new(). */
	void (*finished)(struct target_context *context, int result);
};

struct target;

/*
 * Starts to scrape.  @settings must outlive the target.  finished() gets 0 if
 * all requested scrapes are over, -EHOSTUNREACH if none of them had values, or
 * an error that ends the program.  Returns 0 or -errno.
 */
int target__new(struct target_context *context,
		const struct target_settings *settings, struct target **target);
/* Once the workers have stopped: they have scrapes of it until then. */
void target__free(struct target *target);
const struct summary *target__summary(const struct target *target);

#endif /* CONTROLLER_TARGET_H */
