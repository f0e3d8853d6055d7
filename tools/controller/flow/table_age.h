/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a fetched table may be used.  The agent keeps a range that has left the
 * table readable for a lease: values are valid if their READs have ended within a
 * lease of the last moment at which the table was known to be current.  So a table
 * that changes all the time delays no scrape; it is fetched again now and then.
 */
#ifndef CONTROLLER_TABLE_AGE_H
#define CONTROLLER_TABLE_AGE_H

#include <stdbool.h>
#include <stdint.h>

/* Between two fetches, however often the table changes; less if the lease is short. */
#define TABLE_INTERVAL_NS 500000000ULL
/* An agent without a lease is asked no more often than this. */
#define TABLE_INTERVAL_MIN_NS 1000000ULL

/* Times are CLOCK_MONOTONIC of the controller, in ns. */
struct table_age {
	uint64_t lease_ns;
	uint64_t fetched_ns; /* the last READ of a table was posted */
	uint64_t current_ns; /* this generation was current then, or later */
	bool changed; /* a later generation has been seen */
};

/* The table was whole, or its header the same, in a READ posted at @posted_ns. */
static inline void table_age__renew(struct table_age *age, uint64_t posted_ns)
{
	age->current_ns = posted_ns;
	age->changed = false;
}

/* The agent does not have the values of this table any more: they need another one. */
static inline void table_age__expire(struct table_age *age)
{
	age->current_ns = 0;
	age->changed = true;
}

/* Was every range of the table readable until @landed_ns? */
static inline bool table_age__covers(const struct table_age *age, uint64_t landed_ns)
{
	return landed_ns - age->current_ns < age->lease_ns;
}

/* May READs of values begin at @now_ns?  They have half of the lease to end. */
static inline bool table_age__permits(const struct table_age *age, uint64_t now_ns)
{
	/* However long the lease is, and however short this machine has run. */
	return age->current_ns && now_ns - age->current_ns < age->lease_ns / 2;
}

/* When to fetch a table that has changed; before @now_ns: at once. */
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
