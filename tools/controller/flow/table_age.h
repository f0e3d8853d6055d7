/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a fetched table may be used.  When a range leaves the table, the agent keeps its
 * memory readable for a lease: values are valid if their READs ended within a lease after the
 * last moment at which the table was known to be current.  So a table that changes all the time
 * delays no scrape: scrapes use an older table, which is replaced at a bounded rate.
 */
#ifndef CONTROLLER_TABLE_AGE_H
#define CONTROLLER_TABLE_AGE_H

#include <stdbool.h>
#include <stdint.h>

/* Shortest time between two fetches of a table that changes often; a quarter of a short lease. */
#define TABLE_INTERVAL_NS 500000000ULL
/* The same for an agent whose lease is zero or very short. */
#define TABLE_INTERVAL_MIN_NS 1000000ULL

/* Times are CLOCK_MONOTONIC of the controller, in ns. */
struct table_age {
	uint64_t lease_ns;
	uint64_t fetched_ns; /* when the table was last requested */
	uint64_t current_ns; /* this generation was current then or later; 0: unknown, or expired */
	bool changed; /* a header showed a later generation, or the agent refused this one */
};

/* A request posted at @posted_ns landed the whole table, or its unchanged header. */
static inline void table_age__renew(struct table_age *age, uint64_t posted_ns)
{
	age->current_ns = posted_ns;
	age->changed = false;
}

/* The agent refused values of this table as too old: values need another table. */
static inline void table_age__expire(struct table_age *age)
{
	age->current_ns = 0;
	age->changed = true;
}

/* True if every range of the table was readable until @landed_ns. */
static inline bool table_age__covers(const struct table_age *age, uint64_t landed_ns)
{
	return landed_ns - age->current_ns < age->lease_ns;
}

/* True if READs of values may begin at @now_ns: at least half of the lease is left for them. */
static inline bool table_age__permits(const struct table_age *age, uint64_t now_ns)
{
	/* A difference, so that neither a long lease nor a recent boot overflows. */
	return age->current_ns && now_ns - age->current_ns < age->lease_ns / 2;
}

/* When a changed table may be fetched again; a time in the past means at once. */
static inline uint64_t table_age__due(const struct table_age *age)
{
	uint64_t interval_ns = age->lease_ns / 4;

	if (interval_ns > TABLE_INTERVAL_NS)
		interval_ns = TABLE_INTERVAL_NS;
	if (interval_ns < TABLE_INTERVAL_MIN_NS)
		interval_ns = TABLE_INTERVAL_MIN_NS;
	return age->fetched_ns + interval_ns;
}

#endif /* CONTROLLER_TABLE_AGE_H */
