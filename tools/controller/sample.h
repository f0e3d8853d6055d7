/* SPDX-License-Identifier: GPL-2.0-only */
/* The values of one scrape, as the sinks get them. */
#ifndef CONTROLLER_SAMPLE_H
#define CONTROLLER_SAMPLE_H

#include <libdart/table/table.h>

#include "latency.h"

struct sample_entry {
	const struct dart_entry *entry;
	void *copies;		/* dart_entry__size() bytes */
	/*
	 * The copies added up, a number per element of each field in turn, of
	 * counters and histograms; NULL if the copies are rows.
	 */
	uint64_t *sums;
};

/* Times are CLOCK_MONOTONIC of the controller, in ns. */
struct sample {
	uint64_t sequence;	/* from 1, of this agent */
	uint64_t start_ns;	/* the READs were posted */
	uint64_t landed_ns;	/* the last one completed */
	uint64_t end_ns;	/* everything is decoded */
	uint32_t reads;		/* with the one of the header */
	uint64_t bytes;		/* that these fetched */
	const struct dart_table *table;
	struct sample_entry *entries;
	uint32_t entry_count;
	/* The one before, with the same entries; NULL if there is none. */
	const struct sample *previous;
};

/* Elements of a copy: all fields' counts together. */
uint32_t sample__elements(const struct dart_schema *schema);

/* What became of the scrapes of an agent. */
struct summary {
	uint64_t scrapes;	/* values were had */
	uint64_t failed;	/* due, but there was no agent to ask */
	uint64_t missed;	/* due, but the one before had not ended */
	uint64_t reads;		/* of all scrapes */
	uint64_t bytes;
	struct latency landed;	/* from start to landed */
	struct latency decoded;	/* from start to end */
};

#endif /* CONTROLLER_SAMPLE_H */
