/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The coverage of the host: the followers' tallies, the probes, the maps and the sources as one
 * figure for each kind.  It is computed at the end of a round of the event loop in which something
 * changed, in time that does not depend on the number of objects, and written to the entry "dartd".
 *
 * Each follower of a kind follows all of its objects for one source.  An object counts as served if
 * all of them serve it: for each reason the figure is the number of the follower that misses most
 * for it.
 */
#ifndef COVERAGE_REPORT_H
#define COVERAGE_REPORT_H

#include <jansson.h>

#include "agent/base/counts.h"
#include "agent/base/coverage.h"
#include "agent/base/request.h"
#include "agent/follow/follower.h"
#include "agent/probe/probe.h"
#include "agent/registration/registrations.h"
#include "census.h"

struct coverage_report {
	struct coverage_watch watch;
	struct coverage_counts *counts;	/* of all kinds, in the entry "dartd" */
	struct followers *followers;
	struct probes *probes;
	struct registrations *registrations;
	struct census census;
};

/* From then on the rooms touch @report->watch.  All arguments outlive it. */
int coverage_report__open(struct coverage_report *report, sd_event *loop,
			  struct coverage_counts *counts, struct followers *followers,
			  struct probes *probes, struct registrations *registrations,
			  struct dart_error *error);
void coverage_report__close(struct coverage_report *report);

/* Counts all objects now. */
void coverage_report__update(struct coverage_report *report);
/* Counts, and returns the coverage as in <dart/registration.h>; NULL: out of memory. */
json_t *coverage_report__describe(struct coverage_report *report);

/* The requests about coverage; their subject is the report. */
extern const struct request_type coverage_requests[];

#endif /* COVERAGE_REPORT_H */
