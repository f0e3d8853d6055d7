/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a controller as a JSON object, a piece at a time, so that a controller of
 * thousands of targets goes on meanwhile:
 *
 *   {"targets": [{"agent": "host:4792", "state": "up", ...}, ...],
 *    "sources": [{"source": "agents.json", ...}, ...],
 *    "outputs": [{"output": "remote_write", "to": "http://host:9090/api/v1/write", ...}, ...],
 *    "controller": {...}}
 *
 * Targets that come and go meanwhile may be left out.
 */
#ifndef CONTROLLER_STATUS_REPORT_H
#define CONTROLLER_STATUS_REPORT_H

#include <stdio.h>

#include "tools/controller/fleet/fleet.h"

struct status_totals {
	uint64_t up, down, finished; /* targets */
	uint64_t scrapes, failed, missed, discarded, dropped, reads, bytes;
};

/* Set by its user; the rest is zero before the first piece. */
struct status_report {
	struct target_context *context;
	const struct output *output;
	uint64_t started_ns; /* the controller, CLOCK_MONOTONIC */

	size_t next; /* index of a target */
	size_t printed; /* targets */
	struct status_totals totals;
	bool has_ended;
};

/* Prints the next piece in ASCII.  False if there is no further one. */
bool status_report__print(struct status_report *report, FILE *out);

#endif /* CONTROLLER_STATUS_REPORT_H */
