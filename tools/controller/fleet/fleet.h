/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All targets of a controller while it runs: they come when somebody names them and go when
 * nobody names them any more, each without the others noticing.
 *
 * A target that goes is stopped at once, and freed when its I/O thread released it, its worker is
 * done with it and none of its READs can be on the network any more.
 */
#ifndef CONTROLLER_FLEET_H
#define CONTROLLER_FLEET_H

#include <libdart/error.h>

#include "target.h"
#include "unreached.h"
#include "tools/controller/discovery/discovery.h"
#include "tools/controller/discovery/target_set.h"
#include "tools/controller/outputs/output.h"

struct fleet;

/*
 * Targets start as soon as the loop of @context runs.  The loop ends with 0 when all
 * requested scrapes are over, or with -errno; fleet__result() tells more.  @output grows with
 * the number of targets.  Returns 0, or -errno with a sentence in @error.
 */
int fleet__new(struct target_context *context, struct output *output, struct fleet **fleet,
	       struct dart_error *error);
/* After the I/O threads and the workers stopped.  NULL is allowed. */
void fleet__free(struct fleet *fleet);

/* Reads the configuration again and looks at all sources. */
void fleet__reload(struct fleet *fleet);
/*
 * Ends the loop of @context once the other members of the shard scrape the targets of this one,
 * which are scraped until then; after the hand-over time of the shard at the latest.  False, and
 * the loop goes on, if nobody can take over.  Only once.
 */
bool fleet__leave(struct fleet *fleet);
/*
 * Once all targets that this controller has or stands by for were READ or lost, after the first
 * look at all sources: from then on it can take them over from others without a pause.
 */
bool fleet__is_ready(struct fleet *fleet);
/* The first of a target that was not 0. */
int fleet__result(const struct fleet *fleet);
/*
 * After they stopped: writes summaries of the scrapes of all remaining targets to the sink, as its
 * last lines, or with @to_log to the log.
 */
void fleet__summarize(struct fleet *fleet, bool to_log);

/* To look at; they belong to the fleet. */
const struct target_set *fleet__targets(const struct fleet *fleet);
const struct discovery *fleet__discovery(const struct fleet *fleet);
struct unreached *fleet__unreached(struct fleet *fleet);

#endif /* CONTROLLER_FLEET_H */
