/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verdict on all scrapes of a farm by one controller, from the lines of its JSON.
 * The test stops and starts some hosts again; the verdict counts scrapes of the other
 * hosts separately, by phases of the test.
 *
 * While it takes lines it prints, as lines of JSON:
 *
 *   {"epoch": 2, "hosts": 21, "first_ns": T, "landed_ns": T}
 *		all hosts in this epoch were scraped in it, the last at landed_ns
 *   {"phase": 1, "round": 3, "landed_ns": T}
 *		the others were scraped three times in this phase, each
 *   {"lost": 21}
 *		the controller lost all stopped hosts
 *   {"fault": "host 3: ..."}
 *		a value, or a scrape, breaks the rule; the first FARM_FAULTS_TOLD ones
 *
 * Times are CLOCK_MONOTONIC of the controller.  What the farm had written before a phase
 * began is in each scrape that starts in it: older values are a fault.
 */
#ifndef FARM_VERDICT_H
#define FARM_VERDICT_H

#include <jansson.h>
#include <stdio.h>

#include "farm_values.h"

#define FARM_FAULTS_TOLD 10
#define FARM_PHASES_MAX	8

struct farm_plan {
	struct farm_shape shape;
	uint32_t hosts;
	uint16_t first_port;
	uint64_t interval_ns;	/* between scrapes */
	uint64_t update;	/* of the farm when the verdict begins; 0: none told */
	/* The hosts that the test stops. */
	uint32_t first_stopped, stopped;
};

struct farm_verdict;

/* NULL if out of memory.  Tells to @out. */
struct farm_verdict *farm_verdict__new(const struct farm_plan *plan, FILE *out);
void farm_verdict__free(struct farm_verdict *verdict);

/* Takes a line of the controller. */
void farm_verdict__take(struct farm_verdict *verdict, const char *line, size_t length);

/*
 * Scrapes that landed at @now_ns or later belong to the next phase.  Before, the farm told
 * that it was writing @update: then each value is of the previous update, at least.
 */
void farm_verdict__next_phase(struct farm_verdict *verdict, uint64_t now_ns, uint64_t update);

/*
 * The verdict, a new reference; NULL if out of memory:
 *
 *   {"faults": 0, "hosts": 64, "samples": 640, "values": 122880, "rows": 40960, "torn": 1,
 *    "lag": 1, "lost": 0, "phases": [{"samples": 64, "others": 43, "missed": 0, "lost": 0,
 *    "extra": 0}, ...],
 *    "others": {"hosts": 43, "scrapes": 430, "failed": 0, "missed": 0, "discarded": 0,
 *    "dropped": 0}, "stopped": {...}}
 *
 * hosts: that were scraped.  lag: the updates by which the oldest row was older than the
 * newest one seen before.  Phases count the scrapes of all hosts and, for the other hosts,
 * scrapes, missed scrapes, lost connections, and scrapes with the extra entry.  others,
 * stopped: the sums of the controller's own summaries, and how many hosts have one.
 */
json_t *farm_verdict__report(const struct farm_verdict *verdict);

#endif /* FARM_VERDICT_H */
