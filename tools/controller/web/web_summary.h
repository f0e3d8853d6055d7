/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Summarises a host in a few numbers, from the metrics that node_exporter names: the share of CPU
 * time that is not idle, the greatest share of time in which tasks waited for CPU, memory or I/O
 * (PSI), and errors and drops per second of all counters with such names.  NaN: the host lacks
 * these metrics.
 */
#ifndef CONTROLLER_WEB_SUMMARY_H
#define CONTROLLER_WEB_SUMMARY_H

#include "tracker.h"

#define WEB_SUMMARY_PAST 60

struct web_summary_values {
	double cpu, pressure, errors;
};

struct web_summary_part;

/* Zeros before the first scrape. */
struct web_summary {
	struct metric_plan *plan; /* held */
	struct web_summary_part *parts;
	size_t part_count;
	struct web_summary_values now;
	/* CPU of earlier summaries.  The newest is at (past_count - 1) % WEB_SUMMARY_PAST. */
	float past[WEB_SUMMARY_PAST];
	uint64_t past_count;
};

/* Takes a scrape.  Returns 0 or -ENOMEM. */
int web_summary__take(struct web_summary *summary, struct metric_plan *plan,
		      const struct metric_point *points);
void web_summary__clear(struct web_summary *summary);

#endif /* CONTROLLER_WEB_SUMMARY_H */
