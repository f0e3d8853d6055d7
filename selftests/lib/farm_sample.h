/* SPDX-License-Identifier: GPL-2.0-only */
/* One scrape of a host of the farm, as a line of the controller's JSON. */
#ifndef FARM_SAMPLE_H
#define FARM_SAMPLE_H

#include <jansson.h>
#include <stdbool.h>

#include <libdart/error.h>

#include "farm_values.h"

struct farm_sample {
	uint32_t epoch;
	uint64_t sequence;
	uint64_t start_ns, landed_ns;	/* CLOCK_MONOTONIC of the controller */
	uint64_t values;		/* that are right */
	uint64_t rows, torn;		/* all rows, and the torn rows */
	uint64_t update_min, update_max;	/* of the whole rows */
	bool has_extra;
};

/*
 * Is @line a scrape of @host, are all its entries there, and does each value follow the
 * rule for the epoch that the boot ID of the line tells?  A row may be torn, but not each
 * row of a scrape, or of an entry with several rows.  Returns 0, or -EBADMSG and the
 * reason.
 */
int farm_sample__check(struct farm_sample *sample, const json_t *line,
		       const struct farm_shape *shape, uint32_t host, struct dart_error *error);

#endif /* FARM_SAMPLE_H */
