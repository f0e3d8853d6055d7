/* SPDX-License-Identifier: GPL-2.0-only */
/* The values of one scrape, for the sinks, and the outcome of all scrapes of a target. */
#ifndef CONTROLLER_SAMPLE_H
#define CONTROLLER_SAMPLE_H

#include <stdbool.h>
#include <stdlib.h>

#include <libdart/table/value.h>

#include "tools/controller/base/latency.h"
#include "tools/controller/base/wall_clock.h"

struct sample_entry {
	const struct dart_entry *entry;
	void *copies; /* dart_entry__size() bytes */
	/*
	 * Sums over the copies, one per element of each field in turn, set for counters and
	 * histograms only; NULL if the copies are rows, if the entry consists of one copy, or if
	 * samples are not compared.
	 */
	uint64_t *sums;
};

/* Facts known when a scrape lands. Times are CLOCK_MONOTONIC of the controller, in ns. */
struct sample_head {
	uint64_t sequence; /* number of this scrape of the target, from 1 */
	uint64_t start_ns; /* when the controller asked for the values */
	uint64_t landed_ns; /* when the last byte landed */
	int64_t time_ns; /* CLOCK_REALTIME of the controller at start_ns */
	/*
	 * CLOCK_REALTIME of the host less @time_ns, if neither clock was set since the
	 * handshake, give or take the uncertainty; with an uncertainty of 0 the host did not
	 * announce its time, and the offset is 0.
	 */
	int64_t clock_offset_ns;
	uint64_t clock_uncertainty_ns;
	/* READs including the header's, unless added entries need none; for a call, requests */
	uint32_t reads;
	uint64_t bytes; /* bytes of these READs */
	uint64_t failed; /* scrapes of this target so far */
	uint64_t missed;
	/* If no other scrape lands until then, the target is lost; 0 in a replay: never. */
	uint64_t fresh_until_ns;
};

/*
 * Notes the times of both clocks at start_ns.  *@wall_ns is CLOCK_REALTIME - CLOCK_MONOTONIC of the
 * controller in the sample before, 0 in the first; it stays unless the clock was set, so that
 * times of samples differ as their starts do.  @host_ns is CLOCK_REALTIME of the host -
 * CLOCK_MONOTONIC of the controller, give or take @uncertainty_ns; 0: the host did not tell.
 */
static inline void sample_head__date(struct sample_head *head, int64_t *wall_ns, int64_t host_ns,
			      uint64_t uncertainty_ns)
{
	const int64_t now_ns = wall_clock__offset_ns();

	if (llabs(now_ns - *wall_ns) > WALL_CLOCK_NOISE_NS)
		*wall_ns = now_ns;
	head->time_ns = (int64_t)head->start_ns + *wall_ns;
	head->clock_uncertainty_ns = uncertainty_ns;
	head->clock_offset_ns = 0;
	/* Without overflow, whatever the host told. */
	if (uncertainty_ns)
		head->clock_offset_ns =
			(uint64_t)host_ns + head->start_ns - (uint64_t)head->time_ns;
}

/* The clocks of the host as its samples show them: see host_clock.h. Times are in ns. */
struct sample_clock {
	int64_t boot_ns; /* CLOCK_BOOTTIME of the host at start_ns */
	int64_t offset_ns; /* CLOCK_REALTIME of the host - that of the controller */
	uint64_t uncertainty_ns; /* of both; 0: unknown, the clocks may agree */
	bool is_off; /* the offset exceeds the bound of the settings */
};

struct sample {
	struct sample_head head;
	struct sample_clock clock;
	uint64_t end_ns; /* when the last value was decoded */
	const struct dart_table *table;
	struct sample_entry *entries;
	uint32_t entry_count;
	/*
	 * The entries are the ones alone that were just added, as the mirror told: the sample is of
	 * no scrape, and its number is that of the last scrape.
	 */
	bool is_partial;
	/* The preceding sample, with the same entries; NULL for the first. */
	const struct sample *previous;
};

/* Returns the number of elements in a copy: the sum of all fields' counts. */
static inline uint32_t sample__elements(const struct dart_schema *schema)
{
	uint32_t i, elements = 0;

	for (i = 0; i < schema->field_count; i++)
		elements += schema->fields[i].count;
	return elements;
}

/*
 * Returns the sum of element @index of counter or histogram @field over all copies of an entry
 * without rows; the element is number @number within a copy. Meaningless if the row of a sum is not
 * whole.
 */
static inline uint64_t sample_entry__sum(const struct sample_entry *entry,
					 const struct dart_field *field, uint32_t index,
					 uint32_t number)
{
	return entry->sums ? entry->sums[number] : dart_field__get(field, entry->copies, index);
}

/*
 * Outcome of the scrapes of a target. The thread that owns the target, control loop or I/O thread,
 * writes the first part, and the target's worker the second. Any thread may read it meanwhile.
 */
struct summary {
	count_t scrapes; /* that returned values */
	count_t failed; /* due while the target was unreachable */
	count_t missed; /* due before the previous one ended */
	count_t discarded; /* invalid after a change of the table, and repeated */
	count_t reads; /* in all scrapes */
	count_t bytes;
	count_t updates; /* of the mirror, that ended */
	count_t parts; /* READs of entries alone that were just added */
	count_t dropped; /* scrapes that their worker was too slow to take */
	struct latency landed; /* time from start to landing */
	/*
	 * Of the control loop: tables taken from the mirror, and looks after which one had to be
	 * READ.
	 */
	count_t told;
	count_t gaps;

	count_t unwritten; /* scrapes that the output was too slow to take */
	struct latency decoded; /* time from start to the last decoded value */
};

#endif /* CONTROLLER_SAMPLE_H */
