/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A store that is filled and queried as in section 5 of the DART paper, by the same
 * code as real stores, without a network.
 */
#ifndef PAPERS_SIMULATION_H
#define PAPERS_SIMULATION_H

#include <libdart/store/store_query.h>

struct simulation;

/* Outcomes of queries; the others found no value. */
struct simulation_tally {
	uint64_t right;
	uint64_t ambiguous;
	uint64_t wrong;
};

/* The slots of its key that a report fills. */
enum simulation_copies {
	SIMULATION_ALL,
	SIMULATION_FALLING, /* fewer as the store fills, from its redundancy, as dartd says */
	SIMULATION_CLAIMING, /* the first slot, and each other slot that is empty (DART, section 7) */
};

/* Exits the program if out of memory. */
struct simulation *simulation__new(const struct dart_store_geometry *geometry,
				   enum simulation_copies copies);
void simulation__free(struct simulation *simulation);

/* Reports further flows, up to @flows in total. */
void simulation__report(struct simulation *simulation, uint64_t flows);
/* Queries flows @first to @end - 1. */
struct simulation_tally simulation__ask(struct simulation *simulation,
					uint64_t first, uint64_t end);

/* Prints progress to stderr, at most twice a second. */
__attribute__((format(printf, 1, 2))) void simulation__progress(const char *format, ...);

#endif /* PAPERS_SIMULATION_H */
