/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A store that is filled and asked as in section 5 of the DART paper: by the code
 * that addresses, checks and decides in earnest, without a network.
 */
#ifndef BENCH_SIMULATION_H
#define BENCH_SIMULATION_H

#include <libdart/store/store_query.h>

struct simulation;

/* How queries have ended. */
struct simulation_tally {
	uint64_t right;
	uint64_t empty;
	uint64_t ambiguous;
	uint64_t wrong;
};

/* Ends the program if memory is short. */
struct simulation *simulation__new(const struct dart_store_geometry *geometry);
void simulation__free(struct simulation *simulation);

/* Reports flows until there have been @flows of them. */
void simulation__report(struct simulation *simulation, uint64_t flows);
/* Asks for flows @first to @end - 1. */
struct simulation_tally simulation__ask(struct simulation *simulation,
					uint64_t first, uint64_t end);

/* What part of the queries ended so. */
double simulation_tally__right(const struct simulation_tally *tally);
double simulation_tally__wrong(const struct simulation_tally *tally);

/* Says on stderr how far it is, at most some times a second. */
__attribute__((format(printf, 1, 2)))
void simulation__progress(const char *format, ...);

#endif /* BENCH_SIMULATION_H */
