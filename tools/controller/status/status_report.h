/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a controller as a JSON object, printed in pieces, so that a controller of thousands
 * of targets continues to scrape meanwhile:
 *
 *   {"targets": [{"agent": "host:4792", "state": "up", ...}, ...],
 *    "sources": [{"source": "agents.json", ...}, ...],
 *    "outputs": [{"output": "remote_write", "to": "http://host:9090/api/v1/write", ...}, ...],
 *    "controller": {...}}
 *
 * Targets that come or go between two pieces may be missing.
 */
#ifndef CONTROLLER_STATUS_REPORT_H
#define CONTROLLER_STATUS_REPORT_H

#include <stdio.h>

#include "tools/controller/fleet/fleet.h"

struct status_totals {
	uint64_t up, standby, down, finished; /* numbers of targets */
	uint64_t scrapes, failed, missed, discarded, dropped, reads, bytes;
};

/*
 * The user sets the first three members, and may set the next; all others are zero before the first
 * piece.
 */
struct status_report {
	struct target_context *context;
	const struct output *output;
	uint64_t started_ns; /* start of the controller, CLOCK_MONOTONIC */

	bool is_of_shard; /* prints {"shard": {...}} alone; null without a shard */
	size_t next; /* index of the next target */
	size_t printed; /* targets printed so far */
	struct status_totals totals;
	bool has_ended;
};

/* Prints the next piece in ASCII.  Returns false after the last one. */
bool status_report__print(struct status_report *report, FILE *out);

#endif /* CONTROLLER_STATUS_REPORT_H */
