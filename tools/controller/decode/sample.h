/* SPDX-License-Identifier: GPL-2.0-only */
/* The values of one scrape, for the sinks, and the outcome of all of a target. */
#ifndef CONTROLLER_SAMPLE_H
#define CONTROLLER_SAMPLE_H

#include <libdart/table/value.h>

#include "tools/controller/base/latency.h"

struct sample_entry {
	const struct dart_entry *entry;
	void *copies; /* dart_entry__size() bytes */
	/*
	 * Sums over the copies, one per element of each field in turn, set for
	 * counters and histograms only; NULL if the copies are rows, if there is only one,
	 * or if samples are not compared.
	 */
	uint64_t *sums;
};

/* What is known when a scrape lands.  Times are CLOCK_MONOTONIC of the controller, in ns. */
struct sample_head {
	uint64_t sequence; /* from 1, of this target */
	uint64_t start_ns; /* asked for */
	uint64_t landed_ns; /* the last byte has */
	int64_t time_ns; /* CLOCK_REALTIME of the controller at start_ns */
	/*
	 * CLOCK_REALTIME of the host less @time_ns, if neither clock has been set since the
	 * handshake, give or take the uncertainty; with an uncertainty of 0 the host did not
	 * tell its time, and the offset is 0.
	 */
	int64_t clock_offset_ns;
	uint64_t clock_uncertainty_ns;
	uint32_t reads; /* including that of the header; of a call, requests */
	uint64_t bytes; /* of them */
	uint64_t failed; /* scrapes of this target so far */
	uint64_t missed;
	/* Without another scrape until then, the target is lost; 0: of a replay, never. */
	uint64_t fresh_until_ns;
};

/* The clocks of the host, as its samples tell: see host_clock.h.  Times are in ns. */
struct sample_clock {
	int64_t boot_ns; /* CLOCK_BOOTTIME of the host at start_ns */
	int64_t offset_ns; /* CLOCK_REALTIME of the host - that of the controller */
	uint64_t uncertainty_ns; /* of both; 0: they are not known, the clocks may agree */
	bool is_off; /* the offset is beyond the bound of the settings */
};

struct sample {
	struct sample_head head;
	struct sample_clock clock;
	uint64_t end_ns; /* all values decoded */
	const struct dart_table *table;
	struct sample_entry *entries;
	uint32_t entry_count;
	/* With the same entries; NULL if there is none. */
	const struct sample *previous;
};

/* Elements of a copy: the sum of all fields' counts. */
static inline uint32_t sample__elements(const struct dart_schema *schema)
{
	uint32_t i, elements = 0;

	for (i = 0; i < schema->field_count; i++)
		elements += schema->fields[i].count;
	return elements;
}

/*
 * Element @index of counter or histogram @field over all copies of an entry that has no rows;
 * it is element @number of a copy.  Without a meaning if the row of a sum is not whole.
 */
static inline uint64_t sample_entry__sum(const struct sample_entry *entry,
					 const struct dart_field *field, uint32_t index,
					 uint32_t number)
{
	return entry->sums ? entry->sums[number] : dart_field__get(field, entry->copies, index);
}

/*
 * Outcome of the scrapes of a target.  Who has the target, the control loop or an I/O thread,
 * writes the first part, and its worker the second.  Anybody may look at it meanwhile.
 */
struct summary {
	count_t scrapes; /* with values */
	count_t failed; /* due while the target was unreachable */
	count_t missed; /* due before the previous one ended */
	count_t discarded; /* invalid after a change of the table, and asked for again */
	count_t reads; /* of all scrapes */
	count_t bytes;
	count_t dropped; /* of the scrapes: their worker was behind */
	struct latency landed; /* from start to landed */

	count_t unwritten; /* of the scrapes: the output was behind */
	struct latency decoded; /* from start to end */
};

#endif /* CONTROLLER_SAMPLE_H */
